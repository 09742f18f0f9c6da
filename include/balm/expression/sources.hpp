#pragma once
// Expressions without a vector: positions, and host values as arguments or as constants of the kernel.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "balm/expression/assigned.hpp"
#include "balm/shape.hpp"

namespace balm {

namespace detail {

/// The number of positions from `offset` on. Throws usage_error if the last one exceeds an i64.
std::int64_t checked_positions(std::int64_t offset, const shape&);

}  // namespace detail

/// The position of each element, plus an offset: 0, 1, 2, …
inline expr<std::int64_t> element_index(std::int64_t offset = 0) {
    array::tape list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    return expr<std::int64_t>(std::move(list));
}
/// The same, with the number of elements, for expressions in which no vector determines it. Throws
/// usage_error if a position exceeds std::int64_t.
inline expr<std::int64_t> element_index(std::int64_t offset, std::size_t size) {
    array::tape list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    list.size = detail::checked_positions(offset, shape(size));
    list.steps.back().leaf = size == 1;
    return expr<std::int64_t>(std::move(list));
}

/// A value that is compiled into the kernel: each new value compiles a new kernel. A plain scalar is an
/// argument; changing it never recompiles.
template <scalar_type T>
expr<canonical<T>> constant(T value) {
    array::tape list;
    list.push_value(array::step::kind::constant, scalar_of<T>,
                    dsl::detail::bits_of(static_cast<canonical<T>>(value)));
    return expr<canonical<T>>(std::move(list));
}

/// A short vector or complex number that is compiled into the kernel.
template <class T>
requires vector_type<T> || complex_type<T>
auto constant(const T& value) {
    using element = typename detail::array_element<T>::type;
    if constexpr (vector_type<T>) return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return detail::recorded<detail::compose_operation<element>>(
                constant(value[static_cast<int>(K)])...);
        }
    (std::make_index_sequence<T::size()>{});
    else return detail::recorded<detail::compose_operation<element>>(constant(value.real()),
                                                                     constant(value.imag()));
}

/// A host value (a number, a short vector, a complex number or a structure) as an expression: an argument of
/// the kernel that keeps its own type. A plain number takes the type of the elements beside it; this one
/// converts as the elements of an expression do. It does not determine the number of elements.
///
///     balm::vector<float> x(ctx, n);
///     balm::vector<double> y = x * balm::argument(0.1);  // double precision; x * 0.1 is computed in float
template <class T>
requires element_type<T> || complex_type<T>
auto argument(const T& value) {
    using element = typename detail::array_element<T>::type;
    array::tape_handle list;
    detail::append_host<element>(*list, value);
    return expr<element>(std::move(list));
}

}  // namespace balm

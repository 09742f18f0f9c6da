#pragma once
// Loads and stores of vectors in memory of scalars: OpenCL C's vloadN and vstoreN. No alignment is required.
//
//     Float3 p = vload<3>(coordinates, i);  // elements 3 i, 3 i + 1, 3 i + 2
//     vstore(p * 2.f, coordinates, i);

#include <type_traits>
#include <utility>

#include "balm/dsl/lanes.hpp"
#include "balm/dsl/memory.hpp"

namespace balm::dsl {

namespace detail {

/// Memory, a pointer or an array: anything with an index operator.
template <class M>
concept indexed = requires(const M& memory, const located_index& i) {
    memory[i];
};

/// The element at an index.
template <indexed M>
auto element_at(const M& memory, const located_index& i) {
    using element = std::remove_cvref_t<decltype(memory[i])>;
    static_assert(device_value<element>, "Balm: vload and vstore take memory of scalars");
    static_assert(balm::detail::lanes_of<typename value_type<element>::type> == 1,
                  "Balm: vload and vstore take memory of scalars; memory of vectors is indexed: v[i]");
    if constexpr (is_element<element>)
        return memory[i];
    else
        return memory.data()[i];
}

}  // namespace detail

/// The N scalars from element i * N on, as a vector. `memory` is an In, InOut or Local, a pointer, an array
/// or constants. Elements of type half are loaded as Float. Vectors that begin elsewhere are loaded through a
/// pointer: `vload<4>(x.data() + first, 0)`.
template <int N, detail::indexed M>
auto vload(const M& memory, located_index i) {
    static_assert(N == 2 || N == 3 || N == 4 || N == 8 || N == 16,
                  "Balm: a vector has 2, 3, 4, 8 or 16 lanes");
    auto&& first = detail::element_at(memory, i);
    using T = typename std::remove_cvref_t<decltype(first)>::value_type;
    return Var<vec<T, N>>(std::move(first).load_vector(N));
}

/// Writes the lanes of v to the elements from i * N on, where N is the number of lanes of v.
template <detail::vector_operand V, detail::indexed M>
void vstore(V&& v, const M& memory, located_index i) {
    auto&& first = detail::element_at(memory, i);
    constexpr scalar element = scalar_of<typename std::remove_cvref_t<decltype(first)>::value_type>;
    static_assert(kind_of(detail::strong_scalar<V>()) <= kind_of(element), BALM_NARROWS);
    std::move(first).store_vector(trace::convert(detail::as_vector(static_cast<V&&>(v)).node(), element));
}

}  // namespace balm::dsl

#pragma once
// Reductions along some dimensions of a view or expression: the others remain, and the result is an
// expression.
//
//     auto M = balm::view(x, {rows, columns});
//     means = balm::sum(M, balm::along(1)) / columns;  // of each row
//     most = balm::max(abs(M), balm::along(0));        // of each column

#include <array>
#include <concepts>
#include <cstdint>
#include <utility>

#include "balm/reduce.hpp"

namespace balm {

namespace array {

/// Some of the dimensions of a box, in any order.
struct dimension_list {
    std::array<std::int64_t, shape::max_dimensions> each{};
    int count = 0;
};

/// The reduction as a leaf of expressions, whose extents are the dimensions that are left. Of arg_min and
/// arg_max it has the positions.
tape reduced_along(tape&& of, const reduction&, const dimension_list&);

}  // namespace array

/// The dimensions along which a reduction runs, counted from 0.
///
///     total = balm::sum(T, balm::along(0, 2));  // of a view of three dimensions: one remains
template <std::integral... D>
constexpr array::dimension_list along(D... dimension) {
    static_assert(sizeof...(D) >= 1 && sizeof...(D) <= shape::max_dimensions,
                  "Balm: a reduction runs along one to eight dimensions");
    return {{static_cast<std::int64_t>(dimension)...}, sizeof...(D)};
}

namespace detail {

/// What remains of a reduction's result in an expression.
template <class R>
struct element_along {
    using type = R;
};
template <class T>
struct element_along<extreme<T>> {
    using type = std::int64_t;
};

template <class R>
auto reduced(lazy_reduction<R>&& what, const array::dimension_list& over) {
    const array::reduction how = what.how();
    return expr<typename element_along<R>::type>(array::reduced_along(std::move(what).tape(), how, over));
}

}  // namespace detail

/// Defines name(a, along(…)).
#define BALM_ALONG(name)                                              \
    template <array_value A>                                          \
    auto name(A&& a, const array::dimension_list& over) {             \
        return detail::reduced(name##_of(static_cast<A&&>(a)), over); \
    }

/// The sums along dimensions, as an expression of the extents that are left (one element, where none is). Its
/// elements have the type that `sum` has; 0, where the dimensions have no elements. It is computed as a whole
/// before the expression that it is part of, on the same device. With vectors over several devices the first
/// one computes it. Throws usage_error for dimensions that are not there, or given twice.
///
///     auto M = balm::view(x, {rows, columns});
///     y = balm::sum(M * M, balm::along(1));
///     auto means = balm::view(balm::sum(M, balm::along(0)) / rows, {1, columns});
///     M -= means.broadcast({rows, columns});
BALM_ALONG(sum)
/// The same for sum_compensated.
BALM_ALONG(sum_compensated)
/// The same for products; 1 of no elements.
BALM_ALONG(product)
/// The smallest elements along dimensions; NaNs are passed over. Throws usage_error where the dimensions have
/// no elements.
BALM_ALONG(min)
/// The same for the largest.
BALM_ALONG(max)
/// Where the smallest elements stand (i64), counted in row-major order of the dimensions along which they are
/// looked for; the lowest of several. NaNs are passed over; where there is nothing else it is 0. Throws
/// usage_error where the dimensions have no elements.
///
///     nearest = balm::arg_min(distances, balm::along(1));  // the column, for each row
BALM_ALONG(arg_min)
/// The same for the largest.
BALM_ALONG(arg_max)
/// How many elements along dimensions are true (i64).
BALM_ALONG(count)
/// Whether one of the elements along dimensions is true.
BALM_ALONG(any)
#undef BALM_ALONG

/// What balm::all(a, along(…)) calls.
template <array_value A>
auto every(A&& a, const array::dimension_list& over) {
    return detail::reduced(all_of(static_cast<A&&>(a)), over);
}

/// The elements along dimensions combined by a function; see fold(a, identity, function).
template <array_value A, scalar_type I, class R, class P, class Q>
auto fold(A&& a, I identity, const device_function<R, P, Q>& function, const array::dimension_list& over) {
    return detail::reduced(fold_of(static_cast<A&&>(a), identity, function), over);
}

}  // namespace balm

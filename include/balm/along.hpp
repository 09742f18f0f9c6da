#pragma once
// Reductions along some dimensions of a view or expression. The result is an expression over the remaining
// dimensions.
//
//     auto M = balm::view(x, {rows, columns});
//     means = balm::sum(M, balm::along(1)) / columns;  // of each row
//     most = balm::max(abs(M), balm::along(0));        // of each column

#include <array>
#include <concepts>
#include <cstddef>
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

/// A box as three dimensions, of which an algorithm runs along the second.
struct three_dimensions {
    std::size_t outer = 1, rows = 1, inner = 1;
};
/// Throws usage_error if `over` is not one dimension of the expression; `runner`, such as "a scan", is the
/// subject of the message.
three_dimensions along_one(const char* runner, const tape&, const dimension_list& over);

/// The reduction as a leaf of expressions, with the extents of the remaining dimensions. For arg_min and
/// arg_max its elements are the positions.
tape reduced_along(tape&& of, const reduction&, const dimension_list&);

/// The extents of the elements with 1 for the dimensions that are reduced, to broadcast results from. Throws
/// usage_error for a dimension that does not exist or is named twice, and for extents without elements to
/// reduce unless there are more than `lost` for each result.
shape with_ones(const shape& extents, const dimension_list&, std::size_t lost = 0);

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

/// The element type of a reduction along dimensions.
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

/// The sums along dimensions, as an expression with the remaining extents (one element if none remains). The
/// elements have the type of `sum`; a sum of no elements is 0. The sums are materialised before the
/// expression that contains them, on the same device; for vectors over several devices, on the first one.
/// Throws usage_error for a dimension that does not exist or is named twice.
///
///     auto M = balm::view(x, {rows, columns});
///     y = balm::sum(M * M, balm::along(1));
///     auto means = balm::view(balm::sum(M, balm::along(0)) / rows, {1, columns});
///     M -= means.broadcast({rows, columns});
BALM_ALONG(sum)
/// The same for sum_compensated.
BALM_ALONG(sum_compensated)
/// The same for products; a product of no elements is 1.
BALM_ALONG(product)
/// The smallest elements along dimensions; NaNs are ignored. Throws usage_error if the dimensions have no
/// elements.
BALM_ALONG(min)
/// The same for the largest.
BALM_ALONG(max)
/// The positions (i64) of the smallest elements, counted in row-major order over the reduced dimensions; of
/// several, the lowest. NaNs are ignored; if all elements are NaN, the position is 0. Throws usage_error if
/// the dimensions have no elements.
///
///     nearest = balm::arg_min(distances, balm::along(1));  // the column, for each row
BALM_ALONG(arg_min)
/// The same for the largest.
BALM_ALONG(arg_max)
/// The number of true elements along dimensions (i64).
BALM_ALONG(count)
/// Whether any element along dimensions is true.
BALM_ALONG(any)
#undef BALM_ALONG

/// Implements balm::all(a, along(…)).
template <array_value A>
auto every(A&& a, const array::dimension_list& over) {
    return detail::reduced(all_of(static_cast<A&&>(a)), over);
}

/// Combines the elements along dimensions by a function; see fold(a, identity, function).
template <array_value A, detail::fold_identity I, class R, class P, class Q>
auto fold(A&& a, const I& identity, const device_function<R, P, Q>& function,
          const array::dimension_list& over) {
    return detail::reduced(fold_of(static_cast<A&&>(a), identity, function), over);
}

}  // namespace balm

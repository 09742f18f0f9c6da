#pragma once
// Medians and other quantiles, of all elements or of the rows of a view.
//
//     double middle = balm::median(x);
//     auto [low, high] = balm::quantiles(x, 0.05, 0.95);
//     rows = balm::median(M, balm::along(1));

#include <array>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include "balm/sort.hpp"
#include "balm/statistics.hpp"
#include "balm/top_k.hpp"

namespace balm {

namespace array {

/// The place of a quantile among elements in order: `part` of the way from element `below` to the next one.
struct quantile_place {
    std::size_t below = 0;
    double part = 0;
};
/// Throws usage_error unless q is from 0 to 1, and for no elements.
quantile_place place_of_quantile(double q, std::size_t count);
/// The extents without the last dimension; if there is only one, one element.
shape without_last(const shape& extents);

}  // namespace array

namespace detail {

template <class A>
concept ordered_array = array_value<A> &&(are_scalars<A>());

/// The number between two neighbours in order.
template <class T>
T interpolated(T below, T above, double part) {
    if (below == above) return below;
    return below * static_cast<T>(1 - part) + above * static_cast<T>(part);
}

}  // namespace detail

/// The quantiles of all elements: for each q from 0 to 1, the number that this share of the elements does not
/// exceed. Between two elements it is interpolated linearly: the quantile is at the place q · (n - 1) in
/// sorted order, as in NumPy. Of integers and booleans in double. NaNs are larger than all numbers. Returns a
/// std::array. Sorts a copy of the elements. Throws usage_error for no elements and for other q. Blocks.
///
///     const auto [low, middle, high] = balm::quantiles(x, 0.25, 0.5, 0.75);
template <detail::ordered_array X, std::convertible_to<double>... Q>
requires(sizeof...(Q) > 0) [[nodiscard]] auto quantiles(const X& x, Q... q) {
    using T = detail::mean_type<X>;
    const vector<detail::element_of<X>> elements = detail::as_one_vector(expr<detail::element_of<X>>(x));
    const array::quantile_place places[] = {
        array::place_of_quantile(static_cast<double>(q), elements.size())...};
    const vector<detail::element_of<X>> in_order(sorted(elements));
    std::array<T, sizeof...(Q)> found{};
    for (std::size_t k = 0; k < found.size(); ++k) {
        const auto [below, part] = places[k];
        const auto least = static_cast<T>(in_order[below]);
        found[k] = part == 0 ? least : detail::interpolated(least, static_cast<T>(in_order[below + 1]), part);
    }
    return found;
}
/// One of them, by two radix selections.
///
///     double limit = balm::quantile(latencies, 0.99);
template <detail::ordered_array X>
[[nodiscard]] auto quantile(const X& x, double q) {
    using T = detail::mean_type<X>;
    const vector<detail::element_of<X>> elements = detail::as_one_vector(expr<detail::element_of<X>>(x));
    const auto [below, part] = array::place_of_quantile(q, elements.size());
    const auto least = static_cast<T>(nth_element(elements, below));
    return part == 0 ? least
                     : detail::interpolated(least, static_cast<T>(nth_element(elements, below + 1)), part);
}
/// The quantile of 1 / 2: the middle element in order, or the mean of the middle two.
///
///     double typical = balm::median(latencies);
template <detail::ordered_array X>
[[nodiscard]] auto median(const X& x) {
    return quantile(x, 0.5);
}

/// The quantiles of each row of a view, as an expression with the remaining extents. `over` names the last
/// dimension, as for sorted. Throws usage_error for other dimensions, for rows without elements, and unless q
/// is from 0 to 1.
///
///     limits = balm::quantile(M, 0.99, balm::along(1));
template <detail::ordered_array X>
auto quantile(const X& x, double q, const array::dimension_list& over) {
    using T = detail::mean_type<X>;
    const shape extents = expr<detail::element_of<X>>(x).extents();
    const auto in_order = sorted(x, over);
    const auto length = static_cast<std::int64_t>(extents[extents.dimensions() - 1]);
    const auto [below, part] = array::place_of_quantile(q, static_cast<std::size_t>(length));
    const shape rows = array::without_last(extents);
    const auto element = [&](std::size_t k) {
        return cast<T>(view(view(in_order, {rows.count(), static_cast<std::size_t>(length)})(
                                all, static_cast<std::int64_t>(k)),
                            rows));
    };
    const auto least = element(below);
    if (part == 0) return expr<T>(least);
    const auto next = element(below + 1);
    return expr<T>(
        select(least == next, least, least * static_cast<T>(1 - part) + next * static_cast<T>(part)));
}
/// The same for medians.
///
///     middles = balm::median(M, balm::along(1));
template <detail::ordered_array X>
auto median(const X& x, const array::dimension_list& over) {
    return quantile(x, 0.5, over);
}

}  // namespace balm

#pragma once
// Tensor contractions of slices.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <balm/contract.hpp>

#include "vexcl/vector_view.hpp"

namespace vex {

/// Pairs of axes to contract: axes_pairs(1, 0, 2, 3) pairs axis 1 of the first operand with axis 0 of the
/// second, and axis 2 with axis 3.
template <class... Axis>
std::array<std::array<std::size_t, 2>, sizeof...(Axis) / 2> axes_pairs(Axis... axes) {
    static_assert(sizeof...(Axis) % 2 == 0, "vex::axes_pairs: the number of axes must be even");
    const std::size_t each[] = {static_cast<std::size_t>(axes)...};
    std::array<std::array<std::size_t, 2>, sizeof...(Axis) / 2> pairs;
    for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k] = {each[2 * k], each[2 * k + 1]};
    return pairs;
}

namespace detail {

/// The subscripts for balm::einsum, such as "ab,Ab->aA": a letter for each axis, the same one for both axes
/// of a pair; the result has the other axes.
template <std::size_t Pairs>
std::string contraction(std::size_t first_axes, std::size_t second_axes,
                        const std::array<std::array<std::size_t, 2>, Pairs>& common) {
    std::string first, second, result;
    for (std::size_t d = 0; d < first_axes; ++d) first += static_cast<char>('a' + d);
    for (std::size_t d = 0; d < second_axes; ++d) second += static_cast<char>('A' + d);
    for (const auto& pair : common) {
        precondition(pair[0] < first_axes && pair[1] < second_axes,
                     "vex::tensordot: an axis is out of range");
        second[pair[1]] = first[pair[0]];
    }
    const auto is_common = [&](char axis) {
        return first.find(axis) != std::string::npos && second.find(axis) != std::string::npos;
    };
    for (const char axis : first + second)
        if (!is_common(axis)) result += axis;
    return first + "," + second + "->" + result;
}

}  // namespace detail

/// Contracts two slices over pairs of axes. The result has the remaining axes of the first operand, then
/// those of the second. It is materialised before the expression that contains it.
///
///     C = vex::tensordot(of_a[vex::_](A), of_b[vex::_](B), vex::axes_pairs(1, 0));  // a matrix product
template <class A, class B, std::size_t Pairs>
decltype(auto) tensordot(const vector_view<A>& a, const vector_view<B>& b,
                         const std::array<std::array<std::size_t, 2>, Pairs>& common) {
    const auto axes = [](const auto& view) { return static_cast<std::size_t>(view.extents().dimensions()); };
    const std::string subscripts = detail::contraction(axes(a.balm_view()), axes(b.balm_view()), common);
    return detail::wrap(balm::einsum(subscripts, a.balm_view(), b.balm_view()), detail::queues_of(a, b));
}

}  // namespace vex

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

/// Pairs of axes: axes_pairs(1, 0, 2, 3) has axis 1 of the first operand with axis 0 of the second, and 2
/// with 3.
template <class... Axis>
std::array<std::array<std::size_t, 2>, sizeof...(Axis) / 2> axes_pairs(Axis... axes) {
    static_assert(sizeof...(Axis) % 2 == 0, "axes are pairs");
    const std::size_t each[] = {static_cast<std::size_t>(axes)...};
    std::array<std::array<std::size_t, 2>, sizeof...(Axis) / 2> pairs;
    for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k] = {each[2 * k], each[2 * k + 1]};
    return pairs;
}

namespace detail {

/// "ab,cb->ac": a letter for each axis, the same one for both of a pair; the others are those of the result.
template <std::size_t Pairs>
std::string contraction(std::size_t first_axes, std::size_t second_axes,
                        const std::array<std::array<std::size_t, 2>, Pairs>& common) {
    std::string first, second, result;
    for (std::size_t d = 0; d < first_axes; ++d) first += static_cast<char>('a' + d);
    for (std::size_t d = 0; d < second_axes; ++d) second += static_cast<char>('A' + d);
    for (const auto& pair : common) {
        precondition(pair[0] < first_axes && pair[1] < second_axes, "tensordot: an operand has no such axis");
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

/// The sums over pairs of axes of the products of two slices, with the other axes of the first one, then
/// those of the second: an expression, computed as a whole before the expression that it is part of.
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

#pragma once
// Maps the coordinates of a box to positions, by an offset and strides: the result of slices, transposes,
// reshapes and broadcasts.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "balm/shape.hpp"

namespace balm::array {

/// The element at coordinates c of the box is at position offset + c[0] * strides[0] + c[1] * strides[1] + …
struct affine_map {
    shape box;
    std::array<std::int64_t, shape::max_dimensions> strides{};
    std::int64_t offset = 0;

    friend bool operator==(const affine_map&, const affine_map&) = default;
};

/// The part of a dimension that a view selects: all positions, forwards or reversed, a range, or one of them.
struct slice_part {
    enum class kind : std::uint8_t { all, reversed, range, one };
    kind what = kind::all;
    std::int64_t begin = 0;   ///< of a range, or the one position
    std::int64_t end = 0;     ///< of a range, exclusive
    std::int64_t stride = 1;  ///< of a range
};

/// The elements of a box in row-major order.
affine_map row_major(const shape& box);
/// The elements at an offset and strides, among `count` elements (nullopt: any number). Throws usage_error if
/// the number of strides is not the number of dimensions, and for positions that are out of range.
affine_map strided(const shape& box, const strides&, std::int64_t offset, std::optional<std::size_t> count);
/// One part for each dimension; single positions drop their dimension. Throws usage_error if the number of
/// parts is not the number of dimensions, and for positions that are out of range.
affine_map sliced(const affine_map&, std::span<const slice_part>);
/// Dimension d of the result is dimension order[d]. Throws usage_error if the order is not a permutation.
affine_map transposed(const affine_map&, std::span<const int> order);
/// Repeats dimensions of size 1, and missing leading dimensions. Throws usage_error if another size would
/// have to change.
affine_map broadcast(const affine_map&, const shape& box);
/// The same elements in row-major order, in a box of another shape with the same element count; nullopt if no
/// strides express it.
std::optional<affine_map> reshaped(const affine_map&, const shape& box);

}  // namespace balm::array

#pragma once
// Where the elements of a box lie in a row: what a slice, a transpose, a reshape or a broadcast is made of.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "balm/shape.hpp"

namespace balm::array {

/// The element at coordinates c of the box lies at offset + c[0] * strides[0] + c[1] * strides[1] + …
struct affine_map {
    shape box;
    std::array<std::int64_t, shape::max_dimensions> strides{};
    std::int64_t offset = 0;

    friend bool operator==(const affine_map&, const affine_map&) = default;
};

/// What a view takes of one dimension: a range of its positions, or one of them.
struct slice_part {
    enum class kind : std::uint8_t { all, reversed, range, one };
    kind what = kind::all;
    std::int64_t begin = 0;   ///< of a range; or the one
    std::int64_t end = 0;     ///< of a range: not among its positions
    std::int64_t stride = 1;  ///< of a range
};

/// The elements of a box in row-major order.
affine_map row_major(const shape& box);
/// Those that strides apart lie, of so many elements (none: of any number). Throws usage_error for another
/// number of strides than dimensions, and for positions that are not among them.
affine_map strided(const shape& box, const strides&, std::int64_t offset, std::optional<std::size_t> count);
/// A part for each dimension; those of one position are left out of the box. Throws usage_error for another
/// number of parts, and for positions beyond the box.
affine_map sliced(const affine_map&, std::span<const slice_part>);
/// Dimension d of the result is dimension order[d]. Throws usage_error where the order is no permutation.
affine_map transposed(const affine_map&, std::span<const int> order);
/// Dimensions of size 1, and those that are missing in front, are repeated. Throws usage_error where another
/// size would have to change.
affine_map broadcast(const affine_map&, const shape& box);
/// The same elements, in row-major order, as those of another box of as many; nothing where no strides say
/// so.
std::optional<affine_map> reshaped(const affine_map&, const shape& box);

}  // namespace balm::array

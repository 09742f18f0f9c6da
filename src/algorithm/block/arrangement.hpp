#pragma once
// Which elements of a tile a work-item has. All work-items of the group have the same number of elements.

#include <cstdint>

#include "algorithm/block/group.hpp"

namespace balm::block {

enum class arrangement : std::uint8_t {
    blocked,           ///< contiguous elements
    striped,           ///< elements with a stride of the group's size
    sub_group_striped  ///< each sub-group has contiguous elements, striped among its lanes
};

/// Positions in the tile of a work-item's elements: first, first + stride, …
struct positions {
    Int first, stride;
    /// `each`: elements per work-item.
    positions(const group&, arrangement, int each);
    Int operator[](int k) const { return first + k * stride; }
};

}  // namespace balm::block

#pragma once
// Which elements of a tile a work-item has. A tile has as many elements for each work-item of the group.

#include <cstdint>

#include "algorithm/block/group.hpp"

namespace balm::block {

enum class arrangement : std::uint8_t {
    blocked,           ///< neighbouring elements
    striped,           ///< elements that are as far apart as the group has work-items
    sub_group_striped  ///< each sub-group has neighbouring elements, striped among its lanes
};

/// Positions in the tile of a work-item's elements: first, first + stride, …
struct positions {
    Int first, stride;
    /// `each`: elements of a work-item.
    positions(const group&, arrangement, int each);
    Int operator[](int k) const { return first + k * stride; }
};

}  // namespace balm::block

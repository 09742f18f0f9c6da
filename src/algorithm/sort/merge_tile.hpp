#pragma once
// Tiles that a group of a GPU merges in local memory.

#include <algorithm>
#include <bit>
#include <cstddef>

namespace balm::array {

struct merge_tile {
    std::size_t group = 1;  ///< work-items
    int each = 1;           ///< elements of a work-item

    std::size_t size() const { return group * static_cast<std::size_t>(each); }
};

/// Local memory of a tile, and how many elements a work-item has of it at most. Not measured: 24 KB let a
/// compute unit of 228 KB have nine groups. Shares are odd, so that neighbours do not meet in a bank.
inline merge_tile merge_tile_of(std::size_t bytes_of_element, std::size_t most_work_items) {
    constexpr std::size_t tile_bytes = 24 << 10, group_items = 256, least_group_items = 32, most_of_item = 15;
    merge_tile tile;
    tile.group = std::min(group_items, std::bit_floor(most_work_items));
    while (tile.group > least_group_items && tile.group * bytes_of_element > tile_bytes) tile.group /= 2;
    const std::size_t each =
        std::clamp<std::size_t>(tile_bytes / (tile.group * bytes_of_element), 1, most_of_item);
    tile.each = static_cast<int>(each % 2 == 0 ? each - 1 : each);
    return tile;
}

}  // namespace balm::array

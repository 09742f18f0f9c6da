#pragma once
// Tiles that a group of a GPU merges in local memory.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace balm::array {

/// What tiles are tuned by. Shares are odd, so that neighbours do not meet in a bank of local memory.
///
/// A pass over 2^28 u32 reads and writes 2 GiB: 0.49 ms of 4.4 TB/s (H200). Tiles of 256 x 15 elements need
/// 17 passes behind the sorted tiles, as many as of 256 x 16.9; 256 x 17, as CUB has them, 16; and tiles that
/// 512 work-items sort, of 512 x 17, leave 15: one level more in local memory instead of a pass. Longer
/// shares also mean fewer binary searches, which take about as long as the merge of a share of 17. 24 KB let
/// a compute unit of 228 KB have nine groups.
struct merge_tuning {
    std::size_t bytes = 24 << 10;          ///< of a tile that is merged, at most
    std::size_t sorted_bytes = 48 << 10;   ///< of one that is sorted: what every device has for a group
    std::size_t group = 256;               ///< work-items that merge a tile
    std::size_t least_group = 32;          ///< of large elements
    std::size_t most_of_item = 17;         ///< elements of a share
    std::size_t tiles_sorted_at_once = 2;  ///< by a group of as many times the work-items
    std::uint32_t registers = 65536;       ///< of a compute unit (NVIDIA)
};
inline constexpr merge_tuning tuned_merges;

struct merge_tile {
    std::size_t group = 1;  ///< work-items
    int each = 1;           ///< elements of a work-item

    std::size_t size() const { return group * static_cast<std::size_t>(each); }
    /// Elements that it has memory for: merges read ahead (block::merge_in_place).
    std::size_t room() const { return size() + static_cast<std::size_t>(each); }
};

inline merge_tile merge_tile_of(std::size_t bytes_of_element, std::size_t most_work_items) {
    constexpr merge_tuning by = tuned_merges;
    merge_tile tile;
    tile.group = std::min(by.group, std::bit_floor(most_work_items));
    while (tile.group > by.least_group && tile.group * bytes_of_element > by.bytes) tile.group /= 2;
    const std::size_t each =
        std::clamp<std::size_t>(by.bytes / (tile.group * bytes_of_element), 1, by.most_of_item);
    tile.each = static_cast<int>(each % 2 == 0 ? each - 1 : each);
    return tile;
}
/// The tile that a group sorts: several that are merged, if the device has room for it.
inline merge_tile sorted_tile_of(const merge_tile& merged, std::size_t bytes_of_element,
                                 std::size_t most_work_items, std::size_t local_bytes) {
    merge_tile tile = merged;
    tile.group *= tuned_merges.tiles_sorted_at_once;
    const bool has_room =
        tile.group <= most_work_items &&
        tile.room() * bytes_of_element <= std::min<std::size_t>(tuned_merges.sorted_bytes, local_bytes);
    return has_room ? tile : merged;
}

}  // namespace balm::array

#pragma once
// Tiles that a group of a GPU merges in local memory.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace balm::array {

/// Tuning parameters of tiles. Shares are odd, so that neighbours access different banks of local memory.
///
/// A pass over 2^28 u32 reads and writes 2 GiB: 0.49 ms at 4.4 TB/s (H200). Tiles of 256 x 15 elements need
/// 17 passes after the sorted tiles, as many as 256 x 16.9; 256 x 17, as CUB has them, need 16; and tiles of
/// 512 x 17, sorted by 512 work-items, leave 15: one more level in local memory replaces a pass. Longer
/// shares also mean fewer binary searches, which take about as long as merging a share of 17. With 24 KB, a
/// compute unit with 228 KB holds nine groups.
struct merge_tuning {
    std::size_t bytes = 24 << 10;          ///< of a tile that is merged, at most
    std::size_t sorted_bytes = 48 << 10;   ///< of one that is sorted, at most: every device has it per group
    std::size_t group = 256;               ///< work-items that merge a tile
    std::size_t least_group = 32;          ///< for large elements
    std::size_t most_of_item = 17;         ///< elements of a share
    std::size_t tiles_sorted_at_once = 2;  ///< by one group with that many times the work-items
    std::uint32_t registers = 65536;       ///< of a compute unit (NVIDIA)
};
inline constexpr merge_tuning tuned_merges;

struct merge_tile {
    std::size_t group = 1;  ///< work-items
    int each = 1;           ///< elements of a work-item

    std::size_t size() const { return group * static_cast<std::size_t>(each); }
    /// Elements that it needs memory for: merges over-read (block::merge_in_place).
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
/// The tile that one group sorts: as large as several that are merged, if the device has room for it.
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

#pragma once
// How radix sorts share out elements on each kind of device.

#include <cstddef>
#include <cstdint>

namespace balm::array {

enum class sort_strategy : std::uint8_t {
    chunk_an_item,   ///< CPUs: counts digits of chunks, scans the counts, moves the chunks' elements; a
                     ///< work-item has a chunk
    chunk_a_group,   ///< the same, a group has a chunk
    tiles_look_back  ///< a pass is one kernel: tiles wait for the counts of those ahead of them; devices with
                     ///< sub-groups, whose groups go on while others wait
};

/// For tests: how sorts on all devices go, whatever the device is.
struct forced_sort {
    sort_strategy strategy;
    bool has_sub_groups = false;  ///< the kernels' own, even if the device has none and refuses the kernel
    std::size_t most_of_one =
        ~std::size_t{0};          ///< elements that are sorted by one work-item or group, at most
    std::size_t chunk = 0;        ///< elements; 0: as many as the strategy says
    bool has_wide_words = false;  ///< tiles announce 64 bits, as if there were 2^30 elements
};
/// For tests: from now on sorts go this way; null: each device's own again.
void force_sorts(const forced_sort*);
/// What was forced; null: nothing.
const forced_sort* asked_of_sorts();

}  // namespace balm::array

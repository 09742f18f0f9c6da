#pragma once
// How radix sorts distribute elements on each kind of device.

#include <cstddef>
#include <cstdint>

namespace balm::array {

enum class sort_strategy : std::uint8_t {
    chunk_an_item,   ///< CPUs: counts digits of chunks, scans the counts, moves the chunks' elements; one
                     ///< chunk per work-item
    chunk_a_group,   ///< the same with one chunk per group
    tiles_look_back  ///< one kernel per pass: tiles look back for the counts of preceding ones; for devices
                     ///< with sub-groups, whose groups make progress while others wait
};

/// For tests: how all devices sort, whatever the device is.
struct forced_sort {
    sort_strategy strategy;
    bool has_sub_groups = false;  ///< kernels use them, even if the device has none and refuses the kernel
    std::size_t most_of_one =
        ~std::size_t{0};          ///< elements that are sorted by one work-item or group, at most
    std::size_t chunk = 0;        ///< elements; 0: the strategy decides
    bool has_wide_words = false;  ///< tiles announce 64-bit words, as for 2^30 elements
};
/// For tests: later sorts run this way; null restores each device's own strategy.
void force_sorts(const forced_sort*);
/// The forced strategy; null if there is none.
const forced_sort* asked_of_sorts();

}  // namespace balm::array

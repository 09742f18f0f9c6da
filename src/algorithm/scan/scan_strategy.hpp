#pragma once
// How scans distribute elements on each kind of device.

#include <cstdint>

namespace balm::array {

enum class scan_strategy : std::uint8_t {
    chunk_an_item,    ///< CPUs: reduces chunks, scans their totals, scans the chunks; one chunk per work-item
    chunk_a_group,    ///< the same with one chunk per group
    tiles_look_back,  ///< one pass: tiles look back for what precedes them; for devices with sub-groups,
                      ///< whose groups make progress while others wait
    one_group         ///< short inputs on such devices: one group takes tile after tile. Announcements, which
                      ///< an extra command clears, would take longer
};

/// For tests: how all devices scan, whatever the device is.
struct forced_scan {
    scan_strategy strategy;
    bool has_sub_groups = false;  ///< kernels use them, even if the device has none and refuses the kernel
};
/// For tests: later scans run this way; null restores each device's own strategy.
void force_scans(const forced_scan*);
/// Whether groups share chunks and columns, as on GPUs, or each work-item has its own.
bool are_shared_by_groups(bool on_cpu);

}  // namespace balm::array

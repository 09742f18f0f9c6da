#pragma once
// How scans share out elements on each kind of device.

#include <cstdint>

namespace balm::array {

enum class scan_strategy : std::uint8_t {
    chunk_an_item,    ///< CPUs: reduces chunks, scans their totals, scans the chunks; a work-item has a chunk
    chunk_a_group,    ///< the same, a group has a chunk
    tiles_look_back,  ///< one pass: tiles wait for what is ahead of them; devices with sub-groups, whose
                      ///< groups go on while others wait
    one_group         ///< short inputs of such devices: a group takes tile after tile. Announcements, which a
                      ///< command of its own clears, would take longer
};

/// For tests: how scans on all devices go, whatever the device is.
struct forced_scan {
    scan_strategy strategy;
    bool has_sub_groups = false;  ///< the kernels' own, even if the device has none and refuses the kernel
};
/// For tests: from now on scans go this way; null: each device's own again.
void force_scans(const forced_scan*);
/// Whether work-groups share chunks and columns, as GPUs have them do, or a work-item has its own.
bool are_shared_by_groups(bool on_cpu);

}  // namespace balm::array

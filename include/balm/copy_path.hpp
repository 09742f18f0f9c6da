#pragma once
// The path of a copy between devices.

#include <cstdint>

namespace balm {

/// The path of a copy from one device's memory to another's; see device::copies_from.
enum class copy_path : std::uint8_t {
    through_host,  ///< Balm reads into host memory, then writes from it
    by_driver,     ///< the driver copies, possibly through the host
    peer_to_peer,  ///< directly between the devices, over NVLink or the bus
    within_device  ///< source and target are on one device
};

/// The name: "through the host", "by the driver", "peer to peer", "within the device".
const char* to_string(copy_path) noexcept;

}  // namespace balm

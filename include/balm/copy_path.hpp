#pragma once
// How bytes come from one device to another.

#include <cstdint>

namespace balm {

/// What a copy from one device's memory to another's passes through; see device::copies_from.
enum class copy_path : std::uint8_t {
    through_host,  ///< read into host memory, then written from it, by Balm
    by_driver,     ///< the driver's own copy, which may pass through the host
    peer_to_peer,  ///< from device to device, over NVLink or the bus
    within_device  ///< both are on one device
};

/// The words: "through the host", "by the driver", "peer to peer", "within the device".
const char* to_string(copy_path) noexcept;

}  // namespace balm

#pragma once
// What a device's memory is used for.

#include <cstddef>
#include <cstdint>

namespace balm {

/// The device memory of this process on one device, in bytes; see device::memory.
struct memory_statistics {
    std::size_t in_use = 0;                ///< of live buffers and vectors
    std::size_t cached = 0;                ///< given back, and kept for the next
    std::size_t high_water = 0;            ///< the most that was in use at once
    std::uint64_t requests = 0;            ///< allocations by the program and by Balm
    std::uint64_t driver_allocations = 0;  ///< of these, what no kept memory served
};

}  // namespace balm

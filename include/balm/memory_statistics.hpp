#pragma once
// Statistics of a device's memory.

#include <cstddef>
#include <cstdint>

namespace balm {

/// The device memory of this process on one device, in bytes; see device::memory.
struct memory_statistics {
    std::size_t in_use = 0;                ///< of live buffers and vectors
    std::size_t cached = 0;                ///< freed, and kept in the pool
    std::size_t high_water = 0;            ///< the peak of in_use
    std::uint64_t requests = 0;            ///< allocations by the program and by Balm
    std::uint64_t driver_allocations = 0;  ///< of these, those that the pool could not serve
};

}  // namespace balm

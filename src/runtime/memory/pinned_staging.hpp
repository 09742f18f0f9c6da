#pragma once
// Blocks of pinned host memory that transfers pass through, kept for the next ones: drivers copy there
// directly, and to other memory by a detour. 8 bytes after a kernel on H100: NVIDIA's OpenCL 19 µs instead of
// 67, CUDA 17 instead of 19.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/backend.hpp"

namespace balm::runtime {

class pinned_staging {
public:
    /// `most_blocks` bounds the memory that it takes.
    pinned_staging(driver_device& driver, std::size_t block_bytes, std::size_t most_blocks)
        : driver_(driver), block_bytes_(block_bytes), most_blocks_(most_blocks) {}
    pinned_staging(const pinned_staging&) = delete;
    pinned_staging& operator=(const pinned_staging&) = delete;
    ~pinned_staging();

    /// Memory for so many bytes, the caller's alone until it is given back; null where transfers take other
    /// memory: of more bytes, on devices that share the host's memory, and where all blocks are in use or
    /// there is none.
    std::byte* take(std::size_t bytes) noexcept;
    /// Once the device no longer uses it; a transfer that failed does not.
    void give(std::byte*) noexcept;
    /// Gives the driver back what no transfer uses.
    void trim() noexcept;

private:
    driver_device& driver_;
    const std::size_t block_bytes_, most_blocks_;
    std::mutex mutex_;
    std::vector<pinned_memory> all_;
    std::vector<std::byte*> free_;
};

}  // namespace balm::runtime

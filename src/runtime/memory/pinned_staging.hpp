#pragma once
// Blocks of pinned host memory that stage transfers, kept for later ones: drivers transfer to pinned memory
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
    /// `most_blocks` bounds its memory.
    pinned_staging(driver_device& driver, std::size_t block_bytes, std::size_t most_blocks)
        : driver_(driver), block_bytes_(block_bytes), most_blocks_(most_blocks) {}
    pinned_staging(const pinned_staging&) = delete;
    pinned_staging& operator=(const pinned_staging&) = delete;
    ~pinned_staging();

    /// A block for so many bytes, exclusive to the caller until give(). Null if transfers must use other
    /// memory: for 0 bytes or more than a block holds, on CPUs, and if all blocks are in use or none can be
    /// allocated.
    std::byte* take(std::size_t bytes) noexcept;
    /// Returns a block that the device no longer uses; a failed transfer does not use it.
    void give(std::byte*) noexcept;
    /// Frees the blocks that no transfer uses.
    void trim() noexcept;

private:
    driver_device& driver_;
    const std::size_t block_bytes_, most_blocks_;
    std::mutex mutex_;
    std::vector<pinned_memory> all_;
    std::vector<std::byte*> free_;
};

}  // namespace balm::runtime

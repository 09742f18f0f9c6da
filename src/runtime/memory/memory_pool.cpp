// Lists of free blocks by size.

#include "runtime/memory/memory_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/forked.hpp"

namespace balm::runtime {

namespace {

constexpr std::size_t granule = 64;                          // a double8: the widest load that may over-read
constexpr std::size_t large_granule = std::size_t{2} << 20;  // the pages of CUDA's device memory
constexpr std::size_t large = std::size_t{64} << 20;

}  // namespace

// Other programs share the device: only a small part of its memory is cached.
memory_pool::memory_pool(driver_device& driver) : driver_(driver), limit_(driver.info().global_memory / 8) {}

std::size_t memory_pool::block_bytes(std::size_t bytes) {
    const std::size_t eighth = std::bit_floor(std::max<std::size_t>(bytes, 1)) / 8;
    const std::size_t step = bytes >= large ? large_granule : std::max(granule, eighth);
    return std::max<std::size_t>(1, (bytes + step - 1) / step) * step;
}

std::optional<memory_pool::block> memory_pool::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end() || found->second.empty()) return std::nullopt;
    block taken = std::move(found->second.back());
    found->second.pop_back();
    cached_ -= bytes;
    return taken;
}

void memory_pool::give(block given) noexcept {
    const std::lock_guard lock(mutex_);
    const memory native = given.native;
    const std::size_t bytes = given.bytes;
    try {
        if (bytes > limit_) {
            driver_.free(native);
            return;
        }
        blocks_[bytes].push_back(std::move(given));
        cached_ += bytes;
    } catch (...) {
        driver_.free(native);
    }
    while (cached_ > limit_) free_largest();
}

std::size_t memory_pool::trim(std::size_t keep) noexcept {
    if (is_forked()) return 0;
    const std::lock_guard lock(mutex_);
    const std::size_t before = cached_;
    while (cached_ > keep) free_largest();
    return before - cached_;
}

std::size_t memory_pool::cached_bytes() const {
    const std::lock_guard lock(mutex_);
    return cached_;
}

void memory_pool::set_limit(std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        limit_ = bytes;
    }
    trim(bytes);
}

/// Frees the oldest of the largest blocks.
void memory_pool::free_largest() noexcept {
    auto last = std::prev(blocks_.end());
    while (last->second.empty()) {
        blocks_.erase(last);
        last = std::prev(blocks_.end());
    }
    driver_.free(last->second.front().native);
    last->second.erase(last->second.begin());
    cached_ -= last->first;
}

}  // namespace balm::runtime

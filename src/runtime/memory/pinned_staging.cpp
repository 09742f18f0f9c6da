// As many blocks as there were concurrent transfers, kept until trim().

#include "runtime/memory/pinned_staging.hpp"

#include <algorithm>

#include "balm/error.hpp"
#include "base/forked.hpp"

namespace balm::runtime {

pinned_staging::~pinned_staging() {
    if (is_forked()) return;
    for (const pinned_memory& each : all_) driver_.free_pinned(each);
}

std::byte* pinned_staging::take(std::size_t bytes) noexcept try {
    if (bytes == 0 || bytes > block_bytes_ || driver_.info().type == device_type::cpu) return nullptr;
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
        if (all_.size() == most_blocks_) return nullptr;
        all_.reserve(all_.size() + 1);
        free_.reserve(all_.size() + 1);  // so that give() does not allocate
        all_.push_back(driver_.allocate_pinned(block_bytes_));
        return static_cast<std::byte*>(all_.back().address);
    }
    std::byte* const taken = free_.back();
    free_.pop_back();
    return taken;
} catch (const std::exception&) {
    return nullptr;
}

void pinned_staging::give(std::byte* block) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(block);
}

void pinned_staging::trim() noexcept {
    const std::lock_guard lock(mutex_);
    for (const std::byte* const unused : free_) {
        const auto block = std::find_if(all_.begin(), all_.end(),
                                        [&](const pinned_memory& each) { return each.address == unused; });
        driver_.free_pinned(*block);
        all_.erase(block);
    }
    free_.clear();
}

}  // namespace balm::runtime

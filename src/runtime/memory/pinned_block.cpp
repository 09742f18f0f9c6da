// Allocates page-locked memory from the driver and frees it.

#include "runtime/memory/pinned_block.hpp"

#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

pinned_block::pinned_block(std::shared_ptr<device_state> device, std::size_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
    if (bytes > 0) memory_ = device_->driver().allocate_pinned(bytes);
}

pinned_block::~pinned_block() {
    if (bytes_ > 0 && !is_forked()) device_->driver().free_pinned(memory_);
}

}  // namespace balm::runtime

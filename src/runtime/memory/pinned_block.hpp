#pragma once
// RAII for page-locked host memory of a device. Transfers keep it alive until they complete.

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/backend.hpp"

namespace balm::runtime {

class device_state;

class pinned_block {
public:
    /// Use device_state::allocate_pinned. 0 bytes allocate nothing.
    pinned_block(std::shared_ptr<device_state>, std::size_t bytes);
    pinned_block(const pinned_block&) = delete;
    pinned_block& operator=(const pinned_block&) = delete;
    ~pinned_block();

    std::byte* data() const { return static_cast<std::byte*>(memory_.address); }
    std::size_t bytes() const { return bytes_; }
    const std::shared_ptr<device_state>& device_handle() const { return device_; }

private:
    std::shared_ptr<device_state> device_;
    std::size_t bytes_;
    pinned_memory memory_;
};

}  // namespace balm::runtime

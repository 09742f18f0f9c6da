#pragma once
// What a vector's handle refers to: its elements on a device.

#include <cstddef>
#include <memory>

#include "balm/types.hpp"
#include "runtime/device_state.hpp"

namespace balm::array {

class vector_state {
public:
    vector_state(std::shared_ptr<runtime::device_state> device, scalar type, std::size_t size);

    std::size_t size() const { return size_; }
    scalar type() const { return type_; }
    runtime::device_state& device() const { return *device_; }
    const std::shared_ptr<runtime::device_state>& device_handle() const { return device_; }
    const std::shared_ptr<runtime::storage>& memory() const { return memory_; }

private:
    std::shared_ptr<runtime::device_state> device_;
    scalar type_;
    std::size_t size_;
    std::shared_ptr<runtime::storage> memory_;
};

}  // namespace balm::array

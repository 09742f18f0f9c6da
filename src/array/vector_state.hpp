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
    /// Over elements that are there already, from this byte on.
    vector_state(std::shared_ptr<runtime::storage>, scalar type, std::size_t size, std::size_t offset);

    std::size_t size() const { return size_; }
    scalar type() const { return type_; }
    runtime::device_state& device() const { return *device_; }
    const std::shared_ptr<runtime::device_state>& device_handle() const { return device_; }
    const std::shared_ptr<runtime::storage>& memory() const { return memory_; }
    /// Where in the memory it begins, in bytes.
    std::size_t offset() const { return offset_; }
    std::size_t bytes() const { return size_ * size_of(type_); }
    /// Whether it has its memory to itself, so that short vectors may pass its end.
    bool is_whole() const { return is_whole_; }
    /// Whether the two share elements.
    bool overlaps(const vector_state& other) const {
        return memory_ == other.memory_ && offset_ < other.offset_ + other.bytes() &&
               other.offset_ < offset_ + bytes();
    }

private:
    std::shared_ptr<runtime::device_state> device_;
    scalar type_;
    std::size_t size_;
    std::shared_ptr<runtime::storage> memory_;
    std::size_t offset_ = 0;
    bool is_whole_ = true;
};

}  // namespace balm::array

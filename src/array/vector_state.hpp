#pragma once
// The state that handles of a vector share: its elements on one device, or parts of them on several.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "balm/device_type.hpp"
#include "balm/trace.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::array {

class vector_state : public std::enable_shared_from_this<vector_state> {
public:
    /// Consecutive elements on one device; may be empty.
    struct part {
        std::size_t first = 0;
        std::shared_ptr<vector_state> elements;
    };

    vector_state(std::shared_ptr<runtime::device_state> device, trace::type, std::size_t size);
    /// Refers to existing memory, from this byte offset on.
    vector_state(std::shared_ptr<runtime::storage>, trace::type, std::size_t size, std::size_t offset);

    /// Distributed over several devices, one part on each, by weights; `weights` is empty if these are the
    /// devices' bandwidths.
    vector_state(std::vector<part> parts, trace::type type, std::size_t size,
                 std::vector<double> weights = {})
        : type_(type),
          element_size_(trace::size_of(type)),
          size_(size),
          parts_(std::move(parts)),
          weights_(std::move(weights)) {}

    /// The C++ line that made the vector, for messages; empty if unknown.
    trace::location made_at() const { return made_at_; }
    void set_made_at(trace::location where) { made_at_ = where; }

    bool is_spread() const { return !parts_.empty(); }
    /// A part for each device, in order of the elements; empty for a vector on one device.
    std::span<const part> parts() const { return parts_; }

    std::span<const double> weights() const { return weights_; }

    std::size_t size() const { return size_; }
    trace::type type() const { return type_; }
    /// Bytes of one element.
    std::size_t element_size() const { return element_size_; }
    /// The device; the first one of several.
    runtime::device_state& device() const { return *device_handle(); }
    const std::shared_ptr<runtime::device_state>& device_handle() const {
        return is_spread() ? parts_[0].elements->device_ : device_;
    }
    /// The memory; null for a vector over several devices.
    const std::shared_ptr<runtime::storage>& memory() const { return memory_; }
    /// The offset of the first element in the memory, in bytes.
    std::size_t offset() const { return offset_; }
    std::size_t bytes() const { return size_ * element_size_; }
    /// Whether the vector has its padded memory to itself, so that vector loads may over-read.
    bool is_whole() const { return is_whole_; }
    /// Whether the two share elements.
    bool overlaps(const vector_state& other) const {
        if (!is_spread() && !other.is_spread()) [[likely]]
            return memory_ == other.memory_ && offset_ < other.offset_ + other.bytes() &&
                   other.offset_ < offset_ + bytes();
        if (!is_spread()) return other.overlaps(*this);
        return std::any_of(parts_.begin(), parts_.end(),
                           [&](const part& p) { return other.overlaps(*p.elements); });
    }

private:
    std::shared_ptr<runtime::device_state> device_;
    trace::type type_;
    std::size_t element_size_;
    std::size_t size_;
    std::shared_ptr<runtime::storage> memory_;
    std::size_t offset_ = 0;
    bool is_whole_ = true;
    std::vector<part> parts_;
    std::vector<double> weights_;
    trace::location made_at_;
};

}  // namespace balm::array

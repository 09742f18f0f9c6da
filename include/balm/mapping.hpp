#pragma once
// Device memory that is mapped into host memory.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "balm/event.hpp"

namespace balm {

namespace runtime {
class mapping;
}

namespace detail {
void* mapping_data(const runtime::mapping&);
event mapping_release(runtime::mapping&);
}  // namespace detail

/// The elements of a buffer, mapped into host memory for the lifetime of this object, for reading and
/// writing, or as `const T` for reading only. A device that shares the memory of the host (a CPU) maps in
/// place; other devices map a copy in pinned memory, and write it back at the end. Until then commands that
/// conflict with the mapping throw usage_error.
///
///     {
///         auto view = buffer.map();      // waits for commands that write the buffer
///         for (float& x : view) x *= 2;
///     }                                  // unmapped: later commands see the new elements
template <class T>
class mapped {
public:
    using value_type = std::remove_const_t<T>;

    mapped(std::shared_ptr<runtime::mapping> of, std::size_t count)
        : mapping_(std::move(of)),
          elements_(static_cast<T*>(detail::mapping_data(*mapping_))),
          count_(count) {}
    /// The other object has no elements afterwards.
    mapped(mapped&& other) noexcept
        : mapping_(std::move(other.mapping_)),
          elements_(std::exchange(other.elements_, nullptr)),
          count_(std::exchange(other.count_, 0)) {}
    /// Unmaps the elements that this object had.
    mapped& operator=(mapped&& other) noexcept {
        mapping_ = std::move(other.mapping_);
        elements_ = std::exchange(other.elements_, nullptr);
        count_ = std::exchange(other.count_, 0);
        return *this;
    }
    ~mapped() = default;

    T* data() const { return elements_; }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    T* begin() const { return elements_; }
    T* end() const { return elements_ + count_; }
    T& operator[](std::size_t i) const { return elements_[i]; }

    /// Unmaps the elements before the object is destroyed; they must not be accessed any more. The event
    /// completes once the device has what was written.
    pending release() {
        elements_ = nullptr;
        count_ = 0;
        const std::shared_ptr<runtime::mapping> ended = std::exchange(mapping_, nullptr);
        return pending(ended ? detail::mapping_release(*ended) : event{});
    }

private:
    std::shared_ptr<runtime::mapping> mapping_;  // ends with the last reference
    T* elements_;
    std::size_t count_;
};

}  // namespace balm

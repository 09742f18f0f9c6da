#pragma once
// Page-locked host memory, which transfers read and write directly, asynchronously and at the full bandwidth
// of the bus.

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "balm/host_array.hpp"

namespace balm {

namespace runtime {
class device_state;
class pinned_block;
}  // namespace runtime

namespace detail {
std::shared_ptr<runtime::pinned_block> pinned_allocate(const std::shared_ptr<runtime::device_state>&,
                                                       const shape&, std::size_t element_size);
void* pinned_data(const runtime::pinned_block&);
void check_range(const char* of, const shape& extents, std::size_t first, std::size_t last);
}  // namespace detail

/// An array in pinned (page-locked) host memory. A handle: copies share the elements. Writes from it and
/// reads into it are not staged: they are asynchronous and keep the memory alive until they complete, so the
/// handle may be destroyed at any time. The caller must not access the elements until the event says that the
/// transfer has completed.
///
///     balm::pinned_array<float> in = device.pinned_array<float>(n);
///     std::fill(in.begin(), in.end(), 1.f);
///     balm::event sent = buffer.write(in);  // returns immediately
///     …
///     sent.wait();                          // now `in` may be changed
///
/// The device's driver pins the memory; transfers of any device may use it.
template <class T>
class pinned_array {
    static_assert(std::is_trivially_copyable_v<T>,
                  "Balm: elements are copied to devices byte by byte and must be trivially copyable");

public:
    using value_type = T;
    using size_type = std::size_t;
    using iterator = T*;
    using const_iterator = const T*;

    /// No elements.
    pinned_array() = default;
    /// Use device.pinned_array<T>(…). The elements are uninitialised. Throws out_of_memory_error.
    pinned_array(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : shape_(extents),
          block_(detail::pinned_allocate(on, extents, sizeof(T))),
          elements_(static_cast<T*>(detail::pinned_data(*block_))) {}

    T* data() const { return elements_; }
    std::size_t size() const { return block_ ? shape_.count() : 0; }
    std::size_t size_bytes() const { return size() * sizeof(T); }
    bool empty() const { return size() == 0; }
    /// The extents, slowest dimension first.
    const balm::shape& shape() const { return shape_; }

    T* begin() const { return data(); }
    T* end() const { return data() + size(); }
    /// The element at a flat index.
    T& operator[](std::size_t i) const { return elements_[i]; }

    /// The elements [first, last), as an array that shares them. Throws usage_error if the range exceeds the
    /// array.
    pinned_array range(std::size_t first, std::size_t last) const {
        detail::check_range("a pinned array", shape_, first, last);
        pinned_array part(*this);
        part.shape_ = balm::shape(last - first);
        part.elements_ += first;
        return part;
    }
    /// The elements from `first` on.
    pinned_array from(std::size_t first) const { return range(first, size()); }
    /// The elements before `last`.
    pinned_array until(std::size_t last) const { return range(0, last); }

    /// The state that the runtime keeps; null for an array without memory.
    const std::shared_ptr<runtime::pinned_block>& block() const { return block_; }

private:
    balm::shape shape_;
    std::shared_ptr<runtime::pinned_block> block_;
    T* elements_ = nullptr;
};

}  // namespace balm

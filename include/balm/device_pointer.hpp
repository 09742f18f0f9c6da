#pragma once
// Pointers to device memory: an address in an allocation, with C++ pointer arithmetic, that keeps the memory
// alive.

#include <compare>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "balm/buffer.hpp"

namespace balm {

namespace detail {
memory_part pointed_part(std::shared_ptr<runtime::storage>, std::ptrdiff_t offset, std::size_t element_size,
                         std::size_t alignment, std::optional<std::size_t> count);
/// offset + n * step, in bytes. Throws usage_error if that is further than any memory reaches.
std::ptrdiff_t moved_offset(std::ptrdiff_t offset, std::ptrdiff_t n, std::ptrdiff_t step);
std::shared_ptr<runtime::storage> pointer_allocate(const std::shared_ptr<runtime::device_state>&,
                                                   std::size_t count, std::size_t element_size);
[[noreturn]] void pointers_into_two_allocations();
}  // namespace detail

/// A pointer to an element of T in device memory. It shares ownership of the allocation, which is freed with
/// the last pointer, buffer or range into it, or by free(). It may point outside the allocation, up to 2^62
/// bytes from its start (else usage_error); when it is used it must point into the allocation, at a multiple
/// of alignof(T). A default-constructed pointer is null.
///
///     balm::device_pointer<float> p = device.allocate<float>(1000);
///     p.range(100).write(host);                    // its first hundred elements
///     device.execute(scale(2.f, p, p + 500), {100});  // to In, Out and InOut parameters of kernels
///     balm::device_pointer<balm::float4> q = (p + 4).as<balm::float4>();
///     std::ptrdiff_t far = (p + 8) - p;            // 8
template <class T, access Direction = access::mixed>
class device_pointer {
public:
    using value_type = T;
    static constexpr bool kernels_may_read = Direction != access::out;
    static constexpr bool kernels_may_write = Direction != access::in;

    /// Null.
    device_pointer() = default;
    /// Use device.allocate<T>(n), or take the address of a buffer or range: device_pointer(b.from(3)).
    explicit device_pointer(const buffer_range<T, Direction>& to)
        : memory_(to.storage()), offset_(static_cast<std::ptrdiff_t>(to.byte_offset())) {}
    device_pointer(std::shared_ptr<runtime::storage> memory, std::ptrdiff_t offset)
        : memory_(std::move(memory)), offset_(offset) {}

    explicit operator bool() const { return memory_ != nullptr; }

    device_pointer& operator+=(std::ptrdiff_t n) {
        offset_ = detail::moved_offset(offset_, n, element_size);
        return *this;
    }
    device_pointer& operator-=(std::ptrdiff_t n) {
        offset_ = detail::moved_offset(offset_, n, -element_size);
        return *this;
    }
    device_pointer& operator++() { return *this += 1; }
    device_pointer& operator--() { return *this -= 1; }
    device_pointer operator++(int) { return std::exchange(*this, *this + 1); }
    device_pointer operator--(int) { return std::exchange(*this, *this - 1); }
    friend device_pointer operator+(device_pointer p, std::ptrdiff_t n) { return p += n; }
    friend device_pointer operator+(std::ptrdiff_t n, device_pointer p) { return p += n; }
    friend device_pointer operator-(device_pointer p, std::ptrdiff_t n) { return p -= n; }
    /// The number of elements between two pointers. Throws usage_error if they point into different
    /// allocations.
    friend std::ptrdiff_t operator-(const device_pointer& a, const device_pointer& b) {
        if (a.memory_ != b.memory_) detail::pointers_into_two_allocations();
        return (a.offset_ - b.offset_) / element_size;
    }
    friend bool operator==(const device_pointer&, const device_pointer&) = default;
    /// Throws usage_error if they point into different allocations.
    friend std::strong_ordering operator<=>(const device_pointer& a, const device_pointer& b) {
        if (a.memory_ != b.memory_) detail::pointers_into_two_allocations();
        return a.offset_ <=> b.offset_;
    }

    /// The same address as a pointer to U.
    template <class U>
    device_pointer<U, Direction> as() const {
        return device_pointer<U, Direction>(memory_, offset_);
    }
    /// The `count` elements from here on, to write, read, copy, fill and map. Throws usage_error if they are
    /// not all inside the allocation, or if the address is misaligned.
    buffer_range<T, Direction> range(std::size_t count) const {
        return buffer_range<T, Direction>(
            detail::pointed_part(memory_, offset_, sizeof(T), alignof(T), count));
    }
    /// All elements from here to the end of the allocation.
    buffer_range<T, Direction> range() const {
        return buffer_range<T, Direction>(
            detail::pointed_part(memory_, offset_, sizeof(T), alignof(T), std::nullopt));
    }

    /// Frees the allocation even if others point into it; see buffer::free().
    void free() { detail::storage_free(*range().storage()); }

    /// The allocation, as kernels take it.
    const std::shared_ptr<runtime::storage>& storage() const { return memory_; }
    std::size_t byte_offset() const { return range().byte_offset(); }
    std::size_t size_bytes() const { return range().size_bytes(); }

private:
    static constexpr auto element_size = static_cast<std::ptrdiff_t>(sizeof(T));

    std::shared_ptr<runtime::storage> memory_;
    std::ptrdiff_t offset_ = 0;  // bytes
};

template <class T, access Direction>
device_pointer(const buffer<T, Direction>&) -> device_pointer<T, Direction>;

}  // namespace balm

#pragma once
// Buffers: typed device memory with a direction. Every transfer is asynchronous unless it says that it
// blocks; the buffer remembers who uses it, so commands of several queues wait for each other by themselves.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/event.hpp"
#include "balm/host_array.hpp"

namespace balm {

namespace runtime {
class device_state;
class storage;
}  // namespace runtime

class device;

/// Who uses a buffer, and how. in: the host writes, kernels read. out: kernels write, the host reads.
/// mixed: both do both.
enum class access : std::uint8_t { in, out, mixed };

/// What the compiler names when `write` is called on an out_buffer: only kernels write it.
template <access Direction>
concept host_may_write_this_buffer = Direction != access::out;

/// What the compiler names when `read` is called on an in_buffer: only kernels read it.
template <access Direction>
concept host_may_read_this_buffer = Direction != access::in;

namespace detail {

std::shared_ptr<runtime::storage> buffer_allocate(const std::shared_ptr<runtime::device_state>&, const shape&,
                                                  std::size_t element_size);
/// With `keep`, the bytes are used where they lie, and `keep` is held until they are read; otherwise they are
/// copied, or sent, before the call returns.
event buffer_write(runtime::storage&, const void* from, std::size_t bytes, std::shared_ptr<const void> keep,
                   const wait_list&);
/// `keep` is held until the bytes are there.
event buffer_read(runtime::storage&, void* to, std::size_t bytes, std::shared_ptr<void> keep,
                  const wait_list&);
void buffer_read_now(runtime::storage&, void* to, std::size_t bytes, const wait_list&);
event buffer_copy(runtime::storage& to, runtime::storage& from, std::size_t bytes, const wait_list&);
event buffer_fill(runtime::storage&, std::size_t bytes, const void* element, std::size_t element_size,
                  const wait_list&);
std::shared_ptr<runtime::device_state> buffer_device(const runtime::storage&);
[[noreturn]] void buffer_size_mismatch(const char* what, const shape& buffer, std::size_t host);

}  // namespace detail

/// An asynchronous read: a host array on its way. It owns its memory, so it may be dropped at any time.
///
///     auto later = out.read_async(done);
///     …
///     balm::host_array<float> got = later.get();  // waits
template <class T>
class pending_read {
public:
    pending_read(std::shared_ptr<host_array<T>> memory, event done)
        : memory_(std::move(memory)), done_(std::move(done)) {}

    /// The event of the read, to chain on.
    const event& done() const { return done_; }
    bool is_complete() const { return done_.is_complete(); }
    /// Waits, and gives the array; once.
    host_array<T> get() {
        done_.wait();
        return std::move(*std::exchange(memory_, std::make_shared<host_array<T>>()));
    }

private:
    std::shared_ptr<host_array<T>> memory_;
    event done_;
};

/// Memory for elements of T on one device, of one to three dimensions. Freed when the last copy of the
/// handle and the last command that uses it are gone. bool takes a byte.
///
///     auto a = device.in_buffer<float>(rows, columns);
///     balm::event written = a.write({1, 2, 3, 4});
template <class T, access Direction>
class buffer {
    static_assert(std::is_trivially_copyable_v<T>, "Balm: elements are copied byte by byte to devices");

public:
    using value_type = T;
    static constexpr bool kernels_may_read = Direction != access::out;
    static constexpr bool kernels_may_write = Direction != access::in;

    /// Use device.in_buffer<T>(…), out_buffer, mixed_buffer. Throws out_of_memory_error.
    buffer(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : shape_(extents), storage_(detail::buffer_allocate(on, extents, sizeof(T))) {}

    /// The number of elements.
    std::size_t size() const { return shape_.count(); }
    /// Bytes on the device.
    std::size_t size_bytes() const { return size() * sizeof(T); }
    const balm::shape& shape() const { return shape_; }
    /// The device that holds it.
    balm::device device() const;
    /// What the runtime knows of it.
    const std::shared_ptr<runtime::storage>& storage() const { return storage_; }

    /// Writes all elements, after the events. Memory in a span may be reused at once: up to 4 MiB is copied
    /// aside, more is sent before the call returns. The number of elements must be the buffer's; its shape
    /// need not. Throws usage_error for another size.
    template <waitable... Waits>
    pending write(std::span<const T> from, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        check_size("write", from.size());
        return pending(detail::buffer_write(*storage_, from.data(), from.size_bytes(), nullptr,
                                            wait_list(std::forward<Waits>(waits)...)));
    }
    /// The same for elements in braces: `a.write({1, 2, 3, 4})`.
    template <waitable... Waits>
    pending write(std::initializer_list<T> from,
                  Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        return write(std::span<const T>(from.begin(), from.size()), std::forward<Waits>(waits)...);
    }
    /// The same for a vector that the caller keeps.
    template <waitable... Waits>
    pending write(const std::vector<T>& from,
                  Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        static_assert(!std::is_same_v<T, bool>,
                      "Balm: std::vector<bool> is packed; write a balm::host_array<bool>");
        return write(std::span<const T>(from), std::forward<Waits>(waits)...);
    }
    /// Writes a vector that is given away, with no copy: its memory lives until it has been read.
    template <waitable... Waits>
    pending write(std::vector<T>&& from, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        static_assert(!std::is_same_v<T, bool>,
                      "Balm: std::vector<bool> is packed; write a balm::host_array<bool>");
        return write_owned(std::move(from), std::forward<Waits>(waits)...);
    }
    /// Writes a host array that is given away, with no copy.
    template <waitable... Waits>
    pending write(host_array<T>&& from, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        return write_owned(std::move(from), std::forward<Waits>(waits)...);
    }

    /// Waits for the events and for whatever writes the buffer, and gives its elements in its shape. Blocks.
    template <waitable... Waits>
    host_array<T> read(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        host_array<T> got(shape_);
        read_into(std::span<T>(got), std::forward<Waits>(waits)...);
        return got;
    }
    /// Reads into the caller's memory. Blocks. Throws usage_error for another size.
    template <waitable... Waits>
    void read_into(std::span<T> to, Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        check_size("read", to.size());
        detail::buffer_read_now(*storage_, to.data(), to.size_bytes(),
                                wait_list(std::forward<Waits>(waits)...));
    }
    /// Reads while the program goes on.
    template <waitable... Waits>
    pending_read<T> read_async(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        auto memory = std::make_shared<host_array<T>>(shape_);
        event done = detail::buffer_read(*storage_, memory->data(), size_bytes(), memory,
                                         wait_list(std::forward<Waits>(waits)...));
        return {std::move(memory), std::move(done)};
    }

    /// Copies all elements to another buffer, of any direction, on this or another device. Throws
    /// usage_error for another size.
    template <access Other, waitable... Waits>
    pending copy_to(buffer<T, Other>& other, Waits&&... waits) const {
        other.check_size("copy", size());
        return pending(detail::buffer_copy(*other.storage(), *storage_, size_bytes(),
                                           wait_list(std::forward<Waits>(waits)...)));
    }
    /// Sets every element, on the device.
    template <waitable... Waits>
    pending fill(const T& value, Waits&&... waits) {
        return pending(detail::buffer_fill(*storage_, size_bytes(), &value, sizeof(T),
                                           wait_list(std::forward<Waits>(waits)...)));
    }

private:
    template <class, access>
    friend class buffer;

    void check_size(const char* what, std::size_t host) const {
        if (host != size()) detail::buffer_size_mismatch(what, shape_, host);
    }

    template <class Owner, class... Waits>
    pending write_owned(Owner&& from, Waits&&... waits) {
        check_size("write", from.size());
        auto owner = std::make_shared<const std::remove_cvref_t<Owner>>(std::forward<Owner>(from));
        const T* const elements = owner->data();
        return pending(detail::buffer_write(*storage_, elements, size_bytes(), std::move(owner),
                                            wait_list(std::forward<Waits>(waits)...)));
    }

    balm::shape shape_;
    std::shared_ptr<runtime::storage> storage_;
};

/// A buffer that the host writes and kernels read.
template <class T>
using in_buffer = buffer<T, access::in>;
/// A buffer that kernels write and the host reads.
template <class T>
using out_buffer = buffer<T, access::out>;
/// A buffer that host and kernels write and read.
template <class T>
using mixed_buffer = buffer<T, access::mixed>;

}  // namespace balm

#pragma once
// Buffers: typed device memory with a direction, and parts of them: ranges and regions. Every transfer is
// asynchronous unless documented to block. Hazards are tracked: commands of different queues that access the
// same buffer wait for each other automatically.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/event.hpp"
#include "balm/host_array.hpp"
#include "balm/mapping.hpp"
#include "balm/pinned_array.hpp"
#include "balm/shared_state.hpp"

namespace balm {

namespace runtime {
class device_state;
class mapping;
class storage;
}  // namespace runtime

class device;

/// How host and kernels access a buffer. in: the host writes, kernels read. out: kernels write, the host
/// reads. mixed: both do both.
enum class access : std::uint8_t { in, out, mixed };

/// Named by the compiler if `write` is called on an out_buffer: only kernels write it.
template <access Direction>
concept host_may_write_this_buffer = Direction != access::out;

/// Named by the compiler if `read` is called on an in_buffer: only kernels read it.
template <access Direction>
concept host_may_read_this_buffer = Direction != access::in;

namespace detail {

/// The location of elements in an allocation. Pitches are in bytes; 0 if rows are contiguous.
struct memory_part {
    std::shared_ptr<runtime::storage> memory;
    std::size_t element_size = 1;
    shape extents;
    std::size_t offset = 0;
    std::size_t row_pitch = 0;
    std::size_t plane_pitch = 0;
    const char* kind = "a buffer";  // in messages
};

/// How the host uses a mapping.
enum class mapping_use : std::uint8_t { read, write, read_write, overwrite };

std::shared_ptr<runtime::storage> buffer_allocate(const std::shared_ptr<runtime::device_state>&, const shape&,
                                                  std::size_t element_size);
memory_part part_range(const memory_part&, std::size_t first, std::size_t last);
memory_part part_region(const memory_part&, const shape& origin, const shape& extents);
memory_part part_reshaped(const memory_part&, const shape& extents);
memory_part part_as(const memory_part&, std::size_t element_size, std::size_t alignment);

/// Host memory that is kept alive until a transfer has completed; null for the caller's memory.
struct kept_memory {
    std::shared_ptr<const void> owner;
    bool is_pinned = false;
};
/// Memory without an owner is staged, or sent, before the call returns; other memory is used in place.
event part_write(const memory_part&, const void* from, kept_memory, const wait_list&);
event part_read(const memory_part&, void* to, kept_memory, const wait_list&);
void part_read_now(const memory_part&, void* to, const wait_list&);
event part_copy(const memory_part& to, const memory_part& from, const wait_list&);
event part_fill(const memory_part&, const void* element, const wait_list&);
std::shared_ptr<runtime::mapping> part_map(const memory_part&, mapping_use, const wait_list&);

void storage_free(runtime::storage&);
std::shared_ptr<runtime::device_state> storage_device(const runtime::storage&);
[[noreturn]] void buffer_size_mismatch(const char* what, const shape& buffer, std::size_t host,
                                       const char* kind = "a buffer");

template <class>
inline constexpr bool never = false;

/// Whether host elements of type Host can be copied to memory of T unchanged: integers match by size and
/// signedness, whatever their names (`long`, `std::int64_t`).
template <class T, class Host>
inline constexpr bool is_element_of = std::is_same_v<T, Host> ||
                                      (std::integral<T> && std::integral<Host> && !std::is_same_v<T, bool> &&
                                       !std::is_same_v<Host, bool> && sizeof(T) == sizeof(Host) &&
                                       std::is_signed_v<T> == std::is_signed_v<Host>);

/// A range that can be iterated from begin to end.
template <class R>
concept host_range = requires(R& r) {
    { r.begin() } -> std::input_iterator;
    r.end();
};

template <class R>
inline constexpr bool is_pinned_array = false;
template <class T>
inline constexpr bool is_pinned_array<pinned_array<T>> = true;

}  // namespace detail

/// An asynchronous read into a host array. It owns its memory, so it may be discarded at any time.
///
///     auto later = out.read_async(done);
///     …
///     balm::host_array<float> got = later.get();  // waits
template <class T>
class pending_read {
public:
    pending_read(std::shared_ptr<host_array<T>> memory, event done)
        : memory_(std::move(memory)), done_(std::move(done)) {}

    /// The event of the read, for other commands to wait for.
    const event& done() const { return done_; }
    bool is_complete() const { return done_.is_complete(); }
    /// Waits, then returns the array; later calls return an empty one. If the read was recorded, each call
    /// returns a copy of what the last replay has read.
    host_array<T> get() {
        done_.wait();
        if (memory_ != nullptr && detail::is_recorded(done_)) return *memory_;
        const std::shared_ptr<host_array<T>> read = std::exchange(memory_, nullptr);
        return read ? std::move(*read) : host_array<T>();
    }

private:
    std::shared_ptr<host_array<T>> memory_;
    event done_;
};

// Used in several places; a static_assert takes only a literal.
#define BALM_OTHER_ELEMENTS \
    "Balm: the host elements and the buffer have different element types; convert the elements first"

/// The common base of buffers, ranges and regions: elements of T in device memory that the host can write,
/// read, copy and fill, as the direction allows.
///
/// Every call takes any number of events to wait for after its other arguments. Those that return a `pending`
/// return immediately if you keep the event, and block if you discard it.
template <class T, access Direction>
class device_elements {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                  "Balm: elements are copied to devices byte by byte; T must be trivially copyable, and "
                  "neither const nor volatile");
    static_assert(!std::is_pointer_v<T> && !std::is_same_v<T, long double>,
                  "Balm: host pointers and long double are meaningless on a device; elements must be "
                  "scalars, short vectors, complex numbers or structures of them");

public:
    using value_type = T;
    static constexpr access direction = Direction;
    static constexpr bool kernels_may_read = Direction != access::out;
    static constexpr bool kernels_may_write = Direction != access::in;

    /// The number of elements.
    std::size_t size() const { return part_.extents.count(); }
    /// The size of the elements on the device, in bytes.
    std::size_t size_bytes() const { return size() * sizeof(T); }
    bool empty() const { return size() == 0; }
    /// The extents, slowest-varying first.
    const balm::shape& shape() const { return part_.extents; }
    /// The device that holds the elements.
    balm::device device() const;

    /// Writes all elements, after the events, from host memory with the same element count, whatever its
    /// shape. Throws usage_error if the counts differ.
    ///
    /// * A span, vector, array or other contiguous memory may be reused immediately: up to 4 MiB are staged,
    ///   more is sent before the call returns.
    /// * `std::move(v)` of a std::vector or host_array, and a pinned_array, are used in place, without a
    ///   copy; the first two are consumed, the third must not change until the event completes.
    /// * Other ranges (a list, a std::vector<bool>) are gathered first.
    ///
    ///     a.write(host, ready);
    template <class Host, waitable... Waits>
    pending write(Host&& from, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        using H = std::remove_cvref_t<Host>;
        const wait_list list(std::forward<Waits>(waits)...);
        if constexpr (detail::is_pinned_array<H>) {
            static_assert(detail::is_element_of<T, typename H::value_type>, BALM_OTHER_ELEMENTS);
            check_size("write", from.size());
            return pending(detail::part_write(part(), from.data(), {from.block(), true}, list));
        } else if constexpr ((std::is_same_v<Host, std::vector<T>> && !std::is_same_v<T, bool>) ||
                             std::is_same_v<Host, host_array<T>>) {
            return write_owned(std::forward<Host>(from), list);
        } else if constexpr (std::is_convertible_v<Host, std::span<const T>>) {
            const std::span<const T> elements = from;
            check_size("write", elements.size());
            return pending(detail::part_write(part(), elements.data(), {}, list));
        } else if constexpr (detail::host_range<const H>) {
            return write_each(from.begin(), from.end(), list);
        } else {
            static_assert(detail::never<Host>,
                          "Balm: a write takes host memory: a span, a std::vector or another range, a pair "
                          "of iterators, a host_array or pinned_array, or elements in braces");
        }
    }
    /// The same for elements in braces: `a.write({1, 2, 3, 4})`.
    template <waitable... Waits>
    pending write(std::initializer_list<T> from,
                  Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        return write(std::span<const T>(from.begin(), from.size()), std::forward<Waits>(waits)...);
    }
    /// The same for the elements between two iterators.
    template <std::input_iterator First, std::sentinel_for<First> Last, waitable... Waits>
    pending write(First first, Last last, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        if constexpr (std::contiguous_iterator<First> && std::is_same_v<std::iter_value_t<First>, T>)
            return write(std::span<const T>(first, last), std::forward<Waits>(waits)...);
        else
            return write_each(first, last, wait_list(std::forward<Waits>(waits)...));
    }

    /// Waits for the events and for pending writes, then returns the elements in their shape. Blocks.
    template <waitable... Waits>
    host_array<T> read(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        host_array<T> got(shape());
        read_into(std::span<T>(got), std::forward<Waits>(waits)...);
        return got;
    }
    /// Reads into the caller's memory. Blocks. Throws usage_error if the element counts differ.
    template <waitable... Waits>
    void read_into(std::span<T> to, Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        check_size("read", to.size());
        detail::part_read_now(part(), to.data(), wait_list(std::forward<Waits>(waits)...));
    }
    /// Reads into the elements between two iterators. Blocks.
    template <std::forward_iterator First, waitable... Waits>
    void read_into(First first, First last,
                   Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        static_assert(detail::is_element_of<T, std::iter_value_t<First>>, BALM_OTHER_ELEMENTS);
        check_size("read", static_cast<std::size_t>(std::distance(first, last)));
        const host_array<T> got = read(std::forward<Waits>(waits)...);
        for (const T& each : got) *first++ = each;
    }
    /// Reads into pinned memory, which holds the elements once the event completes.
    template <waitable... Waits>
    pending read_into(const pinned_array<T>& to,
                      Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        check_size("read", to.size());
        return pending(detail::part_read(part(), to.data(), {to.block(), true},
                                         wait_list(std::forward<Waits>(waits)...)));
    }
    /// Starts a read and returns immediately.
    template <waitable... Waits>
    pending_read<T> read_async(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        auto memory = std::make_shared<host_array<T>>(shape());
        event done =
            detail::part_read(part(), memory->data(), {memory}, wait_list(std::forward<Waits>(waits)...));
        return {std::move(memory), std::move(done)};
    }

    /// Copies all elements to a buffer, range or region with the same element count, of any direction, on
    /// this or another device. Source and target may overlap in one buffer: the target receives the old
    /// values. Throws usage_error if the element counts differ.
    ///
    ///     a.range(0, 100).copy_to(b.from(900));
    template <class To, waitable... Waits>
    pending copy_to(To&& to, Waits&&... waits) const {
        using Target = std::remove_reference_t<To>;
        if constexpr (!requires {
                          typename Target::value_type;
                          Target::direction;
                      }) {
            static_assert(detail::never<To>,
                          "Balm: the destination of a copy must be a buffer, a range or a region");
        } else {
            static_assert(detail::is_element_of<T, typename Target::value_type>,
                          "Balm: the source and the destination of a copy must have the same element type");
            static_assert(!std::is_const_v<Target>, "Balm: the destination of a copy must not be const");
            to.check_size("copy", size());
            return pending(detail::part_copy(to.part(), part(), wait_list(std::forward<Waits>(waits)...)));
        }
    }
    /// Sets every element, on the device.
    template <waitable... Waits>
    pending fill(const T& value, Waits&&... waits) {
        return pending(detail::part_fill(part(), &value, wait_list(std::forward<Waits>(waits)...)));
    }

    /// The location of the elements, for the runtime.
    const detail::memory_part& part() const {
        if (!part_.memory) [[unlikely]]
            detail::moved_from(part_.kind);
        return part_;
    }

protected:
    explicit device_elements(detail::memory_part part) : part_(std::move(part)) {}

private:
    template <class, access>
    friend class device_elements;

    void check_size(const char* what, std::size_t host) const {
        if (host != size()) detail::buffer_size_mismatch(what, shape(), host, part_.kind);
    }

    template <class Owner>
    pending write_owned(Owner&& from, const wait_list& waits) {
        check_size("write", from.size());
        auto owner = std::make_shared<const std::remove_cvref_t<Owner>>(std::forward<Owner>(from));
        const T* const elements = owner->data();
        return pending(detail::part_write(part(), elements, {std::move(owner)}, waits));
    }
    template <class First, class Last>
    pending write_each(First first, Last last, const wait_list& waits) {
        static_assert(detail::is_element_of<T, std::iter_value_t<First>>, BALM_OTHER_ELEMENTS);
        host_array<T> gathered(shape());
        std::size_t count = 0;
        for (; first != last; ++first, ++count)
            if (count < gathered.size()) gathered[count] = static_cast<T>(*first);
        check_size("write", count);
        return write_owned(std::move(gathered), waits);
    }

    detail::memory_part part_;
};

/// A box of elements in a buffer of two or three dimensions, or in a reshaped range: the result of
/// `m.region(origin, extents)`. It is written, read, copied and filled like a buffer; on the host it is an
/// array of its extents. A handle that keeps the memory alive.
///
///     auto m = device.mixed_buffer<float>(rows, columns);
///     m.region({0, 3}, {rows, 1}).fill(1.f);                      // the fourth column
///     m.region({2, 2}, {4, 4}).copy_to(m.region({10, 2}, {4, 4}));
///     balm::host_array<float> tile = m.region({8, 8}, {4, 4}).read();
template <class T, access Direction>
class buffer_region : public device_elements<T, Direction> {
public:
    /// Use buffer.region(…).
    explicit buffer_region(detail::memory_part part) : device_elements<T, Direction>(std::move(part)) {}
};

/// Contiguous elements of a buffer: the result of `b.range(first, last)`, `b.from(first)` and
/// `b.until(last)`. It is written, read, copied, filled and bound to kernels like a buffer; element 0 in the
/// kernel is the first element of the range. A handle that keeps the memory alive.
///
///     b.range(10, 20).write(ten);
///     b.from(90).copy_to(b.until(10));
///     device.execute(scale(2.f, a.range(0, n), b.from(n)), {n});
template <class T, access Direction>
class buffer_range : public device_elements<T, Direction> {
public:
    /// Use buffer.range(…).
    explicit buffer_range(detail::memory_part part) : device_elements<T, Direction>(std::move(part)) {}

    /// The elements [first, last), counted flat from 0. Throws usage_error if they are out of range.
    buffer_range range(std::size_t first, std::size_t last) const {
        return buffer_range(detail::part_range(this->part(), first, last));
    }
    /// The elements from `first` to the end.
    buffer_range from(std::size_t first) const { return range(first, this->size()); }
    /// The elements before `last`.
    buffer_range until(std::size_t last) const { return range(0, last); }
    /// A box of `extents` elements that begins at `origin`, both in the order of the shape: {row, column},
    /// {rows, columns}. Throws usage_error if it is out of range, or has another number of dimensions.
    buffer_region<T, Direction> region(const balm::shape& origin, const balm::shape& extents) const {
        return buffer_region<T, Direction>(detail::part_region(this->part(), origin, extents));
    }
    /// The same elements in another shape with the same element count. Throws usage_error if the counts
    /// differ.
    ///
    ///     auto column = flat.from(header).reshaped({rows, columns}).region({0, 3}, {rows, 1});
    buffer_range reshaped(const balm::shape& extents) const {
        return buffer_range(detail::part_reshaped(this->part(), extents));
    }
    /// The same bytes as elements of U. Throws usage_error if they are not a whole number of elements, or are
    /// misaligned for U.
    ///
    ///     auto vectors = floats.template as<balm::float4>();
    template <class U>
    buffer_range<U, Direction> as() const {
        return buffer_range<U, Direction>(detail::part_as(this->part(), sizeof(U), alignof(U)));
    }

    /// Maps the elements into host memory, after the events, for the accesses that the direction allows the
    /// host. Blocks. Elements that are not written keep their values.
    template <waitable... Waits>
    auto map(Waits&&... waits) const {
        constexpr auto use = Direction == access::in    ? detail::mapping_use::write
                             : Direction == access::out ? detail::mapping_use::read
                                                        : detail::mapping_use::read_write;
        using Element = std::conditional_t<Direction == access::out, const T, T>;
        return mapped<Element>(detail::part_map(this->part(), use, wait_list(std::forward<Waits>(waits)...)),
                               this->size());
    }
    /// The same, read-only: commands may read the buffer meanwhile.
    template <waitable... Waits>
    mapped<const T> map_to_read(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        return {detail::part_map(this->part(), detail::mapping_use::read,
                                 wait_list(std::forward<Waits>(waits)...)),
                this->size()};
    }
    /// The same, to overwrite all elements: nothing is transferred to the host, and the values of elements
    /// that are not written are unspecified.
    template <waitable... Waits>
    mapped<T> map_to_overwrite(Waits&&... waits) const requires host_may_write_this_buffer<Direction> {
        return {detail::part_map(this->part(), detail::mapping_use::overwrite,
                                 wait_list(std::forward<Waits>(waits)...)),
                this->size()};
    }

    /// The allocation, for the runtime.
    const std::shared_ptr<runtime::storage>& storage() const { return this->part().memory; }
    /// The offset of the range in the allocation, in bytes.
    std::size_t byte_offset() const { return this->part().offset; }
};

/// Memory for elements of T on one device, of one to three dimensions. It is freed when the last copy of the
/// handle, the last range of it and the last command that uses it are gone, or by free(). A bool takes one
/// byte.
///
///     auto a = device.in_buffer<float>(rows, columns);
///     balm::event written = a.write({1, 2, 3, 4});
template <class T, access Direction>
class buffer : public buffer_range<T, Direction> {
public:
    /// Use device.in_buffer<T>(…), out_buffer, mixed_buffer. Throws out_of_memory_error.
    buffer(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : buffer_range<T, Direction>({detail::buffer_allocate(on, extents, sizeof(T)), sizeof(T), extents}) {}

    /// Frees the memory as soon as the commands that use it have completed, even if other handles exist. Any
    /// later use, through this handle, a copy or a range, throws usage_error. Throws usage_error while the
    /// buffer is mapped. A second call does nothing.
    void free() { detail::storage_free(*this->storage()); }
};

/// A buffer of one element, written from a value and read as one.
///
///     auto total = device.mixed_buffer<float>();
///     total.write(2.f);
///     float got = total.read(done);
template <class T, access Direction>
class value_buffer : public buffer<T, Direction> {
public:
    /// Use device.in_buffer<T>(), out_buffer, mixed_buffer. Throws out_of_memory_error.
    explicit value_buffer(const std::shared_ptr<runtime::device_state>& on)
        : buffer<T, Direction>(on, balm::shape(1)) {}

    /// Writes the value, after the events.
    template <waitable... Waits>
    pending write(const T& value, Waits&&... waits) requires host_may_write_this_buffer<Direction> {
        return buffer<T, Direction>::write(std::span<const T>(&value, 1), std::forward<Waits>(waits)...);
    }
    /// Waits for the events and for pending writes, then returns the value. Blocks.
    template <waitable... Waits>
    T read(Waits&&... waits) const requires host_may_read_this_buffer<Direction> {
        return buffer<T, Direction>::read(std::forward<Waits>(waits)...)[0];
    }
};

#undef BALM_OTHER_ELEMENTS

/// A buffer that the host writes and kernels read.
template <class T>
using in_buffer = buffer<T, access::in>;
/// A buffer that kernels write and the host reads.
template <class T>
using out_buffer = buffer<T, access::out>;
/// A buffer that host and kernels write and read.
template <class T>
using mixed_buffer = buffer<T, access::mixed>;

/// The size in bytes on a device of the elements of host memory, or of a buffer or a part of one: of a span,
/// a vector, a host_array, a buffer, or one value. A bool takes one byte.
///
///     balm::size_on_device(std::vector<double>(10));  // 80
template <class Elements>
std::size_t size_on_device(const Elements& of) {
    if constexpr (requires { of.size_bytes(); })
        return of.size_bytes();
    else if constexpr (
        requires { std::size(of); } && requires { std::begin(of); })
        return std::size(of) * sizeof(std::iter_value_t<decltype(std::begin(of))>);
    else {
        static_assert(std::is_trivially_copyable_v<Elements>,
                      "Balm: size_on_device takes trivially copyable values, and ranges");
        return sizeof of;
    }
}

}  // namespace balm

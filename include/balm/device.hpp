#pragma once
// Devices: where buffers live and kernels run.

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>

#include "balm/buffer.hpp"
#include "balm/copy_path.hpp"
#include "balm/device_info.hpp"
#include "balm/device_pointer.hpp"
#include "balm/event.hpp"
#include "balm/image.hpp"
#include "balm/launcher.hpp"
#include "balm/managed_array.hpp"
#include "balm/memory_statistics.hpp"
#include "balm/queue.hpp"

namespace balm {

/// One device. A handle: copies are the same device. Nothing is started on it before it is first used.
///
///     balm::context ctx;
///     balm::device dev = ctx.device(0);
///     auto a = dev.in_buffer<float>(n), b = dev.out_buffer<float>(n);
///     a.write(host);
///     dev.execute(scale(2.f, a, b), {n});
///     auto got = b.read();
class device : public launcher<device> {
public:
    explicit device(std::shared_ptr<runtime::device_state> state) : state_(std::move(state)) {}

    /// What is known of it: name, sizes, limits, versions.
    const device_info& info() const;
    const std::string& name() const { return info().name; }

    /// Memory that the host writes and kernels read, of one to three dimensions: `in_buffer<float>(rows,
    /// columns)`. Its elements are not set. Throws out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::in_buffer<T> in_buffer(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::in_buffer<T> in_buffer(const shape& extents) const {
        return {state_, extents};
    }
    /// The same for one value: write(2.f), read().
    template <class T>
    value_buffer<T, access::in> in_buffer() const {
        return value_buffer<T, access::in>(state_);
    }
    /// Memory that kernels write and the host reads.
    template <class T, std::integral First, std::integral... Rest>
    balm::out_buffer<T> out_buffer(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::out_buffer<T> out_buffer(const shape& extents) const {
        return {state_, extents};
    }
    /// The same for one value: write(2.f), read().
    template <class T>
    value_buffer<T, access::out> out_buffer() const {
        return value_buffer<T, access::out>(state_);
    }
    /// Memory that host and kernels write and read.
    template <class T, std::integral First, std::integral... Rest>
    balm::mixed_buffer<T> mixed_buffer(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::mixed_buffer<T> mixed_buffer(const shape& extents) const {
        return {state_, extents};
    }
    /// The same for one value: write(2.f), read().
    template <class T>
    value_buffer<T, access::mixed> mixed_buffer() const {
        return value_buffer<T, access::mixed>(state_);
    }

    /// Memory for n elements by pointer, not set; freed with the last pointer into it. Throws
    /// out_of_memory_error.
    template <class T>
    device_pointer<T> allocate(std::size_t n) const {
        return device_pointer<T>(detail::pointer_allocate(state_, n, sizeof(T)), 0);
    }

    /// Memory under one address for host and device, of one to three dimensions, not set. Throws usage_error
    /// on a device that has none (device_info::shared_virtual_memory), out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::managed_array<T> managed_array(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::managed_array<T> managed_array(const shape& extents) const {
        return {state_, extents};
    }

    /// An image of one to three dimensions, row by row: `image<float>(height, width)`. Its elements are not
    /// set. Throws usage_error where the device has no such images, or none as large, and
    /// out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::image<T, 1 + static_cast<int>(sizeof...(Rest))> image(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    /// The same from a shape of N dimensions: `image<float, 2>({height, width})`. Throws usage_error for a
    /// shape of others.
    template <class T, int N>
    balm::image<T, N> image(const shape& extents) const {
        return {state_, extents};
    }

    /// Page-locked host memory, which transfers use in place. Its elements are not set. Throws
    /// out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::pinned_array<T> pinned_array(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::pinned_array<T> pinned_array(const shape& extents) const {
        return {state_, extents};
    }

    /// The queue that everything goes to which names no other: the device's own, or the one of a queue_scope.
    balm::queue queue() const;
    /// A further queue, whose commands run beside those of others. Without timing its events have no times
    /// (profile() throws usage_error), which saves two records a command on CUDA.
    balm::queue make_queue(bool timing = true) const;

    /// How a copy from another device's memory comes to this one: `from.copy_to(to)`. Starts both devices
    /// where that has to be asked of them.
    copy_path copies_from(const device& other) const;

    /// Waits until the work of all queues is done. Throws device_error if some failed.
    void finish() const;

    /// What the program has of the device's memory.
    ///
    ///     std::cout << device.memory().high_water << " bytes at most\n";
    memory_statistics memory() const;
    /// Has memory().high_water begin again with what is in use now.
    void reset_high_water() const;
    /// Gives the driver back what is kept for later buffers, but for `keep` bytes; returns how many it was.
    /// Happens by itself before an allocation fails.
    std::size_t trim(std::size_t keep = 0) const;
    /// Sets how many bytes are kept at most: an eighth of the device's memory by default.
    void set_memory_cache(std::size_t bytes) const;

    /// Finishes the work of all queues and gives back the memory of all buffers and vectors on the device
    /// now. Every later use, through this handle, a copy, a queue or a buffer, throws usage_error; a new
    /// context opens the device again. Throws device_error if some of the work failed; twice is once.
    void free() const;

    const std::shared_ptr<runtime::device_state>& state() const { return state_; }
    friend bool operator==(const device& a, const device& b) { return a.state_ == b.state_; }
    /// Its name and its backend: NVIDIA H100 (cuda).
    friend std::ostream& operator<<(std::ostream& to, const device& of) { return write(to, of); }

private:
    friend launcher<device>;
    event launch(const bound_call&, const detail::nd_range&, const wait_list&) const;
    static std::ostream& write(std::ostream&, const device&);

    std::shared_ptr<runtime::device_state> state_;
};

template <class T, access Direction>
device device_elements<T, Direction>::device() const {
    return balm::device(detail::storage_device(*part_.memory));
}

}  // namespace balm

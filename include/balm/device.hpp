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
#include "balm/shared_state.hpp"

namespace balm {

/// A device. A handle: copies refer to the same device. It is initialised on first use.
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

    /// Name, sizes, limits and versions of the device.
    const device_info& info() const;
    const std::string& name() const { return info().name; }

    /// Memory that the host writes and kernels read, of one to three dimensions: `in_buffer<float>(rows,
    /// columns)`. Its elements are uninitialised. Throws out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::in_buffer<T> in_buffer(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::in_buffer<T> in_buffer(const shape& extents) const {
        return {state_, extents};
    }
    /// The same for one value: write(2.f).
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
    /// The same for one value: read().
    template <class T>
    value_buffer<T, access::out> out_buffer() const {
        return value_buffer<T, access::out>(state_);
    }
    /// Memory that both host and kernels write and read.
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

    /// Uninitialised memory for n elements, accessed by pointer; freed with the last pointer into it. Throws
    /// out_of_memory_error.
    template <class T>
    device_pointer<T> allocate(std::size_t n) const {
        return device_pointer<T>(detail::pointer_allocate(state_, n, sizeof(T)), 0);
    }

    /// Uninitialised memory with the same address on host and device, of one to three dimensions. Throws
    /// usage_error if the device does not support it (device_info::shared_virtual_memory),
    /// out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::managed_array<T> managed_array(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::managed_array<T> managed_array(const shape& extents) const {
        return {state_, extents};
    }

    /// An image of one to three dimensions, row by row: `image<float>(height, width)`. Its elements are
    /// uninitialised. Throws usage_error if the device does not support such images, or none as large, and
    /// out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::image<T, 1 + static_cast<int>(sizeof...(Rest))> image(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    /// The same from a shape of N dimensions: `image<float, 2>({height, width})`. Throws usage_error for a
    /// shape with another number of dimensions.
    template <class T, int N>
    balm::image<T, N> image(const shape& extents) const {
        return {state_, extents};
    }

    /// Page-locked host memory, which transfers use in place. Its elements are uninitialised. Throws
    /// out_of_memory_error.
    template <class T, std::integral First, std::integral... Rest>
    balm::pinned_array<T> pinned_array(First size, Rest... sizes) const {
        return {state_, shape(size, sizes...)};
    }
    template <class T>
    balm::pinned_array<T> pinned_array(const shape& extents) const {
        return {state_, extents};
    }

    /// The default queue, which takes all commands that name no other: the device's own, or that of a
    /// queue_scope.
    balm::queue queue() const;
    /// A new queue, whose commands run concurrently with those of other queues. Without timing, its events
    /// have no times (profile() throws usage_error), which saves two event records per command on CUDA.
    balm::queue make_queue(bool timing = true) const;

    /// The path of a copy from another device's memory to this one's: `from.copy_to(to)`. Initialises both
    /// devices if their drivers must be queried.
    copy_path copies_from(const device& other) const;

    /// Waits until the commands of all queues have completed. Throws device_error if some failed.
    void finish() const;

    /// How much of the device's memory the program uses.
    ///
    ///     std::cout << device.memory().high_water << " bytes at most\n";
    memory_statistics memory() const;
    /// Resets memory().high_water to the current use.
    void reset_high_water() const;
    /// Releases cached memory, kept for later buffers, to the driver until at most `keep` bytes remain;
    /// returns the number of bytes released. Happens automatically before an allocation fails.
    std::size_t trim(std::size_t keep = 0) const;
    /// Sets how many bytes are cached at most: by default an eighth of the device's memory.
    void set_memory_cache(std::size_t bytes) const;

    /// Finishes the work of all queues, then frees the memory of all buffers and vectors on the device
    /// immediately. Any later use, through this handle, a copy, a queue or a buffer, throws usage_error; a
    /// new context reopens the device. Throws device_error if some of the work failed. A second call does
    /// nothing.
    void free() const;

    const std::shared_ptr<runtime::device_state>& state() const { return state_; }
    friend bool operator==(const device& a, const device& b) { return a.state_ == b.state_; }
    /// Prints its name and backend: NVIDIA H100 (cuda).
    friend std::ostream& operator<<(std::ostream& to, const device& of) { return write(to, of); }

private:
    friend launcher<device>;
    event launch(const bound_call&, const detail::nd_range&, const wait_list&) const;
    static std::ostream& write(std::ostream&, const device&);

    detail::shared_state<runtime::device_state> state_;
};

template <class T, access Direction>
device device_elements<T, Direction>::device() const {
    return balm::device(detail::storage_device(*part().memory));
}

}  // namespace balm

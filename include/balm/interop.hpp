#pragma once
// Interoperation: exchanges native handles with the drivers without a copy. Balm adopts contexts, queues and
// memory that other code created, hands out its own, and runs native commands among its own.
//
// Ownership follows one rule: Balm shares what it adopts, keeps owning what it hands out, and destroys
// nothing that it did not create. It retains OpenCL objects while it uses them. CUDA has no reference counts,
// so CUDA objects must outlive their adopters and all pending work. A handle that Balm hands out is valid for
// the lifetime of the object that returned it.
//
// Neither this header nor building Balm needs a driver's header.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/device.hpp"
#include "balm/function_ref.hpp"
#include "balm/vector.hpp"

namespace balm {

/// A driver's handle of any type. It is constructed from, and converts to, a pointer (cl_mem,
/// cl_command_queue, cl_context, CUstream, cudaStream_t, CUcontext, a result of cudaMalloc) or a CUdeviceptr.
///
///     cl_command_queue q = balm::native(queue);
///     CUdeviceptr address = balm::native(buffer).handle;
class native_handle {
public:
    native_handle() = default;
    native_handle(std::nullptr_t) {}
    template <class Object>
    native_handle(Object* pointer) : value_(reinterpret_cast<std::uintptr_t>(pointer)) {}
    native_handle(unsigned long long address) : value_(static_cast<std::uintptr_t>(address)) {}

    template <class Object>
    operator Object*() const {
        return std::bit_cast<Object*>(value_);
    }
    operator unsigned long long() const { return value_; }
    explicit operator bool() const { return value_ != 0; }
    std::uintptr_t value() const { return value_; }

private:
    std::uintptr_t value_ = 0;
};

/// Native memory: on OpenCL a cl_mem and an offset in it; on CUDA an address, with offset 0.
struct native_memory {
    native_handle handle;
    std::size_t byte_offset = 0;
};

/// A native device: a cl_context and a cl_device_id, or a CUcontext and the number of a CUdevice.
struct native_device {
    native_handle context;
    native_handle device;
};

namespace detail {

/// Types with an allocation and an offset in it: buffers, ranges, pointers and vectors.
template <class A>
concept native_memory_argument = requires(const A& a) {
    a.storage();
    a.byte_offset();
};

memory_part adopted_part(const std::shared_ptr<runtime::device_state>&, native_handle,
                         std::optional<std::size_t> count, std::size_t element_size, std::size_t alignment,
                         std::size_t byte_offset);
native_memory native_of(const std::shared_ptr<runtime::storage>&, std::size_t offset);
std::shared_ptr<array::vector_state> vector_over(const memory_part&, trace::type);

using storage_list = std::vector<std::shared_ptr<runtime::storage>>;
event run_native(const std::shared_ptr<runtime::queue_state>&, function_ref<void(void*)>,
                 const storage_list& reads, const storage_list& writes, const wait_list&);

}  // namespace detail

// ---- in ----

/// The device of a cl_context that other code created, and of a cl_device_id in it: a separate device, with
/// that context, on the same hardware. The same handles return the same device. Use it with memory and queues
/// of the context. Throws usage_error if the device is not part of the context.
///
///     balm::device dev = balm::adopt_opencl(context, device_id);
device adopt_opencl(native_handle context, native_handle device);
/// The same for the context and the device of a cl_command_queue.
///
///     balm::device dev = balm::adopt_opencl_of(queue);
device adopt_opencl_of(native_handle queue);

/// The device of a CUcontext that other code created. For the primary context, which CUDA's runtime uses, it
/// is the device that balm::context chooses from. Throws usage_error for a null or invalid context, and if
/// there is no CUDA driver.
device adopt_cuda(native_handle context);

/// A cl_command_queue or CUstream of the device's context as a queue. Its commands, whether Balm or other
/// code submits them, run in the order in which they are submitted. The same handle is the same queue, while
/// it is in use. Throws usage_error for a queue of another context, or an out-of-order queue.
///
///     balm::queue q = balm::adopt_queue(dev, stream);
queue adopt_queue(const device&, native_handle queue);

/// `count` elements of T in memory that other code allocated (all to its end if nullopt): from `byte_offset`
/// on in a cl_mem, a CUdeviceptr or a result of cudaMalloc. The result works like any range of a buffer.
/// Hazards are tracked per allocation, however often and in whatever parts it is adopted, even if Balm
/// allocated it. Throws usage_error for memory of another context or device, memory that is too small, or an
/// offset that is misaligned for T.
///
///     auto elements = balm::adopt_memory<float>(dev, mem, n);
///     dev.execute(scale(2.f, elements), {n});
template <class T>
buffer_range<T, access::mixed> adopt_memory(const device& on, native_handle memory,
                                            std::optional<std::size_t> count = {},
                                            std::size_t byte_offset = 0) {
    return buffer_range<T, access::mixed>(
        detail::adopted_part(on.state(), memory, count, sizeof(T), alignof(T), byte_offset));
}

/// A vector that shares the elements of a buffer, of a range of one, or of adopted memory. On OpenCL, throws
/// usage_error if the offset is not a multiple of device_info::memory_alignment.
///
///     balm::vector<double> x = balm::as_vector(balm::adopt_memory<double>(dev, mem, n));
///     x = 2 * x + 1;
template <class T>
vector<T> as_vector(const buffer_range<T, access::mixed>& elements) {
    return vector<T>(detail::vector_over(elements.part(), detail::array_type<T>()));
}

// ---- out ----

/// The native memory of a buffer, range, pointer or vector, from its first element on.
///
///     cl_mem mem = balm::native(buffer).handle;
template <detail::native_memory_argument Memory>
native_memory native(const Memory& of) {
    return detail::native_of(of.storage(), of.byte_offset());
}
/// The cl_command_queue or CUstream of a queue. Native commands submitted to it run after those that Balm has
/// submitted, and before those that it submits later. Blocks until commands that Balm holds back, because
/// they depend on another backend or on a user event, are submitted. Balm cannot see which memory native
/// commands access: see run_native.
native_handle native(const queue&);
/// The native context and device. Initialises the device.
native_device native(const device&);

// ---- native commands ----

/// The memory that native commands read: buffers, ranges, pointers, vectors.
struct reads {
    template <detail::native_memory_argument... Memory>
    explicit reads(const Memory&... memory) : list{memory.storage()...} {}
    detail::storage_list list;
};
/// The memory that native commands write.
struct writes {
    template <detail::native_memory_argument... Memory>
    explicit writes(const Memory&... memory) : list{memory.storage()...} {}
    detail::storage_list list;
};

/// Runs native commands as one command of a queue: calls `give`, which submits them to the native queue that
/// it receives. They run after the given events and after all commands on any queue that access the same
/// memory; later commands wait for them. `give` is called immediately, on this thread; on CUDA the device's
/// context is current in it. Its exceptions propagate. Throws usage_error for memory of another device.
///
///     balm::event done = balm::run_native(queue, balm::reads(a), balm::writes(b), [&](balm::native_handle q)
///     {
///         clEnqueueNDRangeKernel(q, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr);
///     });
template <std::invocable<native_handle> Give, waitable... Waits>
pending run_native(const queue& on, const reads& read, const writes& written, Give&& give, Waits&&... waits) {
    return pending(detail::run_native(
        on.state(), [&give](void* queue) { give(native_handle(queue)); }, read.list, written.list,
        wait_list(std::forward<Waits>(waits)...)));
}

}  // namespace balm

#pragma once
// Interoperation: the drivers' own handles in and out, without a copy. What other code made (contexts,
// queues, memory) is adopted; what Balm made is handed out; and commands of the program's own stand among
// Balm's.
//
// One rule of ownership. What Balm adopts it shares: OpenCL objects are retained while Balm uses them; CUDA
// counts no references, so there they must outlive what adopted them, and its work. Balm never destroys what
// it did not make. What Balm hands out stays Balm's, and lives as long as the object it is asked of.
//
// No driver's header is needed, here or to build Balm.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/device.hpp"
#include "balm/function_ref.hpp"
#include "balm/vector.hpp"

namespace balm {

/// A driver's handle, of whatever type: made from a pointer (cl_mem, cl_command_queue, cl_context, CUstream,
/// cudaStream_t, CUcontext, what cudaMalloc gave) or a CUdeviceptr, and converts to them.
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

/// Memory as its driver names it: a cl_mem and where in it; on CUDA an address, and 0.
struct native_memory {
    native_handle handle;
    std::size_t byte_offset = 0;
};

/// A device as its driver names it: a cl_context and a cl_device_id, or a CUcontext and the number that a
/// CUdevice is.
struct native_device {
    native_handle context;
    native_handle device;
};

namespace detail {

/// Buffers, ranges, pointers and vectors: what has an allocation and a place in it.
template <class A>
concept native_memory_argument = requires(const A& a) {
    a.storage();
    a.byte_offset();
};

memory_part adopted_part(const std::shared_ptr<runtime::device_state>&, native_handle, std::size_t count,
                         std::size_t element_size, std::size_t alignment, std::size_t byte_offset);
native_memory native_of(const std::shared_ptr<runtime::storage>&, std::size_t offset);
std::shared_ptr<array::vector_state> vector_over(const memory_part&, trace::type);

using storage_list = std::vector<std::shared_ptr<runtime::storage>>;
event run_native(const std::shared_ptr<runtime::queue_state>&, function_ref<void(void*)>,
                 const storage_list& reads, const storage_list& writes, const wait_list&);

}  // namespace detail

// ---- in ----

/// The device of an OpenCL context, cl_context and cl_device_id, that other code made: a device of its own,
/// with that context, on the same hardware; the same one whenever it is asked for. Memory and queues of the
/// context are used with it. Throws usage_error where the device is not of the context.
///
///     balm::device dev = balm::adopt_opencl(context, device_id);
device adopt_opencl(native_handle context, native_handle device);

/// The device of a CUcontext that other code made. For the primary context, that of CUDA's runtime, it is the
/// one that balm::context chooses from. Throws usage_error.
device adopt_cuda(native_handle context);

/// A cl_command_queue or CUstream of the device's context as a queue of Balm's. Balm's commands and those
/// that other code gives to it come one after the other, in the order in which they are given. Throws
/// usage_error for a queue of another context, or one that is not in order.
///
///     balm::queue q = balm::adopt_queue(dev, stream);
queue adopt_queue(const device&, native_handle queue);

/// `count` elements of T in memory that other code made: a cl_mem from `byte_offset` on, a CUdeviceptr or
/// what cudaMalloc gave. It is used as any range of a buffer is, in every place; the same allocation is the
/// same memory, however often and in whatever parts it is adopted, also if Balm allocated it. Throws
/// usage_error for memory of another context or device, that is too small, or where T is not aligned.
///
///     auto elements = balm::adopt_memory<float>(dev, mem, n);
///     dev.execute(scale(2.f, elements), {n});
template <class T>
buffer_range<T, access::mixed> adopt_memory(const device& on, native_handle memory, std::size_t count,
                                            std::size_t byte_offset = 0) {
    return buffer_range<T, access::mixed>(
        detail::adopted_part(on.state(), memory, count, sizeof(T), alignof(T), byte_offset));
}

/// The elements of a buffer, a part of one, or adopted memory as a vector, which shares them. Throws
/// usage_error where OpenCL binds no memory from that offset on (device_info::memory_alignment).
///
///     balm::vector<double> x = balm::as_vector(balm::adopt_memory<double>(dev, mem, n));
///     x = 2 * x + 1;
template <class T>
vector<T> as_vector(const buffer_range<T, access::mixed>& elements) {
    return vector<T>(detail::vector_over(elements.part(), detail::array_type<T>()));
}

// ---- out ----

/// The native memory of a buffer, range, pointer or vector: of its first element.
///
///     cl_mem mem = balm::native(buffer).handle;
template <detail::native_memory_argument Memory>
native_memory native(const Memory& of) {
    return detail::native_of(of.storage(), of.byte_offset());
}
/// The cl_command_queue or CUstream of a queue. Commands given to it come after those that Balm gave to the
/// queue before, and before those that it gives later; what Balm holds back, since it waits for another
/// backend or for an event of the program's, is waited for here. Balm does not know what such commands use:
/// see run_native.
native_handle native(const queue&);
/// The context and the device; starts the device.
native_device native(const device&);

// ---- commands of the program's own ----

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

/// Native commands as one command of a queue's: calls `give` with the native queue, to which it hands them.
/// They come after the events and after whatever commands of any queue they share this memory with, and later
/// commands come after them. `give` is called at once, on this thread; on CUDA the device's context is then
/// current. What it throws is thrown on. Throws usage_error for memory of another device.
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

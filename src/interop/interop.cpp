// Converts driver handles to Balm's objects and back: the driver checks that a handle fits, the runtime keeps
// one object per handle.

#include "balm/interop.hpp"

#include <fmt/format.h>

#include "array/vector_state.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/platform.hpp"
#include "runtime/device/process_exit.hpp"

namespace balm {

namespace runtime {

void driver_device::refuse_native() const {
    throw usage_error(
        fmt::format("Device '{}' ({}) has no native handles.", info().name, to_string(info().api)));
}

namespace {

/// The device that has this context, or a new one.
template <class Adopt>
device device_of(backend api, void* context, void* id, Adopt&& adopt) {
    platforms();  // adds the devices that Balm finds to the live ones
    for (const auto& each : live_devices())
        if (each->info().api == api && !each->is_freed() && each->driver().is_native(context, id))
            return device(each);
    return device(device_state::make(adopt()));
}

std::vector<storage*> pointers(const balm::detail::storage_list& list) {
    std::vector<storage*> made;
    for (const std::shared_ptr<storage>& each : list) {
        if (each == nullptr)
            throw usage_error(
                "run_native got a null device_pointer or a vector without a device; make it with "
                "device.allocate<T>(n) or balm::vector<T>(context, n).");
        made.push_back(each.get());
    }
    return made;
}

}  // namespace

}  // namespace runtime

device adopt_opencl(native_handle context, native_handle device) {
    return runtime::device_of(backend::opencl, context, device,
                              [&] { return runtime::adopt_opencl_context(context, device); });
}

device adopt_opencl_of(native_handle queue) {
    const auto [context, device] = runtime::opencl_context_of(queue);
    return adopt_opencl(context, device);
}

device adopt_cuda(native_handle context) {
    return runtime::device_of(backend::cuda, context, nullptr,
                              [&] { return runtime::adopt_cuda_context(context); });
}

queue adopt_queue(const device& on, native_handle native) { return queue(on.state()->adopt_queue(native)); }

native_handle native(const queue& of) {
    runtime::queue_state& queue = *of.state();
    queue.device().check();
    queue.wait_until_handed_over(queue.submitted());
    return queue.driver().native();
}

native_device native(const device& of) {
    of.state()->check();
    runtime::driver_device& driver = of.state()->driver();
    return {driver.native_context(), driver.native_device()};
}

namespace detail {

memory_part adopted_part(const std::shared_ptr<runtime::device_state>& on, native_handle memory,
                         std::optional<std::size_t> wanted, std::size_t element_size, std::size_t alignment,
                         std::size_t byte_offset) {
    runtime::foreign_memory found;
    memory_part part;
    part.memory = on->adopt(memory.value(), found);
    const std::size_t available =
        byte_offset > found.given_bytes ? 0 : (found.given_bytes - byte_offset) / element_size;
    const std::size_t count = wanted.value_or(available);
    if (byte_offset > found.given_bytes || count > available)
        throw usage_error(
            fmt::format("Cannot adopt {} elements of {} bytes at byte {} on {}: the memory has {} bytes "
                        "after its handle.",
                        count, element_size, byte_offset, on->words(), found.given_bytes));
    part.offset = found.offset + byte_offset;
    if ((found.address + part.offset) % alignment != 0)
        throw usage_error(
            fmt::format("Cannot adopt elements of {} bytes at byte {} of their memory on {}: they must begin "
                        "at a multiple of {}.",
                        element_size, part.offset, on->words(), alignment));
    part.element_size = element_size;
    part.extents = shape(count);
    part.kind = "a range";
    return part;
}

native_memory native_of(const std::shared_ptr<runtime::storage>& memory, std::size_t offset) {
    if (memory == nullptr)
        throw usage_error("A null device_pointer or a vector without a device has no native memory.");
    if (memory->is_restricted()) memory->check_usable(runtime::use::read);
    const std::uintptr_t handle = memory->native().handle;
    if (kernels::features_of(memory->device()).passes_addresses)
        return {static_cast<unsigned long long>(handle + offset), 0};
    return {static_cast<unsigned long long>(handle), offset};
}

event run_native(const std::shared_ptr<runtime::queue_state>& on, function_ref<void(void*)> give,
                 const storage_list& reads, const storage_list& writes, const wait_list& waits) {
    event made;
    on->enqueue_native(give, runtime::pointers(reads), runtime::pointers(writes), waits.events(), &made);
    return made;
}

std::shared_ptr<array::vector_state> vector_over(const memory_part& part, trace::type type) {
    const runtime::device_state& device = part.memory->device();
    const std::size_t alignment = device.info().memory_alignment;
    if (!kernels::features_of(device).passes_addresses && alignment != 0 && part.offset % alignment != 0)
        throw usage_error(
            fmt::format("A vector cannot begin at byte {} of its memory on {}, which binds memory only at "
                        "multiples of {} bytes; use the elements as a buffer.",
                        part.offset, device.words(), alignment));
    return std::make_shared<array::vector_state>(part.memory, type, part.extents.count(), part.offset);
}

}  // namespace detail

}  // namespace balm

// Adopts contexts, queues and memory made by others: checks that they belong to a device, and retains them.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "balm/error.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device.hpp"
#include "driver/opencl/device_query.hpp"
#include "driver/opencl/queue.hpp"

namespace balm::opencl {

namespace {

/// One property of an object. Throws usage_error if the driver does not know the object.
template <class Value, class Handle, class Property>
Value property_of(Handle of, Property what,
                  cl_int(CL_API_CALL* ask)(Handle, Property, size_t, void*, size_t*), const char* call,
                  const char* object, const std::string& to) {
    Value value{};
    const cl_int code = ask(of, what, sizeof value, &value, nullptr);
    if (code == CL_SUCCESS) return value;
    throw usage_error(
        fmt::format("{} failed with {} ({}) for {} passed to {}.", call, error_name(code), code, object, to));
}

cl_mem_flags access_of(cl_mem_flags flags) {
    return flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE);
}

std::vector<cl_device_id> devices_of(cl_context of) {
    std::size_t bytes = 0;
    cl_int code = loader().clGetContextInfo(of, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
    std::vector<cl_device_id> found(code == CL_SUCCESS ? bytes / sizeof(cl_device_id) : 0);
    if (code == CL_SUCCESS)
        code = loader().clGetContextInfo(of, CL_CONTEXT_DEVICES, bytes, found.data(), nullptr);
    if (code != CL_SUCCESS)
        throw usage_error(fmt::format(
            "clGetContextInfo failed with {} ({}) for the cl_context passed to balm::adopt_opencl.",
            error_name(code), code));
    return found;
}

}  // namespace

std::unique_ptr<runtime::driver_queue> device::adopt_queue(void* native, runtime::queue_options& options) {
    const auto given = static_cast<cl_command_queue>(native);
    if (given == nullptr)
        throw usage_error(
            fmt::format("A null cl_command_queue was passed to device '{}'; create one with "
                        "clCreateCommandQueue, or use device.make_queue().",
                        name()));
    const auto ask = [&]<class Value>(cl_command_queue_info what, Value) {
        return property_of<Value>(given, what, loader().clGetCommandQueueInfo, "clGetCommandQueueInfo",
                                  "a cl_command_queue", fmt::format("device '{}'", name()));
    };
    if (ask(CL_QUEUE_CONTEXT, cl_context{}) != ready_context_.load(std::memory_order_acquire) ||
        ask(CL_QUEUE_DEVICE, cl_device_id{}) != id_)
        throw usage_error(fmt::format(
            "The cl_command_queue passed to device '{}' belongs to another cl_context or device; use it with "
            "the device that balm::adopt_opencl(context, device) returns for its context and device.",
            name()));
    const auto properties = ask(CL_QUEUE_PROPERTIES, cl_command_queue_properties{});
    if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
        throw usage_error(
            fmt::format("The cl_command_queue passed to device '{}' is out-of-order; Balm requires in-order "
                        "queues: create it without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE.",
                        name()));
    options.timing = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    check(loader().clRetainCommandQueue(given), "clRetainCommandQueue", "an adopted queue", name());
    return std::make_unique<queue>(shared_from_this(), owned_queue(given));
}

bool device::shares_context_with(const runtime::driver_device& other) const {
    if (other.info().api != backend::opencl) return false;
    cl_context own = ready_context_.load(std::memory_order_acquire);
    return own != nullptr &&
           static_cast<const device&>(other).ready_context_.load(std::memory_order_acquire) == own;
}

runtime::foreign_memory device::adopt_memory(std::uintptr_t handle) {
    const auto given = std::bit_cast<cl_mem>(handle);
    if (given == nullptr)
        throw usage_error(
            fmt::format("A null cl_mem was passed to device '{}'; create one with clCreateBuffer.", name()));
    const auto ask = [&]<class Value>(cl_mem of, cl_mem_info what, Value) {
        return property_of<Value>(of, what, loader().clGetMemObjectInfo, "clGetMemObjectInfo", "a cl_mem",
                                  fmt::format("device '{}'", name()));
    };
    if (ask(given, CL_MEM_TYPE, cl_mem_object_type{}) != CL_MEM_OBJECT_BUFFER)
        throw usage_error(fmt::format(
            "The cl_mem passed to device '{}' is not a buffer; create it with clCreateBuffer.", name()));
    if (ask(given, CL_MEM_CONTEXT, cl_context{}) != ready_context_.load(std::memory_order_acquire))
        throw usage_error(
            fmt::format("The cl_mem passed to device '{}' belongs to another cl_context; use it with the "
                        "device that balm::adopt_opencl(context, device) returns for its context.",
                        name()));
    // Hazards are tracked per allocation: those of a sub-buffer are tracked with its buffer.
    cl_mem whole = ask(given, CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem{});
    runtime::foreign_memory found;
    if (whole != nullptr) found.offset = ask(given, CL_MEM_OFFSET, std::size_t{});
    if (whole == nullptr) whole = given;
    const auto flags = ask(whole, CL_MEM_FLAGS, cl_mem_flags{});
    if (access_of(ask(given, CL_MEM_FLAGS, cl_mem_flags{})) != access_of(flags))
        throw usage_error(
            fmt::format("The sub-buffer passed to device '{}' has different access flags from its parent "
                        "buffer; create it with the same flags, or pass the parent buffer and an offset.",
                        name()));
    found.native = {std::bit_cast<std::uintptr_t>(whole)};
    found.bytes = ask(whole, CL_MEM_SIZE, std::size_t{});
    found.given_bytes = ask(given, CL_MEM_SIZE, std::size_t{});
    found.kernels_may_read = (flags & CL_MEM_WRITE_ONLY) == 0;
    found.kernels_may_write = (flags & CL_MEM_READ_ONLY) == 0;
    if ((flags & CL_MEM_USE_HOST_PTR) != 0)
        found.address =
            std::bit_cast<std::uintptr_t>(ask(whole, CL_MEM_HOST_PTR, static_cast<void*>(nullptr)));
    check(loader().clRetainMemObject(whole), "clRetainMemObject", "adopted memory", name());
    return found;
}

}  // namespace balm::opencl

namespace balm::runtime {

namespace {

/// Throws usage_error for a null handle, and without OpenCL, when no handle can be valid.
void check_handle(const void* given, const char* type, const char* function, const char* maker) {
    if (given == nullptr)
        throw usage_error(fmt::format("A null {} was passed to {}; get one from {}.", type, function, maker));
    if (!opencl::load_loader().is_ready)
        throw usage_error(fmt::format("A {} was passed to {}, but this machine has no usable OpenCL loader.",
                                      type, function));
}

}  // namespace

std::shared_ptr<driver_device> adopt_opencl_context(void* context, void* device) {
    const auto given = static_cast<cl_context>(context);
    const auto id = static_cast<cl_device_id>(device);
    check_handle(given, "cl_context", "balm::adopt_opencl", "clCreateContext");
    check_handle(id, "cl_device_id", "balm::adopt_opencl", "clGetDeviceIDs");
    const std::vector<cl_device_id> devices = opencl::devices_of(given);
    if (std::find(devices.begin(), devices.end(), id) == devices.end())
        throw usage_error(
            "The cl_device_id passed to balm::adopt_opencl does not belong to the cl_context; pass one of "
            "the context's devices (CL_CONTEXT_DEVICES).");
    cl_platform_id platform = nullptr;
    opencl::check(
        opencl::loader().clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr),
        "clGetDeviceInfo", "the platform of an adopted device", "OpenCL");
    opencl::check(opencl::loader().clRetainContext(given), "clRetainContext", "an adopted context", "OpenCL");
    return std::make_shared<opencl::device>(platform, id, opencl::owned_context(given));
}

std::pair<void*, void*> opencl_context_of(void* queue) {
    const auto given = static_cast<cl_command_queue>(queue);
    check_handle(given, "cl_command_queue", "balm::adopt_opencl_of", "clCreateCommandQueue");
    const auto ask = [&]<class Value>(cl_command_queue_info what, Value) {
        return opencl::property_of<Value>(given, what, opencl::loader().clGetCommandQueueInfo,
                                          "clGetCommandQueueInfo", "a cl_command_queue",
                                          "balm::adopt_opencl_of");
    };
    return {ask(CL_QUEUE_CONTEXT, cl_context{}), ask(CL_QUEUE_DEVICE, cl_device_id{})};
}

}  // namespace balm::runtime

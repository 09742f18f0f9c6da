#include "driver/opencl/event.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device_query.hpp"

namespace balm::opencl {

namespace {

const char* command_name(cl_event of) noexcept {
    cl_command_type type = 0;
    loader().clGetEventInfo(of, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
    switch (type) {
        case CL_COMMAND_NDRANGE_KERNEL: return "a kernel launch";
        case CL_COMMAND_READ_BUFFER: return "a read of a buffer";
        case CL_COMMAND_WRITE_BUFFER: return "a write of a buffer";
        case CL_COMMAND_COPY_BUFFER: return "a copy between buffers";
        case CL_COMMAND_FILL_BUFFER: return "a fill of a buffer";
        case CL_COMMAND_READ_BUFFER_RECT: return "a read of a region of a buffer";
        case CL_COMMAND_WRITE_BUFFER_RECT: return "a write of a region of a buffer";
        case CL_COMMAND_COPY_BUFFER_RECT: return "a copy between regions of buffers";
        case CL_COMMAND_MAP_BUFFER: return "the mapping of a buffer";
        case CL_COMMAND_UNMAP_MEM_OBJECT: return "the unmapping of a buffer";
        case CL_COMMAND_MARKER: return "a point in the queue";
        default: return "a command";
    }
}

// Queried only for error messages, so that an event needs no reference to its device.
std::string device_name(cl_command_queue of) {
    cl_device_id id = nullptr;
    std::array<char, 256> name{};
    if (loader().clGetCommandQueueInfo(of, CL_QUEUE_DEVICE, sizeof(cl_device_id), &id, nullptr) == CL_SUCCESS)
        loader().clGetDeviceInfo(id, CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
    return name.data();
}

/// CL_QUEUED if the query fails: memory of a command that may be running must not be considered free.
cl_int execution_status(cl_event of) noexcept {
    cl_int status = CL_QUEUED;
    const cl_int code =
        loader().clGetEventInfo(of, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    return code == CL_SUCCESS ? status : CL_QUEUED;
}

}  // namespace

event::event(cl_command_queue queue, cl_context context) : context_(context) {
    if (loader().clRetainCommandQueue(queue) == CL_SUCCESS) queue_ = owned_queue(queue);
}

void event::flush() noexcept {
    if (queue_.get() != nullptr && !flushed_.load(std::memory_order_relaxed))
        flushed_.store(loader().clFlush(queue_.get()) == CL_SUCCESS,
                       std::memory_order_relaxed);  // otherwise the next call tries again
}

bool event::is_complete() {
    if (execution_status(event_.get()) <= CL_COMPLETE) return true;
    flush();
    return false;
}

void event::wait() {
    cl_event waited = event_.get();
    const cl_int code = loader().clWaitForEvents(1, &waited);
    const cl_int status = execution_status(waited);
    if (status < 0)
        throw device_error(fmt::format("The device reported {} ({}) for {} on device '{}'.",
                                       error_name(status), status, command_name(waited),
                                       device_name(queue_.get())));
    if (code != CL_SUCCESS) fail(code, "clWaitForEvents", command_name(waited), device_name(queue_.get()));
}

timestamps event::times() {
    wait();
    const auto time = [&](cl_profiling_info what) {
        cl_ulong nanoseconds = 0;
        const cl_int code =
            loader().clGetEventProfilingInfo(event_.get(), what, sizeof nanoseconds, &nanoseconds, nullptr);
        if (code == CL_PROFILING_INFO_NOT_AVAILABLE)
            throw usage_error(
                fmt::format("This event of device '{}' has no timestamps: its queue was created without "
                            "timing. Create the queue with make_queue(true).",
                            device_name(queue_.get())));
        if (code != CL_SUCCESS)
            fail(code, "clGetEventProfilingInfo", command_name(event_.get()), device_name(queue_.get()));
        return nanoseconds;
    };
    timestamps at;
    at.queued = time(CL_PROFILING_COMMAND_QUEUED);
    at.submitted = time(CL_PROFILING_COMMAND_SUBMIT);
    at.started = time(CL_PROFILING_COMMAND_START);
    at.ended = time(CL_PROFILING_COMMAND_END);
    if (begin_ != nullptr) {
        const timestamps begin = begin_->times();
        at.queued = begin.queued;
        at.submitted = begin.submitted;
        at.started = begin.ended;
    }
    return at;
}

wait_list::wait_list(std::span<const runtime::event_handle> wait_for, cl_command_queue queue,
                     cl_context context) {
    if (wait_for.size() > few_.size()) many_.resize(wait_for.size());
    cl_event* const list = many_.empty() ? few_.data() : many_.data();
    for (const runtime::event_handle& handle : wait_for) {
        if (handle == nullptr) continue;  // has already completed
        auto& waited = static_cast<event&>(*handle);
        if (waited.context() != context) {
            waited.wait();
            continue;
        }
        if (waited.queue() != queue) waited.flush();
        list[count_++] = waited.get();
    }
}

}  // namespace balm::opencl

#include "backend/opencl/queue.hpp"

#include <fmt/format.h>

#include <bit>

#include "backend/opencl/check.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/event.hpp"
#include "backend/opencl/program.hpp"

namespace balm::opencl {

namespace {

cl_mem buffer(runtime::memory of) { return std::bit_cast<cl_mem>(of.handle); }

std::string range(const char* what, std::size_t offset, std::size_t bytes) {
    return fmt::format("{} of {} bytes at offset {}", what, bytes, offset);
}

std::string launch_text(const kernel& of, const runtime::grid& over) {
    return fmt::format("kernel '{}' over {} x {} x {} work-items in groups of {} x {} x {}", of.name(),
                       over.global[0], over.global[1], over.global[2], over.local[0], over.local[1],
                       over.local[2]);
}

}  // namespace

queue::queue(std::shared_ptr<device> of) : device_(std::move(of)), context_(device_->context()) {
    cl_int code = CL_SUCCESS;
    queue_ = owned_queue(clCreateCommandQueue(context_, device_->id(), CL_QUEUE_PROFILING_ENABLE, &code));
    check(code, "clCreateCommandQueue", "an in-order queue with profiling", device_->name());
}

template <class Enqueue>
cl_int queue::submit(const runtime::dependencies& needs, Enqueue&& enqueue) {
    const wait_list waits(needs.wait_for, queue_.get(), context_);
    cl_event made = nullptr;
    const cl_int code = enqueue(waits.count(), waits.events(), needs.made != nullptr ? &made : nullptr);
    if (code == CL_SUCCESS && needs.made != nullptr)
        *needs.made = std::make_shared<event>(made, queue_.get(), context_);
    return code;
}

void queue::write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
                  const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueWriteBuffer(queue_.get(), buffer(to), CL_FALSE, offset, bytes, from, count, events,
                                    made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueWriteBuffer", range("a write", offset, bytes), device_->name());
}

void queue::read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
                 const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueReadBuffer(queue_.get(), buffer(from), CL_FALSE, offset, bytes, to, count, events,
                                   made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueReadBuffer", range("a read", offset, bytes), device_->name());
}

void queue::copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
                 std::size_t bytes, const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueCopyBuffer(queue_.get(), buffer(from), buffer(to), from_offset, to_offset, bytes,
                                   count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueCopyBuffer",
             fmt::format("a copy of {} bytes from offset {} to offset {}", bytes, from_offset, to_offset),
             device_->name());
}

void queue::fill(runtime::memory to, std::size_t offset, std::size_t bytes,
                 std::span<const std::byte> pattern, const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueFillBuffer(queue_.get(), buffer(to), pattern.data(), pattern.size(), offset, bytes,
                                   count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueFillBuffer",
             range("a fill", offset, bytes) + fmt::format(" with a pattern of {} bytes", pattern.size()),
             device_->name());
}

void queue::launch(runtime::driver_kernel& launched, const runtime::grid& over,
                   std::span<const runtime::argument> arguments, const runtime::dependencies& needs) {
    auto& own = static_cast<kernel&>(launched);
    own.set_arguments(arguments);
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueNDRangeKernel(queue_.get(), own.get(), over.dimensions, over.offset.data(),
                                      over.global.data(), over.local.data(), count, events, made);
    });
    if (code != CL_SUCCESS) fail(code, "clEnqueueNDRangeKernel", launch_text(own, over), device_->name());
}

runtime::event_handle queue::record() {
    cl_event made = nullptr;
    check(clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &made), "clEnqueueMarkerWithWaitList",
          "a point in the queue", device_->name());
    return std::make_shared<event>(made, queue_.get(), context_);
}

void queue::flush() { check(clFlush(queue_.get()), "clFlush", "a queue", device_->name()); }

void queue::finish() { check(clFinish(queue_.get()), "clFinish", "a queue", device_->name()); }

}  // namespace balm::opencl

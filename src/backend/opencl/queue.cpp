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

/// A box's first byte as OpenCL counts it: bytes of a row, rows, planes.
std::array<std::size_t, 3> origin(const runtime::region_layout& of) {
    return {of.offset % of.plane_pitch % of.row_pitch, of.offset % of.plane_pitch / of.row_pitch,
            of.offset / of.plane_pitch};
}

std::string region_text(const char* what, const runtime::region_extent& size) {
    return fmt::format("{} of {} planes of {} rows of {} bytes", what, size.planes, size.rows,
                       size.row_bytes);
}

cl_map_flags flags_of(runtime::map_use use) {
    switch (use) {
        case runtime::map_use::read: return CL_MAP_READ;
        // CL_MAP_WRITE alone lets a driver map stale bytes (OpenCL 1.2, table 5.5).
        case runtime::map_use::write:
        case runtime::map_use::read_write: return CL_MAP_READ | CL_MAP_WRITE;
        case runtime::map_use::overwrite: return CL_MAP_WRITE_INVALIDATE_REGION;
    }
    return CL_MAP_READ | CL_MAP_WRITE;
}

}  // namespace

queue::queue(std::shared_ptr<device> of, const runtime::queue_options& options)
    : device_(std::move(of)), context_(device_->context()) {
    cl_int code = CL_SUCCESS;
    const cl_command_queue_properties properties = options.timing ? CL_QUEUE_PROFILING_ENABLE : 0;
    queue_ = owned_queue(clCreateCommandQueue(context_, device_->id(), properties, &code));
    check(code, "clCreateCommandQueue",
          options.timing ? "an in-order queue with profiling" : "an in-order queue", device_->name());
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

void queue::write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                         const runtime::region_layout& from_layout, const runtime::region_extent& size,
                         const runtime::dependencies& needs) {
    const auto to_origin = origin(to_layout), from_origin = origin(from_layout);
    const std::size_t region[] = {size.row_bytes, size.rows, size.planes};
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueWriteBufferRect(queue_.get(), buffer(to), CL_FALSE, to_origin.data(),
                                        from_origin.data(), region, to_layout.row_pitch,
                                        to_layout.plane_pitch, from_layout.row_pitch, from_layout.plane_pitch,
                                        from, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueWriteBufferRect", region_text("a write", size), device_->name());
}

void queue::read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    const auto to_origin = origin(to_layout), from_origin = origin(from_layout);
    const std::size_t region[] = {size.row_bytes, size.rows, size.planes};
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueReadBufferRect(queue_.get(), buffer(from), CL_FALSE, from_origin.data(),
                                       to_origin.data(), region, from_layout.row_pitch,
                                       from_layout.plane_pitch, to_layout.row_pitch, to_layout.plane_pitch,
                                       to, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueReadBufferRect", region_text("a read", size), device_->name());
}

void queue::copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    const auto to_origin = origin(to_layout), from_origin = origin(from_layout);
    const std::size_t region[] = {size.row_bytes, size.rows, size.planes};
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueCopyBufferRect(queue_.get(), buffer(from), buffer(to), from_origin.data(),
                                       to_origin.data(), region, from_layout.row_pitch,
                                       from_layout.plane_pitch, to_layout.row_pitch, to_layout.plane_pitch,
                                       count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueCopyBufferRect", region_text("a copy", size), device_->name());
}

void* queue::map(runtime::memory mapped, std::size_t offset, std::size_t bytes, runtime::map_use use,
                 const runtime::dependencies& needs) {
    void* address = nullptr;
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        cl_int mapping = CL_SUCCESS;
        address = clEnqueueMapBuffer(queue_.get(), buffer(mapped), CL_FALSE, flags_of(use), offset, bytes,
                                     count, events, made, &mapping);
        return mapping;
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueMapBuffer", range("a mapping", offset, bytes), device_->name());
    return address;
}

void queue::unmap(runtime::memory mapped, void* address, const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueUnmapMemObject(queue_.get(), buffer(mapped), address, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueUnmapMemObject", "a mapping that is given back", device_->name());
}

void queue::launch(runtime::driver_kernel& launched, const runtime::grid& over,
                   std::span<const runtime::argument> arguments, const runtime::dependencies& needs) {
    auto& own = static_cast<kernel&>(launched);
    own.set_arguments(arguments);
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return clEnqueueNDRangeKernel(queue_.get(), own.get(), over.dimensions, over.offset.data(),
                                      over.global.data(), over.local.data(), count, events, made);
    });
    own.let_go_of_parts();
    if (code != CL_SUCCESS) fail(code, "clEnqueueNDRangeKernel", launch_text(own, over), device_->name());
}

runtime::event_handle queue::record(std::span<const runtime::event_handle> wait_for) {
    const wait_list waits(wait_for, queue_.get(), context_);
    cl_event made = nullptr;
    check(clEnqueueMarkerWithWaitList(queue_.get(), waits.count(), waits.events(), &made),
          "clEnqueueMarkerWithWaitList", "a point in the queue", device_->name());
    return std::make_shared<event>(made, queue_.get(), context_);
}

void queue::flush() { check(clFlush(queue_.get()), "clFlush", "a queue", device_->name()); }

void queue::finish() { check(clFinish(queue_.get()), "clFinish", "a queue", device_->name()); }

}  // namespace balm::opencl

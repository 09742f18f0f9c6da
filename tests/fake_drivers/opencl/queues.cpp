// Queues, commands and events of the fake OpenCL.

#include <algorithm>

#include "fake_drivers/opencl/objects.hpp"

namespace {

using namespace balm::test;

/// What every clEnqueue function takes at its end.
struct waits_and_event {
    cl_uint count;
    const cl_event* events;
    cl_event* made;
};

/// `work` runs in the queue's order, after the events.
template <class Work>
cl_int enqueue(const char* name, cl_command_queue queue, cl_command_type type, const waits_and_event& given,
               Work&& work) {
    return call(name, [&] {
        std::vector<command_handle> waits;
        for (cl_uint k = 0; k < given.count; ++k) {
            const _cl_event& each = *given.events[k];
            if (each.queue->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
            if (each.queue.get() != queue) waits.push_back(each.command);
        }
        command_handle added = queue->commands.add([waits = std::move(waits), work] {
            for (const command_handle& each : waits) stream::wait_for_submitted(*each);
            work();
        });
        if (given.made != nullptr) {
            auto* const made = new _cl_event;
            made->queue = reference(queue);
            made->type = type;
            made->command = std::move(added);
            *given.made = made;
        }
        if (queue->context->device->runs_in_the_call) queue->commands.flush_and_run();
        return CL_SUCCESS;
    });
}

/// A box of bytes: origin and pitches, those of 0 as OpenCL says.
struct box_side {
    std::byte* first;
    std::array<std::size_t, 3> origin;
    std::size_t row_pitch, plane_pitch;

    std::byte* row(std::size_t y, std::size_t z) const {
        return first + origin[0] + (origin[1] + y) * row_pitch + (origin[2] + z) * plane_pitch;
    }
};
box_side side(void* first, const std::size_t* origin, const std::size_t* region, std::size_t row_pitch,
              std::size_t plane_pitch) {
    const std::size_t row = row_pitch != 0 ? row_pitch : region[0];
    return {static_cast<std::byte*>(first),
            {origin[0], origin[1], origin[2]},
            row,
            plane_pitch != 0 ? plane_pitch : row * region[1]};
}
box_side side_of_image(cl_mem image, const std::size_t* origin) {
    const std::size_t row = image->elements[0] * image->element_bytes;
    return {image->bytes,
            {origin[0] * image->element_bytes, origin[1], origin[2]},
            row,
            row * image->elements[1]};
}

using region_bytes = std::array<std::size_t, 3>;
region_bytes bytes_of(cl_mem image, const std::size_t* elements) {
    return {elements[0] * image->element_bytes, elements[1], elements[2]};
}

void copy_box(const box_side& to, const box_side& from, const region_bytes& region) {
    for (std::size_t z = 0; z < region[2]; ++z)
        for (std::size_t y = 0; y < region[1]; ++y) std::memmove(to.row(y, z), from.row(y, z), region[0]);
}

/// Keeps the memory until it is done.
auto box_copy(cl_mem a, cl_mem b, const box_side& to, const box_side& from, const region_bytes& region) {
    return [=, keep_a = reference(a), keep_b = reference(b)] { copy_box(to, from, region); };
}
auto byte_copy(cl_mem a, cl_mem b, void* to, const void* from, std::size_t bytes) {
    return [=, keep_a = reference(a), keep_b = reference(b)] { std::memmove(to, from, bytes); };
}

constexpr std::size_t zeros[3] = {0, 0, 0};

bool is_inside(cl_mem memory, std::size_t offset, std::size_t bytes) {
    return offset <= memory->size && bytes <= memory->size - offset;
}

}  // namespace

extern "C" {

// ---- queues and events ----

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context in, cl_device_id,
                                                  cl_command_queue_properties properties, cl_int* code) {
    return making_call(__func__, code, [&](cl_int&) {
        auto* const made = new _cl_command_queue;
        made->context = reference(in);
        made->is_timed = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
        return made;
    });
}
cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue of) {
    return call(__func__, [&] { ++of->references; });
}
cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue gone) {
    safe_call([&] { gone->commands.flush(); });
    return release(gone);
}
cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue of, cl_command_queue_info what, size_t size,
                                         void* to, size_t* needed) {
    switch (what) {
        case CL_QUEUE_CONTEXT: return answer(of->context.get(), size, to, needed);
        case CL_QUEUE_DEVICE: return answer(of->context->device, size, to, needed);
        default: return CL_INVALID_VALUE;
    }
}
cl_int CL_API_CALL clFlush(cl_command_queue of) {
    return call(__func__, [&] { of->commands.flush(); });
}
cl_int CL_API_CALL clFinish(cl_command_queue of) {
    return call(__func__, [&] { of->commands.flush_and_run(); });
}
cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
    return call(__func__, [&] {
        for (cl_uint k = 0; k < count; ++k) stream::wait_for(*events[k]->command);
    });
}
cl_int CL_API_CALL clReleaseEvent(cl_event gone) { return release(gone); }
cl_int CL_API_CALL clGetEventInfo(cl_event of, cl_event_info what, size_t size, void* to, size_t* needed) {
    return call(__func__, [&] {
        if (what == CL_EVENT_COMMAND_TYPE) return answer(of->type, size, to, needed);
        if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return CL_INVALID_VALUE;
        const cl_int status = stream::poll(*of->command) ? CL_COMPLETE : CL_QUEUED;
        return answer(status, size, to, needed);
    });
}
cl_int CL_API_CALL clGetEventProfilingInfo(cl_event of, cl_profiling_info what, size_t size, void* to,
                                           size_t* needed) {
    return call(__func__, [&] {
        const command& done = *of->command;
        if (!of->queue->is_timed || !done.is_done()) return CL_PROFILING_INFO_NOT_AVAILABLE;
        switch (what) {
            case CL_PROFILING_COMMAND_QUEUED: return answer(done.queued, size, to, needed);
            case CL_PROFILING_COMMAND_SUBMIT: return answer(done.submitted, size, to, needed);
            case CL_PROFILING_COMMAND_START: return answer(done.started, size, to, needed);
            case CL_PROFILING_COMMAND_END: return answer(done.ended, size, to, needed);
            default: return CL_INVALID_VALUE;
        }
    });
}
cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* events,
                                               cl_event* made) {
    const in_driver inside;
    return enqueue(__func__, queue, CL_COMMAND_MARKER, {count, events, made}, [] {});
}

// ---- buffers ----

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool, size_t offset,
                                       size_t bytes, void* to, cl_uint count, const cl_event* events,
                                       cl_event* made) {
    const in_driver inside;
    if (!is_inside(from, offset, bytes)) return CL_INVALID_VALUE;
    return enqueue(__func__, queue, CL_COMMAND_READ_BUFFER, {count, events, made},
                   byte_copy(from, nullptr, to, from->bytes + offset, bytes));
}
cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool, size_t offset,
                                        size_t bytes, const void* from, cl_uint count, const cl_event* events,
                                        cl_event* made) {
    const in_driver inside;
    if (!is_inside(to, offset, bytes)) return CL_INVALID_VALUE;
    return enqueue(__func__, queue, CL_COMMAND_WRITE_BUFFER, {count, events, made},
                   byte_copy(to, nullptr, to->bytes + offset, from, bytes));
}
cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t bytes, cl_uint count, const cl_event* events,
                                       cl_event* made) {
    const in_driver inside;
    if (!is_inside(from, from_offset, bytes) || !is_inside(to, to_offset, bytes)) return CL_INVALID_VALUE;
    return enqueue(__func__, queue, CL_COMMAND_COPY_BUFFER, {count, events, made},
                   byte_copy(to, from, to->bytes + to_offset, from->bytes + from_offset, bytes));
}
cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem to, const void* pattern,
                                       size_t pattern_bytes, size_t offset, size_t bytes, cl_uint count,
                                       const cl_event* events, cl_event* made) {
    const in_driver inside;
    if (!is_inside(to, offset, bytes) || bytes % pattern_bytes != 0 || offset % pattern_bytes != 0)
        return CL_INVALID_VALUE;
    const std::string copied(static_cast<const char*>(pattern), pattern_bytes);
    return enqueue(__func__, queue, CL_COMMAND_FILL_BUFFER, {count, events, made}, [=, keep = reference(to)] {
        for (std::size_t at = 0; at < bytes; at += pattern_bytes)
            std::memcpy(to->bytes + offset + at, copied.data(), pattern_bytes);
    });
}
cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem from, cl_bool, const size_t* origin,
                                           const size_t* host_origin, const size_t* region, size_t row,
                                           size_t plane, size_t host_row, size_t host_plane, void* to,
                                           cl_uint count, const cl_event* events, cl_event* made) {
    const in_driver inside;
    return enqueue(
        __func__, queue, CL_COMMAND_READ_BUFFER_RECT, {count, events, made},
        box_copy(from, nullptr, side(to, host_origin, region, host_row, host_plane),
                 side(from->bytes, origin, region, row, plane), {region[0], region[1], region[2]}));
}
cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem to, cl_bool, const size_t* origin,
                                            const size_t* host_origin, const size_t* region, size_t row,
                                            size_t plane, size_t host_row, size_t host_plane,
                                            const void* from, cl_uint count, const cl_event* events,
                                            cl_event* made) {
    const in_driver inside;
    return enqueue(__func__, queue, CL_COMMAND_WRITE_BUFFER_RECT, {count, events, made},
                   box_copy(to, nullptr, side(to->bytes, origin, region, row, plane),
                            side(const_cast<void*>(from), host_origin, region, host_row, host_plane),
                            {region[0], region[1], region[2]}));
}
cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                           const size_t* from_origin, const size_t* to_origin,
                                           const size_t* region, size_t from_row, size_t from_plane,
                                           size_t to_row, size_t to_plane, cl_uint count,
                                           const cl_event* events, cl_event* made) {
    const in_driver inside;
    return enqueue(__func__, queue, CL_COMMAND_COPY_BUFFER_RECT, {count, events, made},
                   box_copy(to, from, side(to->bytes, to_origin, region, to_row, to_plane),
                            side(from->bytes, from_origin, region, from_row, from_plane),
                            {region[0], region[1], region[2]}));
}

// ---- images ----

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem from, cl_bool, const size_t* origin,
                                      const size_t* elements, size_t row, size_t plane, void* to,
                                      cl_uint count, const cl_event* events, cl_event* made) {
    const in_driver inside;
    const region_bytes region = bytes_of(from, elements);
    return enqueue(__func__, queue, CL_COMMAND_READ_IMAGE, {count, events, made},
                   box_copy(from, nullptr, side(to, zeros, region.data(), row, plane),
                            side_of_image(from, origin), region));
}
cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem to, cl_bool, const size_t* origin,
                                       const size_t* elements, size_t row, size_t plane, const void* from,
                                       cl_uint count, const cl_event* events, cl_event* made) {
    const in_driver inside;
    const region_bytes region = bytes_of(to, elements);
    return enqueue(__func__, queue, CL_COMMAND_WRITE_IMAGE, {count, events, made},
                   box_copy(to, nullptr, side_of_image(to, origin),
                            side(const_cast<void*>(from), zeros, region.data(), row, plane), region));
}
cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                      const size_t* from_origin, const size_t* to_origin,
                                      const size_t* elements, cl_uint count, const cl_event* events,
                                      cl_event* made) {
    const in_driver inside;
    return enqueue(__func__, queue, CL_COMMAND_COPY_IMAGE, {count, events, made},
                   box_copy(to, from, side_of_image(to, to_origin), side_of_image(from, from_origin),
                            bytes_of(to, elements)));
}
cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                              const size_t* origin, const size_t* elements, size_t offset,
                                              cl_uint count, const cl_event* events, cl_event* made) {
    const in_driver inside;
    const region_bytes region = bytes_of(from, elements);
    return enqueue(__func__, queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, {count, events, made},
                   box_copy(to, from, side(to->bytes + offset, zeros, region.data(), 0, 0),
                            side_of_image(from, origin), region));
}
cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                              const size_t* origin, const size_t* elements, cl_uint count,
                                              const cl_event* events, cl_event* made) {
    const in_driver inside;
    const region_bytes region = bytes_of(to, elements);
    return enqueue(__func__, queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, {count, events, made},
                   box_copy(to, from, side_of_image(to, origin),
                            side(from->bytes + offset, zeros, region.data(), 0, 0), region));
}

// ---- mapping ----

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem of, cl_bool blocks, cl_map_flags use,
                                     size_t offset, size_t bytes, cl_uint count, const cl_event* events,
                                     cl_event* made, cl_int* code) {
    const in_driver inside;
    if (!is_inside(of, offset, bytes)) {
        *code = CL_INVALID_VALUE;
        return nullptr;
    }
    _cl_mem::mapping mapped{of->bytes + offset, offset, {}, use};
    const bool is_copied = (of->flags & CL_MEM_USE_HOST_PTR) == 0;
    if (is_copied) {
        mapped.copy.assign(bytes, std::byte{0xcd});
        mapped.address = mapped.copy.data();
    }
    std::byte* const address = mapped.address;
    const bool is_read = is_copied && (use & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    *code = enqueue(__func__, queue, CL_COMMAND_MAP_BUFFER, {count, events, made},
                    byte_copy(of, nullptr, address, of->bytes + offset, is_read ? bytes : 0));
    if (*code != CL_SUCCESS) return nullptr;
    of->mappings.push_back(std::move(mapped));
    if (blocks == CL_TRUE) queue->commands.flush_and_run();
    return address;
}
cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem of, void* address, cl_uint count,
                                           const cl_event* events, cl_event* made) {
    const in_driver inside;
    return enqueue(
        __func__, queue, CL_COMMAND_UNMAP_MEM_OBJECT, {count, events, made}, [=, keep = reference(of)] {
            const auto mapped = std::find_if(of->mappings.begin(), of->mappings.end(),
                                             [&](const auto& each) { return each.address == address; });
            if (mapped == of->mappings.end()) refuse("unmaps what is not mapped");
            if ((mapped->use & ~cl_map_flags{CL_MAP_READ}) != 0)
                std::copy(mapped->copy.begin(), mapped->copy.end(), of->bytes + mapped->offset);
            of->mappings.erase(mapped);
        });
}

// ---- launches ----

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t*, const size_t* global, const size_t*, cl_uint count,
                                          const cl_event* events, cl_event* made) {
    const in_driver inside;
    std::size_t items = 1;
    for (cl_uint k = 0; k < dimensions; ++k) items *= global[k];
    std::array<std::uint64_t, 2> parameters{};
    std::vector<reference<_cl_mem>> kept;
    for (std::size_t k = 0; k < kernel->parameters.size(); ++k) {
        const _cl_kernel::parameter& each = kernel->parameters[k];
        if (each.bytes == 0) return CL_INVALID_KERNEL_ARGS;
        if (each.memory != nullptr) kept.emplace_back(each.memory);
        if (k < parameters.size())
            parameters[k] =
                each.memory != nullptr ? reinterpret_cast<std::uint64_t>(each.memory->bytes) : each.value;
    }
    return enqueue(__func__, queue, CL_COMMAND_NDRANGE_KERNEL, {count, events, made},
                   [=, keep = reference(kernel), known = kernel->known] {
                       if (known != nullptr) known->run(items, parameters);
                   });
}

}  // extern "C"

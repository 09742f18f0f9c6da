#include "driver/opencl/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/compiler_use.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/clblast.hpp"
#include "driver/opencl/device.hpp"
#include "driver/opencl/event.hpp"
#include "driver/opencl/launch_turns.hpp"
#include "driver/opencl/program.hpp"

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

std::size_t size_of(cl_mem memory) {
    std::size_t bytes = 0;
    loader().clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
    return bytes;
}

/// A box of bytes in OpenCL's form: planes and rows are counted from the beginning of the memory. A single
/// plane has no plane pitch.
struct side {
    runtime::region_layout layout;
    std::size_t memory_bytes;  ///< of device memory; SIZE_MAX for host memory

    std::size_t plane_pitch(const runtime::region_extent& size) const {
        return size.planes > 1 ? layout.plane_pitch : 0;
    }
    std::array<std::size_t, 3> origin(const runtime::region_extent& size) const {
        const std::size_t plane = size.planes > 1 ? layout.plane_pitch : SIZE_MAX;
        return {layout.offset % plane % layout.row_pitch, layout.offset % plane / layout.row_pitch,
                layout.offset / plane};
    }
    /// NVIDIA's driver refuses boxes unless the last row or plane, including its padding up to the next one,
    /// is inside the memory.
    bool fits(const runtime::region_extent& size) const {
        const std::size_t pitch = size.planes > 1 ? layout.plane_pitch : layout.row_pitch;
        const std::size_t count = size.planes > 1 ? size.planes : size.rows;
        return memory_bytes / pitch >= layout.offset / pitch + count;
    }
};

/// A part of a box that every driver accepts.
struct piece {
    side a, b;
    runtime::region_extent size;
    bool is_row() const { return size.planes == 1 && size.rows == 1; }
};

/// The whole box; or the box without its last plane, that plane without its last row, and that row.
std::vector<piece> pieces_of(side a, side b, runtime::region_extent size) {
    std::vector<piece> list;
    while (size.planes * size.rows > 1 && !(a.fits(size) && b.fits(size))) {
        const bool by_plane = size.planes > 1;
        const std::size_t ahead = (by_plane ? size.planes : size.rows) - 1;
        piece most{a, b, size};
        (by_plane ? most.size.planes : most.size.rows) = ahead;
        list.push_back(most);
        (by_plane ? size.planes : size.rows) = 1;
        for (side* each : {&a, &b})
            each->layout.offset += ahead * (by_plane ? each->layout.plane_pitch : each->layout.row_pitch);
    }
    list.push_back({a, b, size});
    return list;
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
    queue_ = owned_queue(loader().clCreateCommandQueue(context_, device_->id(), properties, &code));
    check(code, "clCreateCommandQueue",
          options.timing ? "an in-order queue with profiling" : "an in-order queue", device_->name());
}

queue::queue(std::shared_ptr<device> of, owned_queue adopted)
    : device_(std::move(of)), context_(device_->context()), queue_(std::move(adopted)) {}

template <class Enqueue>
cl_int queue::submit(const runtime::dependencies& needs, Enqueue&& enqueue) {
    const wait_list waits(needs.wait_for, queue_.get(), device_->runs_in_the_call() ? nullptr : context_);
    std::shared_ptr<event> done;
    if (needs.made != nullptr) done = std::make_shared<event>(queue_.get(), context_);
    const auto turn = device_->enqueuing();
    cl_event made = nullptr;
    const cl_int code = enqueue(waits.count(), waits.events(), done != nullptr ? &made : nullptr);
    if (code == CL_SUCCESS && done != nullptr) {
        done->set(made);
        *needs.made = std::move(done);
    }
    return code;
}

void queue::write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
                  const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueWriteBuffer(queue_.get(), buffer(to), CL_FALSE, offset, bytes, from, count,
                                             events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueWriteBuffer", range("a write", offset, bytes), device_->name());
}

void queue::read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
                 const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueReadBuffer(queue_.get(), buffer(from), CL_FALSE, offset, bytes, to, count,
                                            events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueReadBuffer", range("a read", offset, bytes), device_->name());
}

void queue::copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
                 std::size_t bytes, const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueCopyBuffer(queue_.get(), buffer(from), buffer(to), from_offset, to_offset,
                                            bytes, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueCopyBuffer",
             fmt::format("a copy of {} bytes from offset {} to offset {}", bytes, from_offset, to_offset),
             device_->name());
}

namespace {

/// NVIDIA's OpenCL (driver 580) truncates sizes of fills to 32 bits; fills beyond the first 2 GiB of a buffer
/// end the context (CL_ILLEGAL_READ_OR_WRITE_NV) or write elsewhere. Copies have no such limit.
constexpr std::size_t reach_of_fill = std::size_t{1} << 31;
/// The block that is copied instead. A power of two, so that every pattern divides it; it stays in the cache.
constexpr std::size_t filled_block = std::size_t{1} << 24;

}  // namespace

void queue::fill(runtime::memory to, std::size_t offset, std::size_t bytes,
                 std::span<const std::byte> pattern, const runtime::dependencies& needs) {
    if (offset + bytes > reach_of_fill) return fill_by_copies(to, offset, bytes, pattern, needs);
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueFillBuffer(queue_.get(), buffer(to), pattern.data(), pattern.size(), offset,
                                            bytes, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueFillBuffer",
             range("a fill", offset, bytes) + fmt::format(" with a pattern of {} bytes", pattern.size()),
             device_->name());
}

void queue::fill_by_copies(runtime::memory to, std::size_t offset, std::size_t bytes,
                           std::span<const std::byte> pattern, const runtime::dependencies& needs) {
    const std::size_t size = std::min(bytes, filled_block);
    const runtime::memory block = device_->allocate(size);
    const owned_memory owner(buffer(block));  // the driver keeps it until the copies have completed
    try {
        fill(block, 0, size, pattern, {needs.wait_for, nullptr});
        for (std::size_t done = 0; done < bytes; done += size) {
            const std::size_t some = std::min(bytes - done, size);
            copy(to, offset + done, block, 0, some, {{}, done + some == bytes ? needs.made : nullptr});
        }
    } catch (...) {
        loader().clFinish(queue_.get());
        throw;
    }
}

/// Enqueues the pieces in order: the first waits for the dependencies, the last makes the event. If one
/// fails, waits for those before it.
template <class Pieces, class Box, class Row>
void queue::submit_pieces(const Pieces& pieces, const char* what, const runtime::dependencies& needs,
                          Box&& box, Row&& row) try {
    for (const piece& each : pieces) {
        const runtime::dependencies own{
            &each == &pieces.front() ? needs.wait_for : std::span<const runtime::event_handle>(),
            &each == &pieces.back() ? needs.made : nullptr};
        if (each.is_row()) {
            row(each, own);
            continue;
        }
        const std::size_t region[] = {each.size.row_bytes, each.size.rows, each.size.planes};
        const cl_int code = submit(own, [&](cl_uint count, const cl_event* events, cl_event* made) {
            return box(each, each.a.origin(each.size).data(), each.b.origin(each.size).data(), region, count,
                       events, made);
        });
        if (code != CL_SUCCESS) fail(code, what, region_text("a box", each.size), device_->name());
    }
} catch (...) {
    if (pieces.size() > 1) loader().clFinish(queue_.get());
    throw;
}

/// Submits a copy from or to an image: `enqueue(elements, count, events, made)`.
template <class Enqueue>
void queue::submit_image(const char* call, const char* what, std::size_t element_bytes,
                         const runtime::region_extent& size, const runtime::dependencies& needs,
                         Enqueue&& enqueue) {
    const std::size_t elements[] = {size.row_bytes / element_bytes, size.rows, size.planes};
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return enqueue(elements, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, call,
             fmt::format("a {} image of {} x {} x {} elements of {} bytes", what, elements[0], elements[1],
                         elements[2], element_bytes),
             device_->name());
}

void queue::write_image(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    submit_image("clEnqueueWriteImage", "write to an", to_layout.element_bytes, size, needs,
                 [&](const std::size_t* elements, cl_uint count, const cl_event* events, cl_event* made) {
                     return loader().clEnqueueWriteImage(
                         queue_.get(), buffer(to), CL_FALSE, to_layout.origin().data(), elements,
                         from_layout.row_pitch, size.planes > 1 ? from_layout.plane_pitch : 0,
                         static_cast<const std::byte*>(from) + from_layout.offset, count, events, made);
                 });
}

void queue::read_image(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                       const runtime::region_layout& from_layout, const runtime::region_extent& size,
                       const runtime::dependencies& needs) {
    submit_image("clEnqueueReadImage", "read of an", from_layout.element_bytes, size, needs,
                 [&](const std::size_t* elements, cl_uint count, const cl_event* events, cl_event* made) {
                     return loader().clEnqueueReadImage(
                         queue_.get(), buffer(from), CL_FALSE, from_layout.origin().data(), elements,
                         to_layout.row_pitch, size.planes > 1 ? to_layout.plane_pitch : 0,
                         static_cast<std::byte*>(to) + to_layout.offset, count, events, made);
                 });
}

void queue::copy_image(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                       const runtime::region_layout& from_layout, const runtime::region_extent& size,
                       const runtime::dependencies& needs) {
    const auto to_origin = to_layout.is_image() ? to_layout.origin() : std::array<std::size_t, 3>{};
    const auto from_origin = from_layout.is_image() ? from_layout.origin() : std::array<std::size_t, 3>{};
    const char* call = !to_layout.is_image()     ? "clEnqueueCopyImageToBuffer"
                       : !from_layout.is_image() ? "clEnqueueCopyBufferToImage"
                                                 : "clEnqueueCopyImage";
    const std::size_t element_bytes =
        to_layout.is_image() ? to_layout.element_bytes : from_layout.element_bytes;
    submit_image(call, "copy from or to an", element_bytes, size, needs,
                 [&](const std::size_t* elements, cl_uint count, const cl_event* events, cl_event* made) {
                     if (!to_layout.is_image())
                         return loader().clEnqueueCopyImageToBuffer(queue_.get(), buffer(from), buffer(to),
                                                                    from_origin.data(), elements,
                                                                    to_layout.offset, count, events, made);
                     if (!from_layout.is_image())
                         return loader().clEnqueueCopyBufferToImage(queue_.get(), buffer(from), buffer(to),
                                                                    from_layout.offset, to_origin.data(),
                                                                    elements, count, events, made);
                     return loader().clEnqueueCopyImage(queue_.get(), buffer(from), buffer(to),
                                                        from_origin.data(), to_origin.data(), elements, count,
                                                        events, made);
                 });
}

void queue::write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                         const runtime::region_layout& from_layout, const runtime::region_extent& size,
                         const runtime::dependencies& needs) {
    if (to_layout.is_image()) return write_image(to, to_layout, from, from_layout, size, needs);
    submit_pieces(
        pieces_of({to_layout, size_of(buffer(to))}, {from_layout, SIZE_MAX}, size),
        "clEnqueueWriteBufferRect", needs,
        [&](const piece& p, const std::size_t* to_origin, const std::size_t* from_origin,
            const std::size_t* region, cl_uint count, const cl_event* events, cl_event* made) {
            return loader().clEnqueueWriteBufferRect(queue_.get(), buffer(to), CL_FALSE, to_origin,
                                                     from_origin, region, to_layout.row_pitch,
                                                     p.a.plane_pitch(p.size), from_layout.row_pitch,
                                                     p.b.plane_pitch(p.size), from, count, events, made);
        },
        [&](const piece& p, const runtime::dependencies& own) {
            write(to, p.a.layout.offset, static_cast<const std::byte*>(from) + p.b.layout.offset,
                  p.size.row_bytes, own);
        });
}

void queue::read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    if (from_layout.is_image()) return read_image(to, to_layout, from, from_layout, size, needs);
    submit_pieces(
        pieces_of({from_layout, size_of(buffer(from))}, {to_layout, SIZE_MAX}, size),
        "clEnqueueReadBufferRect", needs,
        [&](const piece& p, const std::size_t* from_origin, const std::size_t* to_origin,
            const std::size_t* region, cl_uint count, const cl_event* events, cl_event* made) {
            return loader().clEnqueueReadBufferRect(queue_.get(), buffer(from), CL_FALSE, from_origin,
                                                    to_origin, region, from_layout.row_pitch,
                                                    p.a.plane_pitch(p.size), to_layout.row_pitch,
                                                    p.b.plane_pitch(p.size), to, count, events, made);
        },
        [&](const piece& p, const runtime::dependencies& own) {
            read(static_cast<std::byte*>(to) + p.b.layout.offset, from, p.a.layout.offset, p.size.row_bytes,
                 own);
        });
}

void queue::copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    if (to_layout.is_image() || from_layout.is_image())
        return copy_image(to, to_layout, from, from_layout, size, needs);
    submit_pieces(
        pieces_of({from_layout, size_of(buffer(from))}, {to_layout, size_of(buffer(to))}, size),
        "clEnqueueCopyBufferRect", needs,
        [&](const piece& p, const std::size_t* from_origin, const std::size_t* to_origin,
            const std::size_t* region, cl_uint count, const cl_event* events, cl_event* made) {
            return loader().clEnqueueCopyBufferRect(
                queue_.get(), buffer(from), buffer(to), from_origin, to_origin, region, from_layout.row_pitch,
                p.a.plane_pitch(p.size), to_layout.row_pitch, p.b.plane_pitch(p.size), count, events, made);
        },
        [&](const piece& p, const runtime::dependencies& own) {
            copy(to, p.b.layout.offset, from, p.a.layout.offset, p.size.row_bytes, own);
        });
}

void* queue::map(runtime::memory mapped, std::size_t offset, std::size_t bytes, runtime::map_use use,
                 const runtime::dependencies& needs) {
    void* address = nullptr;
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        cl_int mapping = CL_SUCCESS;
        address = loader().clEnqueueMapBuffer(queue_.get(), buffer(mapped), CL_FALSE, flags_of(use), offset,
                                              bytes, count, events, made, &mapping);
        return mapping;
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueMapBuffer", range("a mapping", offset, bytes), device_->name());
    return address;
}

void queue::unmap(runtime::memory mapped, void* address, const runtime::dependencies& needs) {
    const cl_int code = submit(needs, [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueUnmapMemObject(queue_.get(), buffer(mapped), address, count, events, made);
    });
    if (code != CL_SUCCESS)
        fail(code, "clEnqueueUnmapMemObject", "the unmapping of a buffer", device_->name());
}

void queue::launch(runtime::driver_kernel& launched, const runtime::grid& over,
                   std::span<const runtime::argument> arguments, const runtime::dependencies& needs) {
    auto& own = static_cast<kernel&>(launched);
    const kernel::bound_arguments bound(own, arguments);
    std::optional<runtime::compiler_use> compiling;
    if (own.shapes() != nullptr && !own.shapes()->has(own.name(), over))
        compiling.emplace(launch_text(own, over));
    const auto enqueue = [&](cl_uint count, const cl_event* events, cl_event* made) {
        return loader().clEnqueueNDRangeKernel(queue_.get(), own.get(), over.dimensions, over.offset.data(),
                                               over.global.data(), over.local.data(), count, events, made);
    };
    const cl_int code = own.turns() == nullptr
                            ? submit(needs, enqueue)
                            : own.turns()->take(queue_.get(), needs, [&](const auto& with_turn) {
                                  return submit(with_turn, enqueue);
                              });
    if (code != CL_SUCCESS) fail(code, "clEnqueueNDRangeKernel", launch_text(own, over), device_->name());
    if (compiling.has_value()) own.shapes()->add(own.name(), over);
}

// CLBlast takes no list of events and enqueues several kernels: markers go before and after them.
void queue::multiply(const runtime::matrix_product& what, const runtime::dependencies& needs) {
    const runtime::compiler_use compiling("kernels of CLBlast");
    const auto enqueue = [&](const runtime::dependencies& own) {
        runtime::event_handle begin = record(own.wait_for);
        try {
            {
                const auto turn = device_->enqueuing();
                multiply_with_clblast(what, queue_.get(), device_->name());
            }
            if (own.made == nullptr) return CL_SUCCESS;
            runtime::event_handle end = record({});
            static_cast<event&>(*end).begin_after(std::move(begin));
            *own.made = std::move(end);
        } catch (...) {
            loader().clFinish(queue_.get());
            throw;
        }
        return CL_SUCCESS;
    };
    if (launch_turns* const turns = device_->library_turns(); turns != nullptr)
        turns->take(queue_.get(), needs, enqueue);
    else
        enqueue(needs);
}

runtime::event_handle queue::record(std::span<const runtime::event_handle> wait_for) {
    runtime::event_handle point;
    const cl_int code =
        submit({wait_for, &point}, [&](cl_uint count, const cl_event* events, cl_event* made) {
            return loader().clEnqueueMarkerWithWaitList(queue_.get(), count, events, made);
        });
    check(code, "clEnqueueMarkerWithWaitList", "a point in the queue", device_->name());
    return point;
}

void queue::flush() { check(loader().clFlush(queue_.get()), "clFlush", "a queue", device_->name()); }

void queue::finish() { check(loader().clFinish(queue_.get()), "clFinish", "a queue", device_->name()); }

}  // namespace balm::opencl

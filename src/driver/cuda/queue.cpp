#include "driver/cuda/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "driver/cuda/check.hpp"
#include "driver/cuda/cublas.hpp"
#include "driver/cuda/device.hpp"
#include "driver/cuda/event.hpp"
#include "driver/cuda/graph.hpp"
#include "driver/cuda/image.hpp"
#include "driver/cuda/program.hpp"

namespace balm::cuda {

namespace {

template <class Word>
Word word_at(std::span<const std::byte> pattern, std::size_t offset) {
    Word word{};
    std::memcpy(&word, pattern.data() + offset, sizeof word);
    return word;
}

// The shortest pattern of the same bytes: zeros of any size become a fill of single bytes.
std::span<const std::byte> shortest(std::span<const std::byte> pattern) {
    while (pattern.size() > 1) {
        const std::size_t half = pattern.size() / 2;
        if (!std::equal(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(half),
                        pattern.begin() + static_cast<std::ptrdiff_t>(half)))
            break;
        pattern = pattern.first(half);
    }
    return pattern;
}

// CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device so far.
constexpr std::size_t most_pitch = std::numeric_limits<int>::max();

std::string range(const char* what, std::size_t offset, std::size_t bytes) {
    return fmt::format("{} of {} bytes at offset {}", what, bytes, offset);
}

std::string launch_text(const kernel& of, const runtime::grid& over, unsigned local_bytes) {
    return fmt::format(
        "kernel '{}' over {} x {} x {} work-items in groups of {} x {} x {} with {} bytes of local memory",
        of.name(), over.global[0], over.global[1], over.global[2], over.local[0], over.local[1],
        over.local[2], local_bytes);
}

// The number of work-groups and the size of one, in cuLaunchKernel's type.
struct launch_shape {
    std::array<unsigned, 3> groups{1, 1, 1};
    std::array<unsigned, 3> local{1, 1, 1};
};

launch_shape shape_of(const kernel& of, const runtime::grid& over, const std::string& device) {
    launch_shape shape;
    for (std::size_t i = 0; i < over.dimensions; ++i) {
        const std::size_t groups = over.global[i] / over.local[i];
        constexpr std::size_t most = std::numeric_limits<unsigned>::max();
        if (over.offset[i] != 0 || groups > most || over.local[i] > most)
            throw device_error(fmt::format(
                "CUDA cannot launch {} at offset {} x {} x {} on device '{}': it has no global offsets and "
                "counts work-groups in 32 bits.",
                launch_text(of, over, 0), over.offset[0], over.offset[1], over.offset[2], device));
        shape.groups[i] = static_cast<unsigned>(groups);
        shape.local[i] = static_cast<unsigned>(over.local[i]);
    }
    return shape;
}

/// Describes the side of a copy that is on the device.
void begin_at(CUDA_MEMCPY3D& ends, runtime::memory from, const runtime::region_layout& layout) {
    if (!layout.is_image()) {
        ends.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        ends.srcDevice = from.handle + layout.offset;
        return;
    }
    const auto [x, y, z] = layout.origin();
    ends.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    ends.srcArray = image::of(from).array();
    ends.srcXInBytes = x * layout.element_bytes;
    ends.srcY = y;
    ends.srcZ = z;
}
void end_at(CUDA_MEMCPY3D& ends, runtime::memory to, const runtime::region_layout& layout) {
    if (!layout.is_image()) {
        ends.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        ends.dstDevice = to.handle + layout.offset;
        return;
    }
    const auto [x, y, z] = layout.origin();
    ends.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    ends.dstArray = image::of(to).array();
    ends.dstXInBytes = x * layout.element_bytes;
    ends.dstY = y;
    ends.dstZ = z;
}

}  // namespace

queue::queue(std::shared_ptr<context> of, const runtime::queue_options& options)
    : context_(std::move(of)), timing_(options.timing) {
    const current_context current(*context_);
    check(driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "a queue",
          context_->device_name());
}

queue::queue(std::shared_ptr<context> of, const runtime::queue_options& options, CUstream adopted)
    : context_(std::move(of)), timing_(options.timing), stream_(adopted), is_adopted_(true) {}

queue::~queue() {
    if (runtime::is_forked()) return;
    if (is_adopted_ && cublas_ == nullptr) return;
    const current_context current(*context_);
    cublas_.reset();
    if (!is_adopted_) driver().cuStreamDestroy(stream_);  // its work continues
}

void queue::record(CUevent at) {
    check(driver().cuEventRecord(at, stream_), "cuEventRecord", "a point in the queue",
          context_->device_name());
}

void queue::wait_for(std::span<const runtime::event_handle> events) {
    for (const runtime::event_handle& handle : events)
        if (handle != nullptr)
            check(driver().cuStreamWaitEvent(stream_, static_cast<event&>(*handle).get(), 0),
                  "cuStreamWaitEvent", "an event to wait for", context_->device_name());
}

template <class Enqueue>
void queue::submit(const runtime::dependencies& needs, Enqueue&& enqueue) {
    const current_context current(*context_);
    std::shared_ptr<event> done;
    if (needs.made != nullptr) {
        event::timing times;
        if (timing_) {
            times.from = context_->recent_anchor();
            times.start = pooled_event(*context_, true);
        }
        done = std::make_shared<event>(context_, pooled_event(*context_, timing_), std::move(times));
    }
    wait_for(needs.wait_for);
    try {
        if (done != nullptr && timing_) record(done->queue_now());
        enqueue();
        if (done != nullptr) record(done->get());
    } catch (...) {
        driver().cuStreamSynchronize(stream_);  // waits for what the driver has accepted
        throw;
    }
    if (done == nullptr) return;
    done->submit_now();
    *needs.made = std::move(done);
}

void queue::write(runtime::memory to, std::size_t offset, const void* from, std::size_t bytes,
                  const runtime::dependencies& needs) {
    submit(needs, [&] {
        const CUresult code = driver().cuMemcpyHtoDAsync(to.handle + offset, from, bytes, stream_);
        if (code != CUDA_SUCCESS)
            fail(code, "cuMemcpyHtoDAsync", range("a write", offset, bytes), context_->device_name());
    });
}

void queue::read(void* to, runtime::memory from, std::size_t offset, std::size_t bytes,
                 const runtime::dependencies& needs) {
    submit(needs, [&] {
        const CUresult code = driver().cuMemcpyDtoHAsync(to, from.handle + offset, bytes, stream_);
        if (code != CUDA_SUCCESS)
            fail(code, "cuMemcpyDtoHAsync", range("a read", offset, bytes), context_->device_name());
    });
}

void queue::copy(runtime::memory to, std::size_t to_offset, runtime::memory from, std::size_t from_offset,
                 std::size_t bytes, const runtime::dependencies& needs) {
    submit(needs, [&] {
        const CUresult code =
            driver().cuMemcpyDtoDAsync(to.handle + to_offset, from.handle + from_offset, bytes, stream_);
        if (code != CUDA_SUCCESS)
            fail(code, "cuMemcpyDtoDAsync",
                 fmt::format("a copy of {} bytes from offset {} to offset {}", bytes, from_offset, to_offset),
                 context_->device_name());
    });
}

void queue::copy_from(runtime::driver_device& owner, runtime::memory to, std::size_t to_offset,
                      runtime::memory from, std::size_t from_offset, std::size_t bytes,
                      const runtime::dependencies& needs) {
    const context& other = *static_cast<device&>(owner).own_context();
    context_->reach(other);
    submit(needs, [&] {
        const CUresult code = driver().cuMemcpyPeerAsync(
            to.handle + to_offset, context_->get(), from.handle + from_offset, other.get(), bytes, stream_);
        if (code != CUDA_SUCCESS)
            fail(code, "cuMemcpyPeerAsync",
                 fmt::format("a copy of {} bytes from device '{}'", bytes, other.device_name()),
                 context_->device_name());
    });
}

void queue::fill(runtime::memory to, std::size_t offset, std::size_t bytes,
                 std::span<const std::byte> pattern, const runtime::dependencies& needs) {
    submit(needs, [&] {
        const CUdeviceptr start = to.handle + offset;
        const auto unit = shortest(pattern);
        CUresult code = CUDA_SUCCESS;
        const char* call = "cuMemsetD8Async";
        switch (unit.size()) {
            case 1:
                code = driver().cuMemsetD8Async(start, word_at<unsigned char>(unit, 0), bytes, stream_);
                break;
            case 2:
                call = "cuMemsetD16Async";
                code = driver().cuMemsetD16Async(start, word_at<unsigned short>(unit, 0), bytes / 2, stream_);
                break;
            case 4:
                call = "cuMemsetD32Async";
                code = driver().cuMemsetD32Async(start, word_at<unsigned>(unit, 0), bytes / 4, stream_);
                break;
            default: fill_words(start, bytes, unit);
        }
        if (code != CUDA_SUCCESS)
            fail(code, call,
                 range("a fill", offset, bytes) + fmt::format(" with a pattern of {} bytes", unit.size()),
                 context_->device_name());
    });
}

// Enqueues one copy for the whole region, or `copy_row(to, from)` for each row, with its offsets, if the row
// pitch exceeds the driver's limit.
template <class Copy>
void queue::submit_region(const char* what, const region_sides& sides, const runtime::region_extent& size,
                          const runtime::dependencies& needs, Copy&& copy_row) {
    const auto& [to, from, ends] = sides;
    CUDA_MEMCPY3D copied = ends;
    copied.srcPitch = from.row_pitch;
    copied.srcHeight = from.plane_pitch / from.row_pitch;
    copied.dstPitch = to.row_pitch;
    copied.dstHeight = to.plane_pitch / to.row_pitch;
    copied.WidthInBytes = size.row_bytes;
    copied.Height = size.rows;
    copied.Depth = size.planes;
    const auto pitch = [](const runtime::region_layout& side) {
        return side.is_image() ? 0 : side.row_pitch;
    };
    const bool one_by_one = std::max(pitch(from), pitch(to)) > most_pitch;
    submit(needs, [&] {
        CUresult code = CUDA_SUCCESS;
        if (!one_by_one) code = driver().cuMemcpy3DAsync(&copied, stream_);
        for (std::size_t plane = 0; one_by_one && plane < size.planes; ++plane)
            for (std::size_t row = 0; row < size.rows && code == CUDA_SUCCESS; ++row)
                code = copy_row(plane * sides.to.plane_pitch + row * sides.to.row_pitch,
                                plane * sides.from.plane_pitch + row * sides.from.row_pitch);
        if (code != CUDA_SUCCESS)
            fail(code, one_by_one ? "the copy of a row" : "cuMemcpy3DAsync",
                 fmt::format("{} of {} planes of {} rows of {} bytes", what, size.planes, size.rows,
                             size.row_bytes),
                 context_->device_name());
    });
}

void queue::write_region(runtime::memory to, const runtime::region_layout& to_layout, const void* from,
                         const runtime::region_layout& from_layout, const runtime::region_extent& size,
                         const runtime::dependencies& needs) {
    CUDA_MEMCPY3D ends{};
    ends.srcMemoryType = CU_MEMORYTYPE_HOST;
    ends.srcHost = static_cast<const std::byte*>(from) + from_layout.offset;
    end_at(ends, to, to_layout);
    submit_region("a write", {to_layout, from_layout, ends}, size, needs,
                  [&](std::size_t to_row, std::size_t from_row) {
                      return driver().cuMemcpyHtoDAsync(
                          ends.dstDevice + to_row, static_cast<const std::byte*>(ends.srcHost) + from_row,
                          size.row_bytes, stream_);
                  });
}

void queue::read_region(void* to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    CUDA_MEMCPY3D ends{};
    begin_at(ends, from, from_layout);
    ends.dstMemoryType = CU_MEMORYTYPE_HOST;
    ends.dstHost = static_cast<std::byte*>(to) + to_layout.offset;
    submit_region("a read", {to_layout, from_layout, ends}, size, needs,
                  [&](std::size_t to_row, std::size_t from_row) {
                      return driver().cuMemcpyDtoHAsync(static_cast<std::byte*>(ends.dstHost) + to_row,
                                                        ends.srcDevice + from_row, size.row_bytes, stream_);
                  });
}

void queue::copy_region(runtime::memory to, const runtime::region_layout& to_layout, runtime::memory from,
                        const runtime::region_layout& from_layout, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    CUDA_MEMCPY3D ends{};
    begin_at(ends, from, from_layout);
    end_at(ends, to, to_layout);
    submit_region("a copy", {to_layout, from_layout, ends}, size, needs,
                  [&](std::size_t to_row, std::size_t from_row) {
                      return driver().cuMemcpyDtoDAsync(ends.dstDevice + to_row, ends.srcDevice + from_row,
                                                        size.row_bytes, stream_);
                  });
}

// The driver's fills repeat at most 4 bytes: write the pattern word by word, then double the filled range by
// copying it behind itself. A fill of 1 GiB takes 27 copies and moves each byte about once.
void queue::fill_words(CUdeviceptr to, std::size_t bytes, std::span<const std::byte> pattern) {
    for (std::size_t at = 0; at < pattern.size(); at += 4)
        check(driver().cuMemsetD32Async(to + at, word_at<unsigned>(pattern, at), 1, stream_),
              "cuMemsetD32Async", "the start of a fill", context_->device_name());
    for (std::size_t filled = pattern.size(); filled < bytes;) {
        const std::size_t part = std::min(filled, bytes - filled);
        check(driver().cuMemcpyDtoDAsync(to + filled, to, part, stream_), "cuMemcpyDtoDAsync",
              "the rest of a fill", context_->device_name());
        filled += part;
    }
}

void queue::launch(runtime::driver_kernel& launched, const runtime::grid& over,
                   std::span<const runtime::argument> arguments, const runtime::dependencies& needs) {
    auto& own = static_cast<kernel&>(launched);
    const launch_shape shape = shape_of(own, over, context_->device_name());
    const kernel::parameters given = own.bind(arguments);
    submit(needs, [&] {
        own.allow_local(given.local_bytes);
        const CUresult code = driver().cuLaunchKernel(
            own.get(), shape.groups[0], shape.groups[1], shape.groups[2], shape.local[0], shape.local[1],
            shape.local[2], given.local_bytes, stream_, given.list, nullptr);
        if (code != CUDA_SUCCESS)
            fail(code, "cuLaunchKernel", launch_text(own, over, given.local_bytes), context_->device_name());
    });
}

void queue::multiply(const runtime::matrix_product& what, const runtime::dependencies& needs) {
    if (cublas_ == nullptr) {
        const current_context current(*context_);
        cublas_ = std::make_unique<cublas_handle>(stream_, context_->device_name());
    }
    submit(needs, [&] { cublas_->multiply(what); });
}

void queue::submit_batch(runtime::driver_batch& batch, const runtime::dependencies& needs) {
    submit(needs, [&] {
        check(driver().cuGraphLaunch(static_cast<graph&>(batch).get(), stream_), "cuGraphLaunch",
              "recorded commands", context_->device_name());
    });
}

runtime::event_handle queue::record(std::span<const runtime::event_handle> events) {
    const current_context current(*context_);
    event::timing times;
    if (timing_) times.from = context_->recent_anchor();
    auto point = std::make_shared<event>(context_, pooled_event(*context_, timing_), std::move(times));
    wait_for(events);
    static_cast<void>(point->queue_now());
    record(point->get());
    point->submit_now();
    return point;
}

void queue::give_native(const std::function<void(void* queue)>& give) {
    const current_context current(*context_);  // for driver and runtime calls that `give` makes
    give(stream_);
}

void queue::finish() {
    const current_context current(*context_);
    check(driver().cuStreamSynchronize(stream_), "cuStreamSynchronize", "a queue", context_->device_name());
}

}  // namespace balm::cuda

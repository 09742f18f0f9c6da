// The type-independent part of buffers: transfers to and from their allocation, through the device's default
// queue.

#include "balm/buffer.hpp"
#include "balm/device_pointer.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/memory/mapping.hpp"
#include "runtime/queue/event_state.hpp"

namespace balm {

namespace detail {

namespace {

using runtime::region_extent;
using runtime::region_layout;

// A transfer of no bytes completes with its dependencies.
event nothing_to_do(const memory_part& part, const wait_list& waits) {
    if (part.memory->is_restricted()) part.memory->check_usable(runtime::use::read);
    return waits.empty() ? event{} : part.memory->device().default_queue().record(waits.events());
}

/// The bytes of a buffer of this shape. Throws usage_error if it has more than three dimensions.
std::size_t buffer_bytes(const shape& extents, std::size_t element_size) {
    if (extents.dimensions() > 3)
        throw usage_error(
            fmt::format("A buffer of {} elements was requested; a buffer has at most three dimensions. A "
                        "vector can be viewed in up to {}: balm::view(x, {{…}}).",
                        to_string(extents), shape::max_dimensions));
    return bytes_of(extents, element_size);
}

std::size_t bytes_of(const memory_part& part) { return part.extents.count() * part.element_size; }

/// Whether drivers can fill this: they repeat 1, 2, 4, 8 or 16 bytes, at an offset that is a multiple of
/// them.
bool can_be_filled(const memory_part& part) {
    const std::size_t size = part.element_size;
    return size <= 16 && (size & (size - 1)) == 0 && part.offset % size == 0;
}

// ---- shapes: the last dimension is a row, the one before it counts rows, the first of three planes ----

std::size_t width_of(const shape& extents) { return extents[extents.dimensions() - 1]; }
std::size_t rows_of(const shape& extents) {
    return extents.dimensions() > 1 ? extents[extents.dimensions() - 2] : 1;
}
std::size_t planes_of(const shape& extents) { return extents.dimensions() > 2 ? extents[0] : 1; }

bool is_dense(const memory_part& part) { return part.row_pitch == 0; }

region_extent extent_of(const memory_part& part) {
    return {width_of(part.extents) * part.element_size, rows_of(part.extents), planes_of(part.extents)};
}

bool is_image(const memory_part& part) { return part.memory->image() != nullptr; }

region_layout layout_of(const memory_part& part) {
    if (!is_dense(part))
        return {part.offset, part.row_pitch, part.plane_pitch, is_image(part) ? part.element_size : 0};
    const std::size_t row = width_of(part.extents) * part.element_size;
    return {part.offset, row, row * rows_of(part.extents)};
}

memory_part in_shape(memory_part dense, const shape& extents) {
    dense.extents = extents;
    return dense;
}

// ---- copies inside an allocation ----

bool intervals_meet(std::size_t a, std::size_t b, std::size_t a_size, std::size_t b_size) {
    return a < b + b_size && b < a + a_size;
}

/// Whether two boxes with the same pitches overlap. A box that continues in the next row or plane counts as
/// overlapping, since drivers judge boxes by their coordinates alone.
bool boxes_meet(const memory_part& a, const memory_part& b) {
    const std::size_t row = a.row_pitch, plane = a.plane_pitch;
    const region_extent sizes[] = {extent_of(a), extent_of(b)};
    const std::size_t offsets[] = {a.offset, b.offset};
    for (int k = 0; k < 2; ++k)
        if (offsets[k] % row + sizes[k].row_bytes > row ||
            offsets[k] % plane / row + sizes[k].rows > plane / row)
            return true;
    return intervals_meet(a.offset % row, b.offset % row, sizes[0].row_bytes, sizes[1].row_bytes) &&
           intervals_meet(a.offset % plane / row, b.offset % plane / row, sizes[0].rows, sizes[1].rows) &&
           intervals_meet(a.offset / plane, b.offset / plane, sizes[0].planes, sizes[1].planes);
}

bool have_same_elements(const runtime::image_description& a, const runtime::image_description& b) {
    return a.element == b.element && a.lanes == b.lanes && a.is_normalised == b.is_normalised;
}

/// Whether a single driver command can copy between them.
bool can_copy_directly(const memory_part& to, const memory_part& from) {
    if (is_image(to) != is_image(from)) return is_dense(is_image(to) ? from : to);
    if (is_image(to) && !have_same_elements(*to.memory->image(), *from.memory->image())) return false;
    if (to.memory != from.memory) return true;
    if (is_dense(to) && is_dense(from))
        return !intervals_meet(to.offset, from.offset, bytes_of(to), bytes_of(from));
    return to.row_pitch == from.row_pitch && to.plane_pitch == from.plane_pitch && !boxes_meet(to, from);
}

void enqueue_copy(const memory_part& to, const memory_part& from, std::span<const event> waits, event* made) {
    runtime::queue_state& queue = to.memory->device().default_queue();
    if (is_dense(to) && is_dense(from))
        queue.enqueue_copy(*to.memory, to.offset, *from.memory, from.offset, bytes_of(to), waits, made);
    else
        queue.enqueue_copy_region(*to.memory, layout_of(to), *from.memory, layout_of(from), extent_of(to),
                                  waits, made);
}

/// As many elements in an allocation of their own, on a device.
memory_part temporary_on(runtime::device_state& device, const memory_part& like, const char* purpose) {
    memory_part made;
    made.memory = device.allocate(bytes_of(like), {fmt::format("a temporary for {}", purpose)});
    made.element_size = like.element_size;
    made.extents = like.extents;
    return made;
}
memory_part temporary_like(const memory_part& of, const char* purpose) {
    return temporary_on(of.memory->device(), of, purpose);
}

/// Copies between devices are contiguous: boxes are packed before and unpacked after.
event copy_between_devices(const memory_part& to, const memory_part& from, const wait_list& waits) {
    runtime::device_state& target = to.memory->device();
    runtime::device_state& source = from.memory->device();
    constexpr const char* purpose = "a copy between devices";
    const memory_part sent = is_dense(from) ? from : temporary_on(source, from, purpose);
    const memory_part got = is_dense(to) ? to : temporary_on(target, to, purpose);
    event made;
    if (!is_dense(from)) enqueue_copy(sent, from, waits.events(), nullptr);
    enqueue_copy(got, sent, waits.events(), &made);
    if (!is_dense(to)) enqueue_copy(to, got, {}, &made);
    return made;
}

[[noreturn]] void refuse_region(const memory_part& of, const shape& origin, const shape& extents) {
    throw usage_error(
        fmt::format("The region of {} elements at ({}) does not fit {} of {} elements; it must lie inside "
                    "and have the same number of dimensions.",
                    to_string(extents), to_string(origin), of.kind, to_string(of.extents)));
}

runtime::map_use use_of(mapping_use how) {
    switch (how) {
        case mapping_use::read: return runtime::map_use::read;
        case mapping_use::write: return runtime::map_use::write;
        case mapping_use::overwrite: return runtime::map_use::overwrite;
        case mapping_use::read_write: break;
    }
    return runtime::map_use::read_write;
}

}  // namespace

// ---- parts ----

std::shared_ptr<runtime::storage> buffer_allocate(const std::shared_ptr<runtime::device_state>& on,
                                                  const shape& extents, std::size_t element_size) {
    return on->allocate(buffer_bytes(extents, element_size), {"a buffer", extents, element_size});
}

std::shared_ptr<runtime::storage> managed_allocate(const std::shared_ptr<runtime::device_state>& on,
                                                   const shape& extents, std::size_t element_size) {
    return on->allocate_managed(buffer_bytes(extents, element_size),
                                {"a managed array", extents, element_size});
}

void* storage_address(const runtime::storage& of) { return of.address(); }

void check_range(const char* of, const shape& extents, std::size_t first, std::size_t last) {
    if (first > last || last > extents.count())
        throw usage_error(
            fmt::format("The range [{}, {}) does not fit {} of {} elements ({}); it must not end before it "
                        "begins or after {}.",
                        first, last, of, extents.count(), to_string(extents), extents.count()));
}

memory_part part_range(const memory_part& of, std::size_t first, std::size_t last) {
    check_range(of.kind, of.extents, first, last);
    memory_part part = of;
    part.extents = shape(last - first);
    part.offset += first * of.element_size;
    part.kind = "a range";
    return part;
}

memory_part part_region(const memory_part& of, const shape& origin, const shape& extents) {
    const int dimensions = of.extents.dimensions();
    if (origin.dimensions() != dimensions || extents.dimensions() != dimensions)
        refuse_region(of, origin, extents);
    for (int d = 0; d < dimensions; ++d)
        if (extents[d] > of.extents[d] || origin[d] > of.extents[d] - extents[d])
            refuse_region(of, origin, extents);
    const region_layout at = layout_of(of);
    memory_part part = of;
    part.extents = extents;
    part.kind = "a region";
    part.offset += planes_of(origin) * (dimensions > 2 ? at.plane_pitch : 0) +
                   rows_of(origin) * (dimensions > 1 ? at.row_pitch : 0) + width_of(origin) * of.element_size;
    const region_extent size = extent_of(part);
    const bool rows_touch = size.rows == 1 || size.row_bytes == at.row_pitch;
    const bool planes_touch = size.planes == 1 || size.row_bytes * size.rows == at.plane_pitch;
    const bool is_one_piece = rows_touch && planes_touch && !is_image(of);
    part.row_pitch = is_one_piece ? 0 : at.row_pitch;
    part.plane_pitch = is_one_piece ? 0 : at.plane_pitch;
    return part;
}

memory_part part_reshaped(const memory_part& of, const shape& extents) {
    if (extents.count() != of.extents.count())
        throw usage_error(fmt::format(
            "{} of {} elements ({}) cannot be viewed as {} ({} elements); the element counts must be equal.",
            of.kind, of.extents.count(), to_string(of.extents), to_string(extents), extents.count()));
    buffer_bytes(extents, of.element_size);
    return in_shape(of, extents);
}

memory_part part_as(const memory_part& of, std::size_t element_size, std::size_t alignment) {
    const std::size_t bytes = bytes_of(of);
    if (bytes % element_size != 0 || of.offset % alignment != 0)
        throw usage_error(
            fmt::format("{} of {} bytes at byte {} of its memory cannot be viewed as elements of {} bytes: "
                        "its size must be a multiple of the element size, and its offset a multiple of {}.",
                        of.kind, bytes, of.offset, element_size, alignment));
    memory_part part = of;
    part.element_size = element_size;
    part.extents = shape(bytes / element_size);
    part.kind = "a range";
    return part;
}

memory_part pointed_part(std::shared_ptr<runtime::storage> memory, std::ptrdiff_t offset,
                         std::size_t element_size, std::size_t alignment, std::optional<std::size_t> count) {
    if (memory == nullptr)
        throw usage_error(
            "A null device_pointer was used; get one from device.allocate<T>(n), or from a buffer.");
    const std::size_t end = memory->bytes();
    const bool is_inside = offset >= 0 && static_cast<std::size_t>(offset) <= end;
    const std::size_t room = is_inside ? (end - static_cast<std::size_t>(offset)) / element_size : 0;
    if (!is_inside || count.value_or(0) > room || static_cast<std::size_t>(offset) % alignment != 0)
        throw usage_error(
            fmt::format("A device_pointer to elements of {} bytes, {}, points at byte {} of memory of {} "
                        "bytes ({}): the elements must lie inside the memory, at a multiple of {} bytes.",
                        element_size, count ? fmt::format("{} of them", *count) : "to the memory's end",
                        offset, end, memory->label(), alignment));
    memory_part part;
    part.memory = std::move(memory);
    part.element_size = element_size;
    part.extents = shape(count.value_or(room));
    part.offset = static_cast<std::size_t>(offset);
    part.kind = "a range";
    return part;
}

std::ptrdiff_t moved_offset(std::ptrdiff_t offset, std::ptrdiff_t n, std::ptrdiff_t step) {
    constexpr std::ptrdiff_t furthest = std::ptrdiff_t{1} << 62;  // so that distances between any two fit
    const std::optional<std::ptrdiff_t> distance = checked_product(n, step);
    const std::optional<std::ptrdiff_t> moved = distance ? checked_sum(offset, *distance) : std::nullopt;
    if (!moved || *moved > furthest || *moved < -furthest)
        throw usage_error(
            fmt::format("A device_pointer to byte {} of its memory was moved by {} elements of {} bytes, "
                        "which is out of range.",
                        offset, step < 0 ? fmt::format("-({})", n) : std::to_string(n), std::abs(step)));
    return *moved;
}

std::shared_ptr<runtime::storage> pointer_allocate(const std::shared_ptr<runtime::device_state>& on,
                                                   std::size_t count, std::size_t element_size) {
    return buffer_allocate(on, shape(count), element_size);
}

void pointers_into_two_allocations() {
    throw usage_error(
        "Two device pointers into different allocations were subtracted or ordered; both must point into the "
        "same allocation.");
}

// ---- transfers ----

event part_write(const memory_part& to, const void* from, kept_memory keep, const wait_list& waits) {
    const std::size_t bytes = bytes_of(to);
    if (bytes == 0) return nothing_to_do(to, waits);
    runtime::queue_state& queue = to.memory->device().default_queue();
    runtime::host_memory_owner owner(std::move(keep.owner), keep.is_pinned);
    event made;
    if (is_dense(to))
        queue.enqueue_write(*to.memory, to.offset, from, bytes, std::move(owner), waits.events(), &made);
    else
        queue.enqueue_write_region(*to.memory, layout_of(to), extent_of(to), from, std::move(owner),
                                   waits.events(), &made);
    return made;
}

event part_read(const memory_part& from, void* to, kept_memory keep, const wait_list& waits) {
    const std::size_t bytes = bytes_of(from);
    if (bytes == 0) return nothing_to_do(from, waits);
    runtime::queue_state& queue = from.memory->device().default_queue();
    runtime::host_memory_owner owner(std::move(keep.owner), keep.is_pinned);
    event made;
    if (is_dense(from))
        queue.enqueue_read(to, *from.memory, from.offset, bytes, std::move(owner), waits.events(), &made);
    else
        queue.enqueue_read_region(to, *from.memory, layout_of(from), extent_of(from), std::move(owner),
                                  waits.events(), &made);
    return made;
}

void part_read_now(const memory_part& from, void* to, const wait_list& waits) {
    const std::size_t bytes = bytes_of(from);
    runtime::queue_state& queue = from.memory->device().default_queue();
    if (bytes == 0)
        nothing_to_do(from, waits).wait();
    else if (is_dense(from))
        queue.read(to, *from.memory, from.offset, bytes, waits.events());
    else
        queue.read_region(to, *from.memory, layout_of(from), extent_of(from), waits.events());
}

event part_copy(const memory_part& to, const memory_part& from, const wait_list& waits) {
    if (is_dense(to) && !(to.extents == from.extents))
        return part_copy(in_shape(to, from.extents), from, waits);
    if (is_dense(from) && !(to.extents == from.extents))
        return part_copy(to, in_shape(from, to.extents), waits);
    const bool are_same = to.memory == from.memory && to.offset == from.offset &&
                          to.row_pitch == from.row_pitch && to.plane_pitch == from.plane_pitch &&
                          to.extents == from.extents;
    if (bytes_of(to) == 0 || are_same) return nothing_to_do(from, waits);
    if (&to.memory->device() != &from.memory->device()) return copy_between_devices(to, from, waits);
    event made;
    if (to.extents == from.extents && can_copy_directly(to, from)) {
        enqueue_copy(to, from, waits.events(), &made);
        return made;
    }
    // Drivers cannot copy boxes of different extents or overlapping ranges of one allocation.
    const memory_part between = temporary_like(from, "a copy within a buffer");
    enqueue_copy(between, from, waits.events(), nullptr);
    enqueue_copy(to, in_shape(between, to.extents), {}, &made);
    return made;
}

event part_fill(const memory_part& to, const void* element, const wait_list& waits) {
    const std::size_t bytes = bytes_of(to);
    if (bytes == 0) return nothing_to_do(to, waits);
    runtime::queue_state& queue = to.memory->device().default_queue();
    event made;
    if (!is_dense(to)) {
        // Drivers cannot fill boxes.
        const memory_part all = temporary_like(to, "a fill of a region");
        const event filled = part_fill(all, element, waits);
        enqueue_copy(to, all, {&filled, 1}, &made);
        return made;
    }
    if (can_be_filled(to)) {
        queue.enqueue_fill(*to.memory, to.offset, bytes,
                           {static_cast<const std::byte*>(element), to.element_size}, waits.events(), &made);
        return made;
    }
    const std::shared_ptr<std::byte[]> all(new std::byte[bytes]);
    for (std::size_t at = 0; at < bytes; at += to.element_size)
        std::memcpy(&all[at], element, to.element_size);
    queue.enqueue_write(*to.memory, to.offset, all.get(), bytes, all, waits.events(), &made);
    return made;
}

std::shared_ptr<runtime::mapping> part_map(const memory_part& part, mapping_use how, const wait_list& waits) {
    return std::make_shared<runtime::mapping>(part.memory, part.offset, bytes_of(part), use_of(how),
                                              waits.events());
}

void* mapping_data(const runtime::mapping& of) { return of.data(); }

event mapping_release(runtime::mapping& ended) { return ended.release(); }

std::shared_ptr<runtime::pinned_block> pinned_allocate(const std::shared_ptr<runtime::device_state>& on,
                                                       const shape& extents, std::size_t element_size) {
    return on->allocate_pinned(buffer_bytes(extents, element_size));
}

void* pinned_data(const runtime::pinned_block& of) { return of.data(); }

// ---- allocations ----

void storage_free(runtime::storage& freed) { freed.free(); }

std::shared_ptr<runtime::device_state> storage_device(const runtime::storage& of) {
    return of.device_handle();
}

void buffer_size_mismatch(const char* what, const shape& buffer, std::size_t host, const char* kind) {
    throw usage_error(fmt::format(
        "A {} of {} elements does not fit {} of {} elements ({}); the element counts must be equal.", what,
        host, kind, buffer.count(), to_string(buffer)));
}

}  // namespace detail

}  // namespace balm

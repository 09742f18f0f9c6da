// What buffers of all types share: bytes in and out of their allocation, through the device's own queue.

#include "balm/buffer.hpp"

#include <fmt/format.h>

#include <cstring>

#include "balm/error.hpp"
#include "runtime/device_state.hpp"

namespace balm {

std::string to_string(const shape& of) {
    std::string text = fmt::format("{}", of[0]);
    for (int i = 1; i < of.dimensions(); ++i) text += fmt::format(" x {}", of[i]);
    return text;
}

namespace detail {

namespace {

// A transfer of no bytes is done when what it waits for is.
event nothing_to_do(const wait_list& waits) {
    for (const event& each : waits.events()) each.wait();
    return {};
}

std::size_t bytes_of(const shape& extents, std::size_t element_size) {
    std::size_t bytes = element_size;
    for (int i = 0; i < extents.dimensions(); ++i)
        if (__builtin_mul_overflow(bytes, extents[i], &bytes))
            throw usage_error(fmt::format(
                "A buffer of {} elements of {} bytes is larger than any memory; is a size negative?",
                to_string(extents), element_size));
    return bytes;
}

bool is_pattern(std::size_t element_size) {
    return element_size <= 16 && (element_size & (element_size - 1)) == 0;
}

}  // namespace

std::shared_ptr<runtime::storage> buffer_allocate(const std::shared_ptr<runtime::device_state>& on,
                                                  const shape& extents, std::size_t element_size) {
    return on->allocate(bytes_of(extents, element_size),
                        fmt::format("a buffer of {} elements of {} bytes", to_string(extents), element_size));
}

event buffer_write(runtime::storage& to, const void* from, std::size_t bytes,
                   std::shared_ptr<const void> keep, const wait_list& waits) {
    if (bytes == 0) return nothing_to_do(waits);
    event made;
    to.device().default_queue().enqueue_write(to, 0, from, bytes, std::move(keep), waits.events(), &made);
    return made;
}

event buffer_read(runtime::storage& from, void* to, std::size_t bytes, std::shared_ptr<void> keep,
                  const wait_list& waits) {
    if (bytes == 0) return nothing_to_do(waits);
    event made;
    from.device().default_queue().enqueue_read(to, from, 0, bytes, std::move(keep), waits.events(), &made);
    return made;
}

void buffer_read_now(runtime::storage& from, void* to, std::size_t bytes, const wait_list& waits) {
    if (bytes == 0)
        nothing_to_do(waits);
    else
        from.device().default_queue().read(to, from, 0, bytes, waits.events());
}

event buffer_copy(runtime::storage& to, runtime::storage& from, std::size_t bytes, const wait_list& waits) {
    if (bytes == 0 || &to == &from) return nothing_to_do(waits);
    event made;
    to.device().default_queue().enqueue_copy(to, 0, from, 0, bytes, waits.events(), &made);
    return made;
}

event buffer_fill(runtime::storage& to, std::size_t bytes, const void* element, std::size_t element_size,
                  const wait_list& waits) {
    if (bytes == 0) return nothing_to_do(waits);
    runtime::queue_state& queue = to.device().default_queue();
    event made;
    if (is_pattern(element_size)) {
        queue.enqueue_fill(to, 0, bytes, {static_cast<const std::byte*>(element), element_size},
                           waits.events(), &made);
        return made;
    }
    // Drivers repeat no patterns of other sizes.
    const std::shared_ptr<std::byte[]> all(new std::byte[bytes]);
    for (std::size_t at = 0; at < bytes; at += element_size) std::memcpy(&all[at], element, element_size);
    queue.enqueue_write(to, 0, all.get(), bytes, all, waits.events(), &made);
    return made;
}

std::shared_ptr<runtime::device_state> buffer_device(const runtime::storage& of) {
    return of.device_handle();
}

void buffer_size_mismatch(const char* what, const shape& buffer, std::size_t host) {
    throw usage_error(fmt::format(
        "A {} of {} elements does not fit a buffer of {} elements ({}); the numbers must be equal.", what,
        host, buffer.count(), to_string(buffer)));
}

}  // namespace detail

}  // namespace balm

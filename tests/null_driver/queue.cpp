#include "null_driver/queue.hpp"

#include <cstring>

#include "null_driver/event.hpp"

namespace balm::null {

namespace {

// Relaxed: a count orders nothing.
void add(std::atomic<std::uint64_t>& count, std::uint64_t more = 1) {
    count.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

queue::queue(std::shared_ptr<counters> counts)
    : counters_(std::move(counts)), happened_(std::make_shared<event>()) {}

void queue::submit(std::atomic<std::uint64_t>& count, const runtime::dependencies& needs) {
    add(count);
    if (!needs.wait_for.empty()) add(counters_->waits, needs.wait_for.size());
    if (needs.made == nullptr) return;
    add(counters_->events);
    *needs.made = happened_;
}

void queue::write(runtime::memory, std::size_t, const void*, std::size_t,
                  const runtime::dependencies& needs) {
    submit(counters_->writes, needs);
}

void queue::read(void* to, runtime::memory, std::size_t, std::size_t bytes,
                 const runtime::dependencies& needs) {
    std::memset(to, 0, bytes);
    submit(counters_->reads, needs);
}

void queue::copy(runtime::memory, std::size_t, runtime::memory, std::size_t, std::size_t,
                 const runtime::dependencies& needs) {
    submit(counters_->copies, needs);
}

void queue::fill(runtime::memory, std::size_t, std::size_t, std::span<const std::byte>,
                 const runtime::dependencies& needs) {
    submit(counters_->fills, needs);
}

void queue::write_region(runtime::memory, const runtime::region_layout&, const void*,
                         const runtime::region_layout&, const runtime::region_extent&,
                         const runtime::dependencies& needs) {
    submit(counters_->writes, needs);
}

void queue::read_region(void* to, const runtime::region_layout& to_layout, runtime::memory,
                        const runtime::region_layout&, const runtime::region_extent& size,
                        const runtime::dependencies& needs) {
    std::byte* const first = static_cast<std::byte*>(to) + to_layout.offset;
    for (std::size_t plane = 0; plane < size.planes; ++plane)
        for (std::size_t row = 0; row < size.rows; ++row)
            std::memset(first + plane * to_layout.plane_pitch + row * to_layout.row_pitch, 0, size.row_bytes);
    submit(counters_->reads, needs);
}

void queue::copy_region(runtime::memory, const runtime::region_layout&, runtime::memory,
                        const runtime::region_layout&, const runtime::region_extent&,
                        const runtime::dependencies& needs) {
    submit(counters_->copies, needs);
}

void queue::launch(runtime::driver_kernel& kernel, const runtime::grid& over,
                   std::span<const runtime::argument>, const runtime::dependencies& needs) {
    if (over.local[0] * over.local[1] * over.local[2] > kernel.max_work_group_size())
        add(counters_->too_large);
    std::uint64_t groups = 1;
    for (std::size_t d = 0; d < over.global.size(); ++d) groups *= over.global[d] / over.local[d];
    std::uint64_t most = counters_->most_groups.load(std::memory_order_relaxed);
    while (groups > most &&
           !counters_->most_groups.compare_exchange_weak(most, groups, std::memory_order_relaxed)) {
    }
    submit(counters_->launches, needs);
}

runtime::event_handle queue::record(std::span<const runtime::event_handle> wait_for) {
    add(counters_->events);
    if (!wait_for.empty()) add(counters_->waits, wait_for.size());
    return happened_;
}

void queue::flush() { add(counters_->flushes); }

void queue::finish() { add(counters_->finishes); }

}  // namespace balm::null

// The commands of a queue: each names the allocations that it reads and writes, and what must stay alive
// until it has completed.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

#include "balm/error.hpp"
#include "base/compiler_use.hpp"
#include "base/exit_gate.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/process_exit.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::runtime {

namespace {

// Up to about this size, copying aside is faster than waiting for the device.
constexpr std::size_t most_bytes_staged = std::size_t{4} << 20;

// The memory that map commands name; null if the host sees it anyway.
memory memory_to_map(const storage& mapped) {
    const bool is_visible = mapped.address() != nullptr && !mapped.device().driver().maps_memory();
    return is_visible ? memory{} : mapped.native();
}

// Host memory that stages pieces of a copy to another device, one at a time.
struct passage {
    std::shared_ptr<std::byte> memory;
    bool is_counted = false;  // towards the bytes that a queue holds, or pinned
    event emptied;

    // Pinned memory is scarce: small copies use other memory.
    void open(device_state& source, std::size_t bytes_of_copy, std::size_t bytes) {
        constexpr std::size_t least_pinned = std::size_t{1} << 20;
        std::byte* const pinned = bytes_of_copy < least_pinned ? nullptr : source.copy_staging().take(bytes);
        is_counted = pinned != nullptr;
        if (pinned == nullptr)
            memory.reset(new std::byte[bytes], std::default_delete<std::byte[]>());
        else
            memory.reset(pinned, [device = source.shared_from_this()](std::byte* block) {
                device->copy_staging().give(block);
            });
    }
    host_memory_owner owner() const { return {memory, is_counted}; }
};

// Every kernel may use memory that Balm allocated; adopted memory may be restricted.
void check_kernel_may(std::span<storage* const> reads, std::span<storage* const> writes) {
    for (const storage* const each : reads) each->check_kernel_may(use::read);
    for (const storage* const each : writes) each->check_kernel_may(use::write);
}

}  // namespace

void queue_state::enqueue_launch(driver_kernel& kernel, const grid& over, std::span<const argument> arguments,
                                 std::span<storage* const> reads, std::span<storage* const> writes,
                                 std::span<const event> waits, event* made) {
    release_now_and_then();
    check_kernel_may(reads, writes);
    enqueue({launch_command{nullptr, &kernel, over, arguments}, reads, writes}, waits, made, nullptr);
}

void queue_state::enqueue_launch(kernel_lease& lease, const grid& over, std::span<const argument> arguments,
                                 std::span<storage* const> reads, std::span<storage* const> writes,
                                 std::span<const event> waits, event* made) {
    release_now_and_then();
    check_kernel_may(reads, writes);
    compiled_program& program = lease.program();
    std::optional<compiler_use> until_known;  // to those who wait for first launches
    if (program.awaits_launch()) [[unlikely]]
        until_known.emplace(fmt::format("kernel '{}'", program.kernel_name()));
    std::uint64_t sequence = 0;
    try {
        sequence = enqueue({launch_command{&program, &*lease, over, arguments}, reads, writes}, waits, made,
                           nullptr);
    } catch (...) {
        until_known.reset();  // its pass would let the error of an event that the exit fails into the program
        stay_out_of_exit();
        throw;
    }
    if (until_known && is_handed_over(sequence)) [[unlikely]]
        program.launched(*driver_);
}

void queue_state::enqueue_multiply(const matrix_product& what, std::span<storage* const> reads,
                                   std::span<storage* const> writes, std::span<const event> waits,
                                   event* made) {
    release_now_and_then();
    check_kernel_may(reads, writes);
    const matrix_library library = device_.driver().vendor_library();
    const std::string_view name = library.commands[static_cast<std::size_t>(what.element)];
    const command multiply{multiply_command{what, name}, reads, writes};
    try {
        enqueue(multiply, waits, made, nullptr);
    } catch (
        const out_of_memory_error&) {  // libraries allocate workspaces, which the pool may be in the way of
        if (device_.pool().trim() == 0) throw;
        enqueue(multiply, waits, made, nullptr);
    }
    finish_at_exit(library.words);  // it may have registered something
}

void queue_state::enqueue_batch(std::shared_ptr<driver_batch> batch, std::span<storage* const> reads,
                                std::span<storage* const> writes) {
    release_now_and_then();
    enqueue({batch_command{std::move(batch)}, reads, writes}, {}, nullptr, nullptr);
}

void queue_state::enqueue_write_region(storage& to, const region_layout& layout, const region_extent& size,
                                       const void* from, host_memory_owner keep, std::span<const event> waits,
                                       event* made, std::optional<use> ends_mapping) {
    release_done(true);
    const std::size_t bytes = bytes_of(size);
    if (keep.object == nullptr && bytes <= most_bytes_staged) {
        auto copy = copy_aside(from, bytes);
        from = copy.get();
        keep = host_memory_owner(std::move(copy));
    }
    storage* const written = &to;
    event_handle done;
    std::list<held> kept(1);
    const std::uint64_t sequence = enqueue({write_command{{to.native(), layout}, from, size, &keep},
                                            {},
                                            {&written, 1},
                                            std::nullopt,
                                            ends_mapping},
                                           waits, made, &done);
    if (command_list* const list = command_list::of_thread()) [[unlikely]]
        return list->keep(std::move(keep));
    if (keep.object == nullptr)  // too large to copy: it must be sent before the call returns
        return wait_for(done, sequence);
    kept.front() = {sequence, std::move(done), std::move(keep.object), keep.is_pinned ? 0 : bytes};
    hold(std::move(kept));
}

void queue_state::enqueue_read_region(void* to, storage& from, const region_layout& layout,
                                      const region_extent& size, host_memory_owner keep,
                                      std::span<const event> waits, event* made) {
    release_done(true);
    storage* const used = &from;
    event_handle done;
    std::list<held> kept(keep.object != nullptr ? 1 : 0);
    const std::uint64_t sequence =
        enqueue({read_command{to, {from.native(), layout}, size}, {&used, 1}, {}}, waits, made, &done);
    if (command_list* const list = command_list::of_thread()) [[unlikely]]
        return list->keep(std::move(keep));
    if (keep.object != nullptr) {
        kept.front() = {sequence, std::move(done), std::move(keep.object),
                        keep.is_pinned ? 0 : bytes_of(size)};
        hold(std::move(kept));
    }
    flush_quietly();
}

void queue_state::read_region(void* to, storage& from, const region_layout& layout, const region_extent& size,
                              std::span<const event> waits) {
    if (command_list::of_thread() != nullptr) [[unlikely]]
        throw usage_error(fmt::format(
            "A recording cannot read memory ({}) to the host, since no command runs while it is "
            "recorded. Keep the value on its device, as sum_into does for vectors on one device, or "
            "read it after a replay.",
            from.label()));
    const auto give_back = [&staging = device_.read_staging()](std::byte* block) { staging.give(block); };
    const std::size_t bytes = bytes_of(size);
    const std::unique_ptr<std::byte, decltype(give_back)> staged(device_.read_staging().take(bytes),
                                                                 give_back);
    void* const into = staged != nullptr ? staged.get() : to;
    storage* const used = &from;
    event_handle done;
    const std::uint64_t sequence =
        enqueue({read_command{into, {from.native(), layout}, size}, {&used, 1}, {}}, waits, nullptr, &done);
    wait_for(done, sequence);
    if (staged != nullptr) std::memcpy(to, staged.get(), bytes);
}

void queue_state::enqueue_copy(storage& to, std::size_t to_offset, storage& from, std::size_t from_offset,
                               std::size_t bytes, std::span<const event> waits, event* made) {
    if (&from.device() == &to.device())
        return enqueue_copy_region(to, {to_offset}, from, {from_offset}, {bytes}, waits, made);
    from.device().check();
    if (device_.driver().path_from(from.device().driver()) != copy_path::through_host) {
        storage* const read = &from;
        storage* const written = &to;
        device_state::devices_meet();
        event_handle done;
        std::list<held> kept(1);
        const copy_command copy{{to.native(), {to_offset}},
                                {from.native(), {from_offset}},
                                {bytes},
                                from.device().driver_handle()};
        const std::uint64_t sequence = enqueue({copy, {&read, 1}, {&written, 1}}, waits, made, &done);
        if (command_list::of_thread() != nullptr) [[unlikely]]
            return;
        // Drivers do not order the release of memory after commands of another device's queue.
        kept.front() = {sequence, std::move(done), from.weak_from_this().lock(), 0};
        hold(std::move(kept));
        flush_quietly();
        return;
    }
    copy_through_host(to, to_offset, from, from_offset, bytes, waits, made);
}

void queue_state::copy_through_host(storage& to, std::size_t to_offset, storage& from,
                                    std::size_t from_offset, std::size_t bytes, std::span<const event> waits,
                                    event* made) {
    passage both[2];  // one is filled while the other is emptied
    queue_state& source = from.device().default_queue();
    for (std::size_t done = 0, turn = 0; done < bytes; done += device_state::copy_piece, ++turn) {
        const std::size_t some = std::min(bytes - done, device_state::copy_piece);
        passage& own = both[turn % 2];
        const bool is_new = own.memory == nullptr;
        if (is_new) own.open(from.device(), bytes, some);
        event filled;
        source.enqueue_read(own.memory.get(), from, from_offset + done, some, own.owner(),
                            is_new ? waits : std::span<const event>(&own.emptied, 1), &filled);
        own.is_counted = true;
        filled = host_only(filled);
        enqueue_write(to, to_offset + done, own.memory.get(), some, own.owner(), {&filled, 1}, &own.emptied);
        if (made != nullptr) *made = own.emptied;
        own.emptied = host_only(own.emptied);
    }
}

void queue_state::enqueue_copy_region(storage& to, const region_layout& to_layout, storage& from,
                                      const region_layout& from_layout, const region_extent& size,
                                      std::span<const event> waits, event* made) {
    storage* const read = &from;
    storage* const written = &to;
    const copy_command copy{{to.native(), to_layout}, {from.native(), from_layout}, size, nullptr};
    enqueue({copy, {&read, 1}, {&written, 1}}, waits, made, nullptr);
}

void* queue_state::enqueue_map(storage& mapped, std::size_t offset, std::size_t bytes, map_use how,
                               std::span<const event> waits, event* made) {
    storage* const used = &mapped;
    const std::span<storage*const> all{&used, 1}, none;
    const bool reads = how == map_use::read;
    const memory native = memory_to_map(mapped);
    void* address = native == memory{} ? static_cast<std::byte*>(mapped.address()) + offset : nullptr;
    const map_command map{native, offset, bytes, how, &address};
    enqueue({map, reads ? all : none, reads ? none : all, reads ? use::read : use::write}, waits, made,
            nullptr);
    flush_quietly();
    return address;
}

void queue_state::enqueue_unmap(storage& mapped, void* address, use how, event* made) {
    storage* const used = &mapped;
    const std::span<storage*const> all{&used, 1}, none;
    const bool reads = how == use::read;
    const unmap_command unmap{memory_to_map(mapped), address};
    enqueue({unmap, reads ? all : none, reads ? none : all, std::nullopt, how}, {}, made, nullptr);
    flush_quietly();
}

void queue_state::unmap_quietly(storage& mapped, void* address, use how) noexcept {
    try {
        enqueue_unmap(mapped, address, how);
    } catch (...) {
        mapped.end_mapping(how);
    }
}

void queue_state::enqueue_fill(storage& to, std::size_t offset, std::size_t bytes,
                               std::span<const std::byte> pattern, std::span<const event> waits,
                               event* made) {
    storage* const written = &to;
    fill_command fill{to.native(), offset, bytes, {}, pattern.size()};
    std::copy(pattern.begin(), pattern.end(), fill.pattern.begin());
    enqueue({fill, {}, {&written, 1}}, waits, made, nullptr);
}

void queue_state::enqueue_native(const std::function<void(void*)>& give, std::span<storage* const> reads,
                                 std::span<storage* const> writes, std::span<const event> waits,
                                 event* made) {
    event marker;
    enqueue({marker_command{.is_immediate = true}, reads, writes}, waits, &marker, nullptr);
    const event_handle begin = marker.state()->driver;
    std::exception_ptr failure;  // thrown once the native commands are marked
    try {
        driver_->give_native(give);
    } catch (...) {
        failure = std::current_exception();
    }
    try {
        enqueue({native_command{begin}, reads, writes}, {}, made, nullptr);
    } catch (...) {
        finish_driver_quietly();  // the native commands have no mark
        throw;
    }
    made->state()->begin = begin;
    if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace balm::runtime

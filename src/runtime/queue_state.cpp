// From a command with its allocations and events to the driver's call: find what it has to wait for, submit,
// number it, and mark the allocations.

#include "runtime/queue_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "balm/error.hpp"
#include "runtime/command_observer.hpp"
#include "runtime/device_state.hpp"
#include "runtime/event_state.hpp"
#include "runtime/program_store.hpp"
#include "runtime/promised_event.hpp"

namespace balm::runtime {

namespace {

// Copying aside is faster than waiting for the device up to about here, and the copies must not pile up.
constexpr std::size_t most_bytes_staged = std::size_t{4} << 20;
constexpr std::size_t most_bytes_held = std::size_t{256} << 20;

std::uint64_t next_queue_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

void raise_to(std::atomic<std::uint64_t>& value, std::uint64_t to) noexcept {
    std::uint64_t found = value.load(std::memory_order_relaxed);
    while (found < to && !value.compare_exchange_weak(found, to, std::memory_order_acq_rel)) {
    }
}

std::shared_ptr<std::byte[]> copy_aside(const void* from, std::size_t bytes) {
    std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);  // not set to zero first
    std::memcpy(copy.get(), from, bytes);
    return copy;
}

std::size_t bytes_of(const region_extent& size) { return size.row_bytes * size.rows * size.planes; }

region_layout row_behind_row(const region_extent& size) {
    return {0, size.row_bytes, size.row_bytes * size.rows};
}

// A point in the queue, no command that observers care for, where what follows cannot be deferred.
struct entry {
    driver_queue& queue;
    static constexpr bool is_marker = true;

    void operator()(const dependencies& after) const { *after.made = queue.record(after.wait_for); }
};

// The same where it can.
struct marker : entry {
    std::shared_ptr<compiled_program> program() const { return nullptr; }
    std::function<void(const dependencies&)> owned() const { return *this; }
};

// A write whose bytes are copied aside where the call cannot wait for them to be sent. `write` may be copied.
template <class Write>
struct host_write {
    const void* from;
    std::size_t bytes;
    host_memory_owner& keep;
    Write write;

    void operator()(const dependencies& after) const { write(from, after); }
    std::shared_ptr<compiled_program> program() const { return nullptr; }
    std::function<void(const dependencies&)> owned() const {
        const void* source = from;
        if (keep.object == nullptr) {
            auto copy = copy_aside(from, bytes);
            source = copy.get();
            keep = host_memory_owner(std::move(copy));
        }
        return [write = write, source](const dependencies& after) { write(source, after); };
    }
};

// A copy from another device's memory: the one command whose memory is not all of its own device.
struct copy_between {
    driver_queue& queue;
    std::shared_ptr<driver_device> owner;
    memory to;
    std::size_t to_offset;
    memory from;
    std::size_t from_offset;
    std::size_t bytes;
    static constexpr bool reads_other_devices = true;

    void operator()(const dependencies& after) const {
        queue.copy_from(*owner, to, to_offset, from, from_offset, bytes, after);
    }
    std::shared_ptr<compiled_program> program() const { return nullptr; }
    std::function<void(const dependencies&)> owned() const { return *this; }
};

// The launch of a program's kernel. Deferred, it keeps the program and takes a kernel of it when its turn
// comes.
struct program_launch {
    driver_queue& queue;
    kernel_lease& lease;
    const grid& over;
    std::span<const argument> arguments;

    void operator()(const dependencies& after) const { queue.launch(*lease, over, arguments, after); }
    std::shared_ptr<compiled_program> program() const { return lease.program().shared_from_this(); }
    std::function<void(const dependencies&)> owned() const {
        std::vector<argument> own(arguments.begin(), arguments.end());
        std::vector<std::shared_ptr<const std::byte[]>> long_values;
        for (argument& each : own) {
            if (each.long_value == nullptr) continue;
            long_values.push_back(copy_aside(each.long_value, each.size));
            each.long_value = long_values.back().get();
        }
        return [&on = queue, program = program(), grid = over, own = std::move(own),
                long_values = std::move(long_values)](const dependencies& after) {
            const kernel_lease leased = program->lease_kernel();
            on.launch(*leased, grid, own, after);
        };
    }
};

// Memory of Balm's own serves every kernel; the driver may have made other memory for some.
void check_kernel_may(std::span<storage* const> reads, std::span<storage* const> writes) {
    for (const storage* const each : reads) each->check_kernel_may(use::read);
    for (const storage* const each : writes) each->check_kernel_may(use::write);
}

}  // namespace

queue_state::queue_state(device_state& device, std::shared_ptr<device_state> keep,
                         std::unique_ptr<driver_queue> driver, bool is_timed)
    : device_(device),
      keep_(std::move(keep)),
      id_(next_queue_id()),
      is_timed_(is_timed),
      driver_(std::move(driver)) {}

queue_state::~queue_state() { close(); }

void queue_state::close() noexcept {
    if (std::exchange(is_closed_, true)) return;
    try {
        driver_->finish();
        note_completed(submitted());
        run_host_parts();
    } catch (...) {
        device_.note_late_error(std::current_exception());
    }
}

// ---- submission ----

template <class Submit>
std::uint64_t queue_state::enqueue(std::span<storage* const> reads, std::span<storage* const> writes,
                                   std::span<const event> waits, event* made, event_handle* driver_made,
                                   Submit&& submit) {
    device_.check();
    needs needed;
    event_handle own_event;
    if (made != nullptr && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_late_events(waits, needed);

    const bool event_is_kept = driver_made != nullptr;

    std::unique_lock lock(mutex_);
    const bool is_observed = !observers_.empty() && !requires { submit.is_marker; };
    if (is_observed && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_waits(waits, needed);
    for (const storage* const each : reads)
        prepare(
            *each, use::read, needed, requires { submit.reads_other_devices; });
    for (const storage* const each : writes) prepare(*each, use::write, needed);
    const std::uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
    std::shared_ptr<promised_event> promise;
    if (is_deferring() || needed.late != nullptr) [[unlikely]] {
        if constexpr (requires { submit.owned(); }) {
            deferred_command command;
            command.sequence = sequence;
            command.submit = submit.owned();
            command.program = submit.program();
            command.event_is_kept = event_is_kept;
            promise = defer(std::move(command), std::move(needed), reads, writes);
            if (driver_made != nullptr) *driver_made = promise;
        } else {
            lock.unlock();
            wait_for_turn(needed);
            return enqueue(reads, writes, waits, made, driver_made, std::forward<Submit>(submit));
        }
    } else {
        submit(dependencies{needed.events, driver_made});
        if (!needed.reached.empty()) note_reached(needed.reached);
    }
    submitted_.store(sequence, std::memory_order_release);
    for (storage* const each : reads) each->mark(id_, use::read, sequence);
    for (storage* const each : writes) each->mark(id_, use::write, sequence);
    if (is_observed) [[unlikely]]
        for (const auto& each : observers_) each->enqueued(*driver_made);
    if (made != nullptr) *made = make_event(*driver_made, sequence, std::move(promise));
    return sequence;
}

void queue_state::prepare(const storage& used, use how, needs& needed, bool may_be_foreign) {
    if (&used.device() != &device_ && !may_be_foreign) [[unlikely]]
        refuse_foreign(used);
    if (how == use::read && has_failures()) [[unlikely]]
        check_own_writers(used);
    if (used.is_restricted()) [[unlikely]]
        used.check_usable(how);
    if (used.used_elsewhere(id_)) [[unlikely]]
        add_conflicts(used, how, needed);
}

void queue_state::refuse_foreign(const storage& used) const {
    throw usage_error(fmt::format(
        "A command on {} was given memory ({}) that lives on {}; copy it there first, with copy_to.",
        device_.words(), used.label(), used.device().words()));
}

bool queue_state::chains_on(const event& other) const {
    const event_state& state = *other.state();
    return state.device != nullptr &&
           (state.device == device_.driver_handle() || device_.driver().chains_on(*state.device));
}

// The events that the driver cannot wait for: of other drivers, of the program, of commands that no driver
// has yet. Throws what a complete one failed with. With no lock held.
void queue_state::add_late_events(std::span<const event> waits, needs& needed) const {
    for (const event& each : waits) {
        if (each.state() == nullptr) continue;
        const std::shared_ptr<promised_event>& promise = each.state()->promise;
        if (promise == nullptr ? chains_on(each) : promise->is_settled() && chains_on(each)) continue;
        if (each.is_complete())
            each.wait();
        else
            needed.add_late().events.push_back(each);
    }
}

void queue_state::add_waits(std::span<const event> waits, needs& needed) const {
    for (const event& each : waits) {
        if (each.state() == nullptr || !chains_on(each)) continue;
        const event_state& state = *each.state();
        event_handle native = state.driver;
        if (state.promise != nullptr) {
            if (!state.promise->is_settled()) continue;
            native = state.promise->native();
        }
        const command_id command{state.queue_id, state.sequence};
        if (native == nullptr || comes_after(command)) continue;
        needed.events.push_back(std::move(native));
        needed.reached.push_back(command);
    }
}

void queue_state::add_conflicts(const storage& used, use how, needs& needed) const {
    std::vector<command_id> conflicts;
    used.collect_conflicts(id_, how, conflicts);
    for (const command_id& command : conflicts) {
        const std::shared_ptr<queue_state> other = device_.find_queue(command.queue);
        if (other == nullptr) continue;  // it finished when it went
        if (how == use::read && other->has_failures()) other->check_not_failed(command.sequence, used);
        if (comes_after(command)) continue;
        if (!other->is_handed_over(command.sequence)) {
            needed.add_late().conflicts.push_back(command);
            continue;
        }
        if (event_handle point = other->point_after(command.sequence)) {
            needed.events.push_back(std::move(point));
            needed.reached.push_back(command);
        }
    }
}

bool queue_state::comes_after(const command_id& command) const {
    if (command.queue == id_) return true;
    for (const command_id& each : waited_)
        if (each.queue == command.queue) return each.sequence >= command.sequence;
    return false;
}

void queue_state::note_reached(std::span<const command_id> reached) {
    for (const command_id& command : reached) {
        const auto known = std::find_if(waited_.begin(), waited_.end(),
                                        [&](const command_id& each) { return each.queue == command.queue; });
        if (known == waited_.end())
            waited_.push_back(command);
        else
            known->sequence = std::max(known->sequence, command.sequence);
    }
}

event queue_state::make_event(event_handle driver, std::uint64_t sequence,
                              std::shared_ptr<promised_event> promise) const {
    return event(std::make_shared<event_state>(
        event_state{std::move(driver), device_.driver_handle(), handle_, id_, sequence, std::move(promise)}));
}

// ---- commands ----

void queue_state::enqueue_launch(driver_kernel& kernel, const grid& over, std::span<const argument> arguments,
                                 std::span<storage* const> reads, std::span<storage* const> writes,
                                 std::span<const event> waits, event* made) {
    release_now_and_then();
    check_kernel_may(reads, writes);
    enqueue(reads, writes, waits, made, nullptr,
            [&](const dependencies& after) { driver_->launch(kernel, over, arguments, after); });
}

void queue_state::enqueue_launch(kernel_lease& lease, const grid& over, std::span<const argument> arguments,
                                 std::span<storage* const> reads, std::span<storage* const> writes,
                                 std::span<const event> waits, event* made) {
    release_now_and_then();
    check_kernel_may(reads, writes);
    const std::uint64_t sequence =
        enqueue(reads, writes, waits, made, nullptr, program_launch{*driver_, lease, over, arguments});
    if (lease.program().awaits_launch() && is_handed_over(sequence)) [[unlikely]]
        lease.program().launched(*driver_->record());
}

template <class Write>
void queue_state::write_with(storage& to, const void* from, std::size_t bytes, host_memory_owner keep,
                             std::span<const event> waits, event* made, const Write& write) {
    release_done(true);
    if (keep.object == nullptr && bytes <= most_bytes_staged) {
        auto copy = copy_aside(from, bytes);
        from = copy.get();
        keep = host_memory_owner(std::move(copy));
    }
    storage* const written = &to;
    event_handle done;
    const std::uint64_t sequence =
        enqueue({}, {&written, 1}, waits, made, &done, host_write<Write>{from, bytes, keep, write});
    if (keep.object == nullptr)  // too large to be copied: it must be gone before the call returns
        wait_for(done, sequence);
    else
        hold(sequence, std::move(done), std::move(keep.object), keep.is_pinned ? 0 : bytes);
}

template <class Read>
void queue_state::read_with(storage& from, std::size_t bytes, host_memory_owner keep,
                            std::span<const event> waits, event* made, const Read& read) {
    release_done(true);
    storage* const used = &from;
    event_handle done;
    const std::uint64_t sequence = enqueue({&used, 1}, {}, waits, made, &done, self_contained{read});
    driver_->flush();
    if (keep.object != nullptr)
        hold(sequence, std::move(done), std::move(keep.object), keep.is_pinned ? 0 : bytes);
}

template <class Read>
void queue_state::read_now_with(storage& from, std::span<const event> waits, const Read& read) {
    storage* const used = &from;
    event_handle done;
    const std::uint64_t sequence = enqueue({&used, 1}, {}, waits, nullptr, &done, self_contained{read});
    wait_for(done, sequence);
}

void queue_state::enqueue_write(storage& to, std::size_t offset, const void* from, std::size_t bytes,
                                host_memory_owner keep, std::span<const event> waits, event* made) {
    write_with(to, from, bytes, std::move(keep), waits, made,
               [&driver = *driver_, native = to.native(), offset, bytes](const void* staged,
                                                                         const dependencies& after) {
                   driver.write(native, offset, staged, bytes, after);
               });
}

void queue_state::enqueue_write_region(storage& to, const region_layout& layout, const region_extent& size,
                                       const void* from, host_memory_owner keep, std::span<const event> waits,
                                       event* made) {
    write_with(to, from, bytes_of(size), std::move(keep), waits, made,
               [&driver = *driver_, native = to.native(), layout, size](const void* staged,
                                                                        const dependencies& after) {
                   driver.write_region(native, layout, staged, row_behind_row(size), size, after);
               });
}

void queue_state::enqueue_read(void* to, storage& from, std::size_t offset, std::size_t bytes,
                               host_memory_owner keep, std::span<const event> waits, event* made) {
    read_with(from, bytes, std::move(keep), waits, made,
              [&driver = *driver_, to, native = from.native(), offset, bytes](const dependencies& after) {
                  driver.read(to, native, offset, bytes, after);
              });
}

void queue_state::enqueue_read_region(void* to, storage& from, const region_layout& layout,
                                      const region_extent& size, host_memory_owner keep,
                                      std::span<const event> waits, event* made) {
    read_with(from, bytes_of(size), std::move(keep), waits, made,
              [&driver = *driver_, to, native = from.native(), layout, size](const dependencies& after) {
                  driver.read_region(to, row_behind_row(size), native, layout, size, after);
              });
}

void queue_state::read(void* to, storage& from, std::size_t offset, std::size_t bytes,
                       std::span<const event> waits) {
    std::byte* const staged = device_.staging().take(bytes);
    void* const into = staged != nullptr ? staged : to;
    read_now_with(from, waits,
                  [&driver = *driver_, into, native = from.native(), offset,
                   bytes](const dependencies& after) { driver.read(into, native, offset, bytes, after); });
    if (staged == nullptr) return;
    std::memcpy(to, staged, bytes);
    device_.staging().give(staged);
}

void queue_state::read_region(void* to, storage& from, const region_layout& layout, const region_extent& size,
                              std::span<const event> waits) {
    read_now_with(from, waits,
                  [&driver = *driver_, to, native = from.native(), layout, size](const dependencies& after) {
                      driver.read_region(to, row_behind_row(size), native, layout, size, after);
                  });
}

void queue_state::enqueue_copy(storage& to, std::size_t to_offset, storage& from, std::size_t from_offset,
                               std::size_t bytes, std::span<const event> waits, event* made) {
    storage* const read = &from;
    storage* const written = &to;
    if (&from.device() != &to.device()) {
        from.device().check();
        if (device_.driver().path_from(from.device().driver()) != copy_path::through_host) {
            device_state::devices_meet();
            event_handle done;
            const std::uint64_t sequence =
                enqueue({&read, 1}, {&written, 1}, waits, made, &done,
                        copy_between{*driver_, from.device().driver_handle(), to.native(), to_offset,
                                     from.native(), from_offset, bytes});
            driver_->flush();
            // No driver frees memory in the order of another device's queue.
            hold(sequence, std::move(done), from.weak_from_this().lock(), 0);
            return;
        }
        const std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
        event got;
        from.device().default_queue().enqueue_read(copy.get(), from, from_offset, bytes, copy, waits, &got);
        got = host_only(got);
        enqueue_write(to, to_offset, copy.get(), bytes, copy, {&got, 1}, made);
        return;
    }
    enqueue({&read, 1}, {&written, 1}, waits, made, nullptr,
            self_contained{[&driver = *driver_, to_native = to.native(), to_offset,
                            from_native = from.native(), from_offset, bytes](const dependencies& after) {
                driver.copy(to_native, to_offset, from_native, from_offset, bytes, after);
            }});
}

void queue_state::enqueue_copy_region(storage& to, const region_layout& to_layout, storage& from,
                                      const region_layout& from_layout, const region_extent& size,
                                      std::span<const event> waits, event* made) {
    storage* const read = &from;
    storage* const written = &to;
    enqueue({&read, 1}, {&written, 1}, waits, made, nullptr,
            self_contained{[&driver = *driver_, to_native = to.native(), to_layout,
                            from_native = from.native(), from_layout, size](const dependencies& after) {
                driver.copy_region(to_native, to_layout, from_native, from_layout, size, after);
            }});
}

void* queue_state::enqueue_map(storage& mapped, std::size_t offset, std::size_t bytes, map_use how,
                               std::span<const event> waits, event* made) {
    storage* const used = &mapped;
    const std::span<storage*const> all{&used, 1}, none;
    const bool reads = how == map_use::read;
    void* address = nullptr;
    const bool is_seen = mapped.address() != nullptr && !device_.driver().maps_memory();
    enqueue(reads ? all : none, reads ? none : all, waits, made, nullptr, [&](const dependencies& after) {
        if (!is_seen) {
            address = driver_->map(mapped.native(), offset, bytes, how, after);
            return;
        }
        address = static_cast<std::byte*>(mapped.address()) + offset;
        *after.made = driver_->record(after.wait_for);
    });
    mapped.begin_mapping(reads ? use::read : use::write);
    driver_->flush();
    return address;
}

void queue_state::enqueue_unmap(storage& mapped, void* address, use how, event* made) {
    mapped.end_mapping(how);
    storage* const used = &mapped;
    const std::span<storage*const> all{&used, 1}, none;
    const bool reads = how == use::read;
    enqueue(reads ? all : none, reads ? none : all, {}, made, nullptr, [&](const dependencies& after) {
        if (mapped.address() == nullptr || device_.driver().maps_memory())
            driver_->unmap(mapped.native(), address, after);
        else if (after.made != nullptr)
            *after.made = driver_->record(after.wait_for);
    });
    driver_->flush();
}

void queue_state::enqueue_fill(storage& to, std::size_t offset, std::size_t bytes,
                               std::span<const std::byte> pattern, std::span<const event> waits,
                               event* made) {
    storage* const written = &to;
    std::array<std::byte, 16> own{};
    std::copy(pattern.begin(), pattern.end(), own.begin());
    enqueue({}, {&written, 1}, waits, made, nullptr,
            self_contained{[&driver = *driver_, native = to.native(), offset, bytes, own,
                            size = pattern.size()](const dependencies& after) {
                driver.fill(native, offset, bytes, std::span(own).first(size), after);
            }});
}

void queue_state::enqueue_native(const std::function<void(void*)>& give, std::span<storage* const> reads,
                                 std::span<storage* const> writes, std::span<const event> waits,
                                 event* made) {
    event begin;
    enqueue(reads, writes, waits, &begin, nullptr, entry{*driver_});
    std::exception_ptr failure;  // thrown once what was given is marked
    try {
        driver_->give_native(give);
    } catch (...) {
        failure = std::current_exception();
    }
    enqueue(reads, writes, {}, made, nullptr, marker{{*driver_}});
    made->state()->begin = begin.state()->driver;
    if (failure != nullptr) std::rethrow_exception(failure);
}

void queue_state::flush() { driver_->flush(); }

void queue_state::finish() {
    const std::uint64_t last = submitted();
    wait_until_handed_over(last);
    driver_->finish();
    note_completed(last);
    release_done(false);
    run_host_parts();
    device_.check();
}

event queue_state::record(std::span<const event> waits) {
    event made;
    enqueue({}, {}, waits, &made, nullptr, marker{{*driver_}});
    return made;
}

void queue_state::add_observer(std::shared_ptr<command_observer> added) {
    const std::lock_guard lock(mutex_);
    if (std::find(observers_.begin(), observers_.end(), added) == observers_.end())
        observers_.push_back(std::move(added));
}

void queue_state::remove_observer(const command_observer* gone) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(observers_, [&](const auto& each) { return each.get() == gone; });
}

// ---- what is known of commands ----

event_handle queue_state::point_after(std::uint64_t sequence) {
    if (completed() >= sequence) return nullptr;
    const std::lock_guard lock(point_mutex_);
    if (point_ == nullptr || point_sequence_ < sequence) {
        // Before recording: the point is at least there. Those deferred are not, nor is what comes later.
        std::uint64_t covered = submitted();
        covered = std::min(covered, first_deferred_.load(std::memory_order_acquire) - 1);
        point_ = driver_->record();
        point_sequence_ = covered;
    }
    return point_;
}

void queue_state::note_completed(std::uint64_t sequence) noexcept { raise_to(completed_, sequence); }

void queue_state::note_failed(std::uint64_t sequence, const std::string& reason) noexcept {
    try {
        const std::lock_guard lock(failures_mutex_);
        failures_.emplace_back(sequence, reason);
        has_failures_.store(true, std::memory_order_release);
    } catch (...) {  // out of host memory: the error itself is thrown anyway
    }
}

void queue_state::check_not_failed(std::uint64_t sequence, const storage& written) const {
    const std::lock_guard lock(failures_mutex_);
    for (const auto& [failed, reason] : failures_)
        if (failed == sequence)
            throw device_error(
                fmt::format("The command that last wrote this memory ({}) on {} failed, so it holds nothing "
                            "that can be read; write it again. The failure was: {}",
                            written.label(), device_.words(), reason));
}

void queue_state::check_own_writers(const storage& used) const {
    std::vector<command_id> writers;
    used.collect_writers(writers);
    for (const command_id& writer : writers)
        if (writer.queue == id_) check_not_failed(writer.sequence, used);
}

void queue_state::wait_for(const event_handle& done, std::uint64_t sequence) {
    try {
        done->wait();
    } catch (const std::exception& fault) {
        note_failed(sequence, fault.what());
        throw;
    }
    note_completed(sequence);
    release_done(false);
    run_host_parts(sequence);
}

// ---- what is left to do on the host ----

void queue_state::when_done(std::uint64_t sequence, host_parts::part what) {
    host_parts_.add(sequence, std::move(what));
}

void queue_state::run_host_parts(std::uint64_t waited_for) {
    if (host_parts_.is_empty()) return;
    const auto reader = [this]() -> driver_queue& {
        queue_options options;
        options.timing = false;
        if (reader_ == nullptr) reader_ = device_.driver().make_queue(options);
        return *reader_;
    };
    host_parts_.run(completed(), waited_for, reader,
                    [this](std::uint64_t failed, const char* what) { note_failed(failed, what); });
}

// ---- what is kept alive ----

void queue_state::keep_until_done(std::shared_ptr<const void> object) {
    const event point = record();
    hold(point.state()->sequence, point.state()->driver, std::move(object), 0);
}

void queue_state::hold(std::uint64_t sequence, event_handle done, std::shared_ptr<const void> object,
                       std::size_t bytes) {
    event_handle oldest;
    std::uint64_t oldest_sequence = 0;
    {
        const std::lock_guard lock(held_mutex_);
        held_.push_back({sequence, std::move(done), std::move(object), bytes});
        held_bytes_ += bytes;
        holds_.store(true, std::memory_order_relaxed);
        if (held_bytes_ > most_bytes_held && held_.size() > 1) {
            const held& middle = held_[held_.size() / 2];
            // What waits for the program must not have the program wait: then they pile up.
            if (is_handed_over(middle.sequence)) {
                oldest = middle.done;
                oldest_sequence = middle.sequence;
            }
        }
    }
    if (oldest != nullptr) wait_for(oldest, oldest_sequence);
}

void queue_state::release_now_and_then() {
    if (holds_.load(std::memory_order_relaxed) && submitted() % 32 == 0) release_done(true);
}

void queue_state::release_done(bool ask_driver) {
    if (!holds_.load(std::memory_order_relaxed)) return;
    std::vector<std::shared_ptr<const void>> released;  // goes after the lock
    const std::lock_guard lock(held_mutex_);
    while (!held_.empty()) {
        held& oldest = held_.front();
        if (oldest.sequence > completed()) {
            if (!ask_driver || !oldest.done->is_complete()) break;
            note_completed(oldest.sequence);
        }
        released.push_back(std::move(oldest.object));
        held_bytes_ -= oldest.bytes;
        held_.pop_front();
    }
    holds_.store(!held_.empty(), std::memory_order_relaxed);
}

}  // namespace balm::runtime

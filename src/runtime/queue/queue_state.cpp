// From a command with its allocations and events to the driver's call: find what it has to wait for, submit,
// number it, and mark the allocations.

#include "runtime/queue/queue_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/command_observer.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/promised_event.hpp"

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

// What map commands name: null where the host sees the memory anyway.
memory memory_to_map(const storage& mapped) {
    const bool is_visible = mapped.address() != nullptr && !mapped.device().driver().maps_memory();
    return is_visible ? memory{} : mapped.native();
}

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
    if (std::exchange(is_closed_, true) || is_forked()) return;
    finish_quietly();
}

// ---- submission ----

std::uint64_t queue_state::enqueue(const command& given, std::span<const event> waits, event* made,
                                   event_handle* driver_made) {
    device_.check();
    needs needed;
    event_handle own_event;
    if (made != nullptr && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_late_events(waits, needed);

    const bool event_is_kept = driver_made != nullptr;

    std::unique_lock lock(mutex_);
    const bool is_observed = !observers_.empty() && !is_marker(given);
    if (is_observed && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_waits(waits, needed);
    const bool may_be_foreign = reads_other_device(given);
    for (storage* const each : given.reads) prepare(*each, use::read, needed, may_be_foreign);
    for (storage* const each : given.writes) prepare(*each, use::write, needed);
    const bool is_deferred = is_deferring() || needed.late != nullptr;
    if (is_deferred && (!can_be_deferred(given) || !ensure_polled())) [[unlikely]] {
        lock.unlock();
        wait_for_turn(needed);
        return enqueue(given, waits, made, event_is_kept ? driver_made : nullptr);
    }
    const std::uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
    std::shared_ptr<event_state> state;
    std::shared_ptr<promised_event> promise;
    try {  // all that can fail comes before the driver has the command
        if (made != nullptr)
            state = std::make_shared<event_state>(
                event_state{nullptr, device_.driver_handle(), handle_, id_, sequence});
        if (!needed.reached.empty()) waited_.reserve(waited_.size() + needed.reached.size());
        if (!host_parts_.is_empty()) [[unlikely]]
            for (const storage* const each : given.reads) follow_writers(*each, sequence);
        if (!is_deferred) [[likely]] {
            issue(given, *driver_, dependencies{needed.events, driver_made});
            note_reached(needed.reached);
        } else {
            deferred_command command;
            command.sequence = sequence;
            command.what = own(given);
            command.event_is_kept = event_is_kept;
            command.thread = this_thread_number();
            promise = defer(std::move(command), std::move(needed));
            if (driver_made != nullptr) *driver_made = promise;
        }
    } catch (...) {
        submitted_.store(sequence, std::memory_order_release);  // spent: it is noted with what is followed
        throw;
    }
    submitted_.store(sequence, std::memory_order_release);
    for (storage* const each : given.reads) each->mark(id_, use::read, sequence);
    for (storage* const each : given.writes) each->mark(id_, use::write, sequence);
    if (is_observed) [[unlikely]]
        for (const auto& each : observers_) each->enqueued(given, *driver_made);
    if (made == nullptr) return sequence;
    state->driver = *driver_made;
    state->promise = std::move(promise);
    *made = event(std::move(state));
    return sequence;
}

void queue_state::prepare(storage& used, use how, needs& needed, bool may_be_foreign) {
    if (&used.device() != &device_ && !may_be_foreign) [[unlikely]]
        refuse_foreign(used);
    if (how == use::read && has_failures()) [[unlikely]]
        check_own_writers(used);
    if (used.is_restricted()) [[unlikely]]
        used.check_usable(how);
    if (!used.is_used_by_only(id_) && used.admit(id_)) [[unlikely]]
        add_conflicts(used, how, needed);
}

// What it reads may turn out to be of no use: then so is what it writes.
void queue_state::follow_writers(const storage& used, std::uint64_t sequence) {
    std::vector<command_id> writers;
    used.collect_writers(writers);
    for (const command_id& writer : writers)
        if (writer.queue == id_) host_parts_.follow(writer.sequence, sequence);
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

// There is room for them.
void queue_state::note_reached(std::span<const command_id> reached) noexcept {
    for (const command_id& command : reached) {
        const auto known = std::find_if(waited_.begin(), waited_.end(),
                                        [&](const command_id& each) { return each.queue == command.queue; });
        if (known == waited_.end())
            waited_.push_back(command);
        else
            known->sequence = std::max(known->sequence, command.sequence);
    }
}

// ---- commands ----

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
    const std::uint64_t sequence =
        enqueue({launch_command{&program, &*lease, over, arguments}, reads, writes}, waits, made, nullptr);
    if (program.awaits_launch() && is_handed_over(sequence)) [[unlikely]]
        program.launched(*driver_);
}

void queue_state::enqueue_write_region(storage& to, const region_layout& layout, const region_extent& size,
                                       const void* from, host_memory_owner keep, std::span<const event> waits,
                                       event* made) {
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
    const std::uint64_t sequence = enqueue(
        {write_command{{to.native(), layout}, from, size, &keep}, {}, {&written, 1}}, waits, made, &done);
    if (keep.object == nullptr)  // too large to be copied: it must be gone before the call returns
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
    if (keep.object != nullptr) {
        kept.front() = {sequence, std::move(done), std::move(keep.object),
                        keep.is_pinned ? 0 : bytes_of(size)};
        hold(std::move(kept));
    }
    flush_quietly();
}

void queue_state::read_region(void* to, storage& from, const region_layout& layout, const region_extent& size,
                              std::span<const event> waits) {
    const auto give_back = [&staging = device_.staging()](std::byte* block) { staging.give(block); };
    const std::size_t bytes = bytes_of(size);
    const std::unique_ptr<std::byte, decltype(give_back)> staged(device_.staging().take(bytes), give_back);
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
        // No driver frees memory in the order of another device's queue.
        kept.front() = {sequence, std::move(done), from.weak_from_this().lock(), 0};
        hold(std::move(kept));
        flush_quietly();
        return;
    }
    const std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
    event got;
    from.device().default_queue().enqueue_read(copy.get(), from, from_offset, bytes, copy, waits, &got);
    got = host_only(got);
    enqueue_write(to, to_offset, copy.get(), bytes, copy, {&got, 1}, made);
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
    enqueue({map, reads ? all : none, reads ? none : all}, waits, made, nullptr);
    mapped.begin_mapping(reads ? use::read : use::write);
    flush_quietly();
    return address;
}

void queue_state::enqueue_unmap(storage& mapped, void* address, use how, event* made) {
    mapped.end_mapping(how);
    storage* const used = &mapped;
    const std::span<storage*const> all{&used, 1}, none;
    const bool reads = how == use::read;
    try {
        enqueue({unmap_command{memory_to_map(mapped), address}, reads ? all : none, reads ? none : all}, {},
                made, nullptr);
    } catch (...) {
        mapped.begin_mapping(how);  // it still is
        throw;
    }
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
    event begin;
    enqueue({marker_command{.is_immediate = true}, reads, writes}, waits, &begin, nullptr);
    std::exception_ptr failure;  // thrown once what was given is marked
    try {
        driver_->give_native(give);
    } catch (...) {
        failure = std::current_exception();
    }
    try {
        enqueue({marker_command{}, reads, writes}, {}, made, nullptr);
    } catch (...) {
        finish_driver_quietly();  // what was given has no mark
        throw;
    }
    made->state()->begin = begin.state()->driver;
    if (failure != nullptr) std::rethrow_exception(failure);
}

void queue_state::flush() {
    refuse_if_forked();
    driver_->flush();
}

void queue_state::finish() {
    refuse_if_forked();
    const std::uint64_t last = submitted();
    wait_until_handed_over(last);
    driver_->finish();
    note_completed(last);
    release_done(false);
    find_failures();
    throw_failure(0, true);
    device_.check();
}

void queue_state::finish_quietly() noexcept {
    const std::uint64_t last = submitted();
    try {
        wait_until_handed_over(last);
        driver_->finish();
        note_completed(last);
        release_done(false);
    } catch (...) {  // whoever waits for what failed sees the error
    }
    find_failures();
    hand_on_failures();
}

// For what is enqueued: where it fails, whoever waits for it flushes, too.
void queue_state::flush_quietly() noexcept {
    try {
        driver_->flush();
    } catch (...) {
    }
}

void queue_state::finish_driver_quietly() noexcept {
    for (int tries = 0; tries < 2; ++tries) {  // a driver that is short of something may not be so for long
        try {
            return driver_->finish();
        } catch (...) {
        }
    }
}

event queue_state::record(std::span<const event> waits) {
    event made;
    enqueue({marker_command{}, {}, {}}, waits, &made, nullptr);
    return made;
}

void queue_state::add_observer(std::shared_ptr<command_observer> added) {
    const std::lock_guard lock(mutex_);
    if (std::find(observers_.begin(), observers_.end(), added) == observers_.end())
        observers_.push_back(std::move(added));
}

void queue_state::remove_observer(const command_observer* gone) noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(observers_, [&](const auto& each) { return each.get() == gone; });
}

// ---- what is known of commands ----

event_handle queue_state::point_after(std::uint64_t sequence) {
    if (completed() >= sequence) return nullptr;
    const std::lock_guard lock(point_mutex_);
    if (point_ == nullptr || point_sequence_ < sequence) {
        // Before recording: the point is at least there. Those deferred are not, nor is what comes later.
        const std::uint64_t covered = last_handed_over();
        point_ = driver_->record();
        point_sequence_ = covered;
    }
    return point_;
}

void queue_state::note_completed(std::uint64_t sequence) noexcept { raise_to(completed_, sequence); }

void queue_state::note_failed(std::uint64_t sequence, std::exception_ptr failure) noexcept {
    try {
        std::list<failed_command> made(1);
        failed_command& command = made.front();
        command.commands.push_back(sequence);
        command.failure = std::move(failure);
        command.spoils_memory = command.is_told = true;
        add_failure(std::move(made));
    } catch (...) {  // out of host memory: the error itself is thrown anyway
    }
}

void queue_state::check_not_failed(std::uint64_t sequence, const storage& written) const {
    const std::lock_guard lock(failures_mutex_);
    for (const failed_command& each : failures_)
        if (each.spoils_memory && each.concerns(sequence))
            throw device_error(
                fmt::format("The command that last wrote this memory ({}) on {} failed, so it holds nothing "
                            "that can be read; write it again. The failure was: {}",
                            written.label(), device_.words(), words_of(each.failure)));
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
    } catch (...) {
        note_failed(sequence, std::current_exception());
        finish_driver_quietly();  // the command may use the caller's memory
        throw;
    }
    note_completed(sequence);
    release_done(false);
    run_host_parts(sequence);
}

// ---- what is left to do on the host ----

void queue_state::when_done(const event& done, host_parts::entries&& prepared) noexcept {
    host_parts_.add(done.state()->sequence, std::move(prepared), done.state());
}

void queue_state::run_host_parts(std::uint64_t waited_for) {
    find_failures();
    throw_failure(waited_for, false);
}

void queue_state::find_failures() noexcept {
    if (host_parts_.is_empty()) return;
    const auto reader = [this]() -> driver_queue& {
        queue_options options;
        options.timing = false;
        if (reader_ == nullptr) reader_ = device_.driver().make_queue(options);
        return *reader_;
    };
    host_parts_.run(completed(), reader,
                    [this](std::list<failed_command>&& found) { add_failure(std::move(found)); });
}

// Those that nobody can ask for any more go: a program that goes on after failures keeps few of them.
void queue_state::add_failure(std::list<failed_command>&& one) noexcept {
    const std::lock_guard lock(failures_mutex_);
    std::erase_if(failures_, [this](const failed_command& each) {
        return each.is_told && each.event.expired() && !device_.has_memory_written_by(id_, each);
    });
    const std::uint64_t command = one.front().commands.front();
    if (!one.front().is_told || std::none_of(failures_.begin(), failures_.end(),
                                             [=](const auto& each) { return each.concerns(command); }))
        failures_.splice(failures_.end(), one);
    has_failures_.store(true, std::memory_order_release);
}

void queue_state::throw_failure(std::uint64_t waited_for, bool of_all_threads) {
    if (!has_failures()) return;
    std::exception_ptr found;
    {
        const std::lock_guard lock(failures_mutex_);
        const auto find = [&](auto&& is_concerned) {
            const auto each = std::find_if(failures_.begin(), failures_.end(), is_concerned);
            if (each == failures_.end()) return;
            each->is_told = true;
            found = each->failure;
        };
        find([&](const failed_command& each) { return each.was_late && each.concerns(waited_for); });
        if (found == nullptr)
            find([&](const failed_command& each) {
                return !each.is_told && (of_all_threads || each.thread == this_thread_number());
            });
    }
    if (found != nullptr) std::rethrow_exception(found);
}

void queue_state::hand_on_failures() noexcept {
    if (!has_failures()) return;
    const std::lock_guard lock(failures_mutex_);
    for (failed_command& each : failures_)
        if (!std::exchange(each.is_told, true)) device_.note_late_error(each.failure, each.thread);
}

// ---- what is kept alive ----

void queue_state::hold(std::list<held>&& one) noexcept {
    event_handle oldest;
    std::uint64_t oldest_sequence = 0;
    {
        const std::lock_guard lock(held_mutex_);
        held_bytes_ += one.front().bytes;
        held_.splice(held_.end(), one);
        holds_.store(true, std::memory_order_relaxed);
        if (held_bytes_ > most_bytes_held && held_.size() > 1) {
            const held& middle = *std::next(held_.begin(), static_cast<std::ptrdiff_t>(held_.size() / 2));
            // What waits for the program must not have the program wait: then they pile up.
            if (is_handed_over(middle.sequence)) {
                oldest = middle.done;
                oldest_sequence = middle.sequence;
            }
        }
    }
    if (oldest == nullptr) return;
    try {
        oldest->wait();
        note_completed(oldest_sequence);
        release_done(false);
    } catch (...) {  // another caller's command: its memory tells, and its event
        note_failed(oldest_sequence, std::current_exception());
    }
}

void queue_state::release_now_and_then() {
    if (holds_.load(std::memory_order_relaxed) && submitted() % 32 == 0) release_done(true);
}

void queue_state::release_done(bool ask_driver) {
    if (!holds_.load(std::memory_order_relaxed)) return;
    refuse_if_forked();
    std::list<held> released;  // goes after the lock
    const std::lock_guard lock(held_mutex_);
    while (!held_.empty()) {
        held& oldest = held_.front();
        if (oldest.sequence > completed()) {
            if (!ask_driver || !oldest.done->is_complete()) break;
            note_completed(oldest.sequence);
        }
        held_bytes_ -= oldest.bytes;
        released.splice(released.end(), held_, held_.begin());
    }
    holds_.store(!held_.empty(), std::memory_order_relaxed);
}

}  // namespace balm::runtime

// From a command with its allocations and events to the driver call: finds its dependencies, submits it,
// numbers it, and marks its allocations.

#include "runtime/queue/queue_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/queue/command_observer.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/promised_event.hpp"

namespace balm::runtime {

namespace {

std::uint64_t next_queue_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

}  // namespace

queue_state::queue_state(device_state& device, std::shared_ptr<device_state> keep,
                         std::unique_ptr<driver_queue> driver, bool is_timed)
    : device_(device),
      keep_(std::move(keep)),
      id_(next_queue_id()),
      is_timed_(is_timed),
      driver_(std::move(driver)),
      host_parts_(device.pending_host_parts()) {}

queue_state::~queue_state() { close(); }

void queue_state::close() noexcept {
    if (std::exchange(is_closed_, true) || is_forked()) return;
    finish_quietly();
}

// ---- submission ----

std::uint64_t queue_state::enqueue(const command& given, std::span<const event> waits, event* made,
                                   event_handle* driver_made) {
    device_.check();
    if (command_list::are_open()) [[unlikely]] {
        if (command_list* const list = command_list::of_thread()) {
            list->add(*this, given, waits, made);
            return none_deferred;  // no driver has it
        }
        command_list::check_written(given.reads);
    }
    needs needed;
    event_handle own_event;
    if (made != nullptr && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_late_events(waits, needed);

    const bool event_is_kept = driver_made != nullptr;

    std::unique_lock lock(mutex_);
    if (exit_has_begun()) [[unlikely]] {
        lock.unlock();
        stay_out_of_exit();
        lock.lock();
    }
    const bool is_observed = !observers_.empty() && !is_marker(given);
    if (is_observed && driver_made == nullptr) driver_made = &own_event;
    if (!waits.empty()) add_waits(waits, needed);
    const bool may_be_foreign = reads_other_device(given);
    for (storage* const each : given.reads)
        prepare(*each, use::read, needed, given.ends_mapping, may_be_foreign);
    for (storage* const each : given.writes) prepare(*each, use::write, needed, given.ends_mapping);
    const bool is_deferred = is_deferring() || needed.late != nullptr;
    if (is_deferred && (!can_be_deferred(given) || !ensure_polled())) [[unlikely]] {
        lock.unlock();
        wait_for_turn(needed);
        return enqueue(given, waits, made, event_is_kept ? driver_made : nullptr);
    }
    const std::uint64_t sequence = submitted_.load(std::memory_order_relaxed) + 1;
    std::shared_ptr<event_state> state;
    std::shared_ptr<promised_event> promise;
    try {  // everything that can fail comes before the driver has the command
        if (made != nullptr)
            state = std::make_shared<event_state>(
                event_state{nullptr, device_.driver_handle(), handle_, id_, sequence});
        if (!needed.reached.empty()) waited_.reserve(waited_.size() + needed.reached.size());
        if (device_.has_host_parts() || may_be_foreign) [[unlikely]]
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
        submitted_.store(sequence, std::memory_order_release);  // used up: host parts may have noted it
        throw;
    }
    submitted_.store(sequence, std::memory_order_release);
    for (storage* const each : given.reads) each->mark(id_, use::read, sequence);
    for (storage* const each : given.writes) each->mark(id_, use::write, sequence);
    if (given.begins_mapping || given.ends_mapping) [[unlikely]]
        note_mapping(given);
    if (is_observed) [[unlikely]]
        for (const auto& each : observers_) each->enqueued(given, *driver_made);
    if (made == nullptr) return sequence;
    state->driver = *driver_made;
    state->promise = std::move(promise);
    *made = event(std::move(state));
    return sequence;
}

void queue_state::prepare(storage& used, use how, needs& needed, std::optional<use> ends_mapping,
                          bool may_be_foreign) {
    if (&used.device() != &device_ && !may_be_foreign) [[unlikely]]
        refuse_foreign(used);
    if (how == use::read && has_failures()) [[unlikely]]
        check_own_writers(used);
    if (used.is_restricted()) [[unlikely]]
        used.check_usable(how, ends_mapping);
    if (!used.is_used_by_only(id_) && used.admit(id_)) [[unlikely]]
        add_conflicts(used, how, needed);
}

void queue_state::note_mapping(const command& given) noexcept {
    for (const auto& uses : {given.reads, given.writes})
        for (storage* const each : uses) {
            if (given.begins_mapping) each->begin_mapping(*given.begins_mapping);
            if (given.ends_mapping) each->end_mapping(*given.ends_mapping);
        }
}

// What it reads may turn out to be invalid: then so is what it writes.
void queue_state::follow_writers(const storage& used, std::uint64_t sequence) {
    if (!used.device().has_host_parts()) return;
    std::vector<command_id> writers;
    used.collect_writers(writers);
    for (const command_id& writer : writers) used.device().follow(writer, {id_, sequence});
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

// Adds the events that the driver cannot wait for: those of other drivers, user events, and those of deferred
// commands. Rethrows the failure of a complete one. Called without locks.
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
        if (other == nullptr) continue;  // it finished before it was destroyed
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

// The room is reserved.
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

// ---- the whole queue ----

void queue_state::flush() {
    refuse_if_forked();
    driver_->flush();
}

void queue_state::finish() {
    refuse_if_forked();
    stay_out_of_exit();
    if (const command_list* const list = command_list::of_thread()) [[unlikely]]
        return list->check_finish();
    const std::uint64_t last = submitted();
    wait_until_handed_over(last);
    driver_->finish();
    note_completed(last);
    release_done(false);
    find_failures(last);
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
    } catch (...) {  // whoever waits for the failed command sees the error
    }
    find_failures(last);
    hand_on_failures();
}

// For enqueued commands: if it fails, whoever waits for them flushes, too.
void queue_state::flush_quietly() noexcept {
    try {
        driver_->flush();
    } catch (...) {
    }
}

void queue_state::finish_driver_quietly() noexcept {
    for (int tries = 0; tries < 2; ++tries) {  // a driver may lack a resource only briefly
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

}  // namespace balm::runtime

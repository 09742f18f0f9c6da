// Deferred commands: they wait on the host until they can be submitted to the driver. See queue_state.

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "runtime/device/device_state.hpp"
#include "runtime/program/program_store.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/promised_event.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::runtime {

namespace {

// If the driver cannot tell, the command is submitted: that reports the error.
bool is_over(const event& of) noexcept {
    try {
        return of.is_complete();
    } catch (...) {
        return true;
    }
}

}  // namespace

// Called before a command is deferred: if deferring fails, the poller finds nothing to do.
bool queue_state::ensure_polled() {
    return !deferred_.empty() ||
           submission_poller().add_unless_ended([queue = handle_.lock()] { return queue->advance(); });
}

std::shared_ptr<promised_event> queue_state::defer(deferred_command command, needs&& needed) {
    if (needed.late != nullptr) {
        command.late = std::move(needed.late->events);
        command.conflicts = std::move(needed.late->conflicts);
    }
    command.events = std::move(needed.events);
    command.reached = std::move(needed.reached);
    std::vector<command_id> writers;
    for (const auto& memory : command.what.reads) {
        if (memory == nullptr) continue;
        writers.clear();
        memory->collect_writers(writers);
        for (const command_id& writer : writers) command.reads.push_back({memory, writer});
    }
    auto promise = std::make_shared<promised_event>();
    command.made = promise;
    const std::uint64_t sequence = command.sequence;
    deferred_.push_back(std::move(command));
    if (deferred_.size() == 1) first_deferred_.store(sequence, std::memory_order_release);
    return promise;
}

// Runs on the submission poller's thread.
poller::outcome queue_state::advance() noexcept {
    std::list<deferred_command> gone;  // what they own is destroyed after the lock
    bool none_left = false;
    {
        const std::lock_guard lock(mutex_);
        while (!deferred_.empty() && is_ready(deferred_.front())) {
            hand_over(deferred_.front());
            gone.splice(gone.end(), deferred_, deferred_.begin());
            first_deferred_.store(deferred_.empty() ? none_deferred : deferred_.front().sequence,
                                  std::memory_order_release);
        }
        none_left = deferred_.empty();
    }
    for (const deferred_command& each : gone)
        if (const auto& program = each.what.program; program != nullptr && program->awaits_launch())
            program->launched(*driver_);
    if (none_left) return poller::outcome::done;
    return gone.empty() ? poller::outcome::waiting : poller::outcome::moved;
}

bool queue_state::is_ready(const deferred_command& command) const noexcept {
    const auto late_is_over = [this](const event& each) {
        const std::shared_ptr<promised_event>& promise = each.state()->promise;
        if (promise != nullptr && promise->is_settled() && chains_on(each)) return true;
        return is_over(each);
    };
    const auto is_handed_over = [this](const command_id& each) {
        const std::shared_ptr<queue_state> other = device_.find_queue(each.queue);
        return other == nullptr || other->is_handed_over(each.sequence);
    };
    return std::all_of(command.late.begin(), command.late.end(), late_is_over) &&
           std::all_of(command.conflicts.begin(), command.conflicts.end(), is_handed_over);
}

// A failure is reported through the event, and through the memory that the command should have written.
void queue_state::hand_over(deferred_command& command) noexcept {
    std::exception_ptr failure;
    try {
        command.made->settle(submit(command));
        return;
    } catch (...) {
        failure = std::current_exception();
    }
    note_failed(command.sequence, failure);
    if (!command.event_is_kept) device_.note_late_error(failure, command.thread);
    command.made->fail(std::move(failure));
}

event_handle queue_state::submit(deferred_command& command) {
    for (const event& each : command.late) {
        const event_state& state = *each.state();
        if (!chains_on(each)) {
            state.driver->wait();  // it is complete: rethrows its failure
            continue;
        }
        event_handle native = state.promise != nullptr ? state.promise->native() : state.driver;
        const command_id own{state.queue_id, state.sequence};
        if (native == nullptr || comes_after(own)) continue;
        command.events.push_back(std::move(native));
        command.reached.push_back(own);
    }
    for (const command_id& each : command.conflicts) {
        const std::shared_ptr<queue_state> other = device_.find_queue(each.queue);
        if (other == nullptr || comes_after(each)) continue;
        if (event_handle point = other->point_after(each.sequence)) {
            command.events.push_back(std::move(point));
            command.reached.push_back(each);
        }
    }
    for (const deferred_command::source& each : command.reads)
        if (const std::shared_ptr<queue_state> writer = device_.find_queue(each.writer.queue))
            if (writer->has_failures()) writer->check_not_failed(each.writer.sequence, *each.memory);
    for (const auto* const uses : {&command.what.reads, &command.what.writes})
        for (const std::shared_ptr<storage>& each : *uses)  // its owner may have freed it
            if (each != nullptr && each->is_restricted()) each->check_usable(use::read);
    event_handle native;
    waited_.reserve(waited_.size() + command.reached.size());
    issue(command.what.what, *driver_, dependencies{command.events, &native});
    note_reached(command.reached);
    return native;
}

void queue_state::wait_until_handed_over(std::uint64_t sequence) {
    while (!is_handed_over(sequence)) {
        std::shared_ptr<promised_event> last;
        {
            const std::lock_guard lock(mutex_);
            for (const deferred_command& each : deferred_)
                if (each.sequence <= sequence) last = each.made;
        }
        if (last != nullptr) last->wait_until_settled();
        std::this_thread::yield();  // it is settled just before first_deferred_ is updated
    }
}

// For a command that cannot be deferred: waits until it need not be. Called without locks.
void queue_state::wait_for_turn(const needs& needed) {
    if (needed.late != nullptr) {
        for (const event& each : needed.late->events) each.wait();
        for (const command_id& each : needed.late->conflicts)
            if (const std::shared_ptr<queue_state> other = device_.find_queue(each.queue))
                other->wait_until_handed_over(each.sequence);
    }
    wait_until_handed_over(submitted());
}

}  // namespace balm::runtime

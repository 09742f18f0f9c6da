// The state of a queue's commands once they are enqueued: which have completed or failed, their host parts,
// and what is kept alive until then.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "balm/error.hpp"
#include "base/forked.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/queue_state.hpp"

namespace balm::runtime {

namespace {

// Memory that is copied aside must not accumulate.
constexpr std::size_t most_bytes_held = std::size_t{256} << 20;

void raise_to(std::atomic<std::uint64_t>& value, std::uint64_t to) noexcept {
    std::uint64_t found = value.load(std::memory_order_relaxed);
    while (found < to && !value.compare_exchange_weak(found, to, std::memory_order_acq_rel)) {
    }
}

}  // namespace

// ---- completion and failures ----

event_handle queue_state::point_after(std::uint64_t sequence) {
    if (completed() >= sequence) return nullptr;
    const std::lock_guard lock(point_mutex_);
    if (point_ == nullptr || point_sequence_ < sequence) {
        // Read before recording: the point covers at least these commands, but no deferred or later ones.
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
        command.commands.push_back({id_, sequence});
        command.failure = std::move(failure);
        command.spoils_memory = command.is_told = true;
        add_failure(std::move(made));
    } catch (...) {  // out of host memory: the error itself is thrown anyway
    }
}

void queue_state::check_not_failed(std::uint64_t sequence, const storage& written) const {
    const std::lock_guard lock(failures_mutex_);
    for (const failed_command& each : failures_)
        if (each.spoils_memory && each.concerns({id_, sequence}))
            throw device_error(
                fmt::format("The command that last wrote this memory ({}) on {} failed, so its contents are "
                            "undefined; write it again. The failure was: {}",
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

// ---- host parts ----

void queue_state::when_done(const event& done, host_parts::entries&& prepared) noexcept {
    if (command_list* const list = command_list::of_thread()) [[unlikely]]
        return list->add_host_parts(std::move(prepared));
    host_parts_.add({id_, done.state()->sequence}, std::move(prepared), done.state());
}

void queue_state::run_host_parts(std::uint64_t waited_for) {
    find_failures(waited_for);
    throw_failure(waited_for, false);
}

void queue_state::find_failures(std::uint64_t waited_for) noexcept {
    device_.find_failures_before({id_, waited_for});
    find_failures();
}

void queue_state::find_failures_before(const command_id& completed) noexcept {
    if (completed.queue == id_ || host_parts_.is_empty()) return;
    const std::uint64_t last = host_parts_.followed_by(completed);
    if (last == 0) return;
    note_completed(last);
    find_failures();
}

void queue_state::find_failures() noexcept {
    if (host_parts_.is_empty()) return;
    const auto reader = [this]() -> driver_queue& {
        queue_options options;
        options.timing = false;
        if (reader_ == nullptr) reader_ = device_.driver().make_queue(options);
        return *reader_;
    };
    std::list<failed_command> all;  // copies, for other queues
    host_parts_.run(completed(), reader, [&](std::list<failed_command>&& found) {
        const failed_command& one = found.front();
        try {
            if (std::any_of(one.commands.begin(), one.commands.end(),
                            [this](const command_id& each) { return each.queue != id_; }))
                all.push_back(one);
        } catch (...) {  // out of memory: the error itself is thrown anyway
        }
        add_failure(std::move(found));
    });
    for (const failed_command& each : all) tell_other_queues(each);
}

void queue_state::tell_other_queues(const failed_command& failed) noexcept {
    try {
        for (const command_id& each : failed.commands) {
            const std::shared_ptr<queue_state> other =
                each.queue == id_ ? nullptr : device_.find_queue(each.queue);
            if (other == nullptr) continue;
            std::list<failed_command> made{failed};
            made.front().commands = {each};
            made.front().is_told = true;  // to whoever waits for that command, and not otherwise
            other->add_failure(std::move(made));
        }
    } catch (...) {  // out of memory
    }
}

// Drops failures that can no longer be queried: a program that continues after failures keeps few of them.
void queue_state::add_failure(std::list<failed_command>&& one) noexcept {
    const std::lock_guard lock(failures_mutex_);
    std::erase_if(failures_, [this](const failed_command& each) {
        return each.is_told && each.event.expired() && !device_.has_memory_written_by(each);
    });
    const command_id command = one.front().commands.front();
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
        find([&](const failed_command& each) { return each.was_late && each.concerns({id_, waited_for}); });
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
            // A deferred command may depend on the program, which must not wait for it: then they accumulate.
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
    } catch (...) {  // another caller's command: its memory and its event report it
        note_failed(oldest_sequence, std::current_exception());
    }
}

void queue_state::release_now_and_then() {
    if (holds_.load(std::memory_order_relaxed) && submitted() % 32 == 0) release_done(true);
}

void queue_state::release_done(bool ask_driver) {
    if (!holds_.load(std::memory_order_relaxed)) return;
    refuse_if_forked();
    std::list<held> released;  // destroyed after the lock
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

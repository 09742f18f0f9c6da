#include "runtime/queue/host_parts.hpp"

#include <algorithm>
#include <utility>

#include "balm/error.hpp"
#include "base/thread_number.hpp"
#include "runtime/queue/print_outlet.hpp"

namespace balm::runtime {

bool failed_command::concerns(const command_id& command) const {
    return std::find(commands.begin(), commands.end(), command) != commands.end();
}

host_parts::entries host_parts::prepare(part what) {
    entries one(1);
    one.front().what = std::move(what);
    failed_command& command = one.front().command.emplace_back();
    command.commands.reserve(1);
    command.thread = this_thread_number();
    command.was_late = true;
    return one;
}

void host_parts::add(const command_id& of, entries&& prepared,
                     std::weak_ptr<const event_state> event) noexcept {
    failed_command& command = prepared.front().command.front();
    command.commands.push_back(of);
    command.event = std::move(event);
    const std::lock_guard lock(mutex_);
    // Threads may arrive here in a different order than their commands were enqueued.
    const auto behind = std::find_if(parts_.begin(), parts_.end(), [&](const entry& each) {
        return each.command.front().commands.front().sequence > of.sequence;
    });
    parts_.splice(behind, prepared);
    is_empty_.store(false, std::memory_order_release);
    all_pending_.fetch_add(1, std::memory_order_release);
}

std::size_t host_parts::pending() const {
    const std::lock_guard lock(mutex_);
    return parts_.size();
}

void host_parts::follow(const command_id& writer, const command_id& reader) {
    const std::lock_guard lock(mutex_);
    for (entry& each : parts_)
        if (failed_command& command = each.command.front(); command.concerns(writer))
            command.commands.push_back(reader);
}

std::uint64_t host_parts::followed_by(const command_id& command) const {
    std::uint64_t last = 0;
    const std::lock_guard lock(mutex_);
    for (const entry& each : parts_) {
        const std::vector<command_id>& all = each.command.front().commands;
        if (std::any_of(all.begin(), all.end(), [&](const command_id& follower) {
                return follower.queue == command.queue && follower.sequence <= command.sequence;
            }))
            last = std::max(last, all.front().sequence);
    }
    return last;
}

// It stays in the list while it runs: commands that are enqueued meanwhile may read what its command wrote.
host_parts::entries::iterator host_parts::begin_next(std::uint64_t completed) {
    const std::lock_guard lock(mutex_);
    const auto next =
        std::find_if(parts_.begin(), parts_.end(), [](const entry& each) { return each.runner == 0; });
    if (next == parts_.end() || next->command.front().commands.front().sequence > completed)
        return parts_.end();
    next->runner = this_thread_number();
    return next;
}

void host_parts::end(entries::iterator done, const failure_sink& failed) noexcept {
    entries gone;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    gone.splice(gone.end(), parts_, done);
    if (done->command.front().failure != nullptr) failed(std::move(done->command));
    is_empty_.store(parts_.empty(), std::memory_order_release);
    all_pending_.fetch_sub(1, std::memory_order_release);
    changed_.notify_all();
}

void host_parts::wait_for_others(std::uint64_t completed) noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&, self = this_thread_number()] {
        return std::none_of(parts_.begin(), parts_.end(), [&](const entry& each) {
            return each.runner != 0 && each.runner != self &&
                   each.command.front().commands.front().sequence <= completed;
        });
    });
}

void host_parts::run(std::uint64_t completed, const std::function<driver_queue&()>& reader,
                     const failure_sink& failed) noexcept {
    if (is_empty()) return;
    for (;;) {
        std::shared_ptr<print_outlet> outlet;
        std::unique_lock running(running_);
        const auto each = begin_next(completed);
        if (each == parts_.end()) break;
        failed_command& command = each->command.front();
        try {
            each->what(reader(), outlet);
        } catch (const check_error&) {
            command.spoils_memory = true;
            command.failure = std::current_exception();
        } catch (...) {
            command.failure = std::current_exception();
        }
        running.unlock();  // the outlet's function may wait for parts that another thread runs
        try {
            if (outlet != nullptr) outlet->write_out();
        } catch (...) {
            if (command.failure == nullptr) command.failure = std::current_exception();
        }
        end(each, failed);
    }
    if (!print_outlet::is_writing()) wait_for_others(completed);
}

}  // namespace balm::runtime

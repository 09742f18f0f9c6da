#include "runtime/queue/poller.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/exit_gate.hpp"
#include "base/forked.hpp"
#include "runtime/device/process_exit.hpp"

namespace balm::runtime {

std::chrono::nanoseconds patience::next() const {
    using std::chrono::nanoseconds;
    const nanoseconds waited = std::chrono::steady_clock::now() - since_;
    return std::clamp<nanoseconds>(waited / 8, std::chrono::microseconds(20), std::chrono::milliseconds(1));
}

bool poller::splice_unless_ended(std::list<task>& added) {
    refuse_if_forked();
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
        finish_at_exit("");
    }
    added_.splice(added_.end(), added);
    woken_ = true;
    changed_.notify_all();
    return true;
}

bool poller::add_unless_ended(task what) {
    std::list<task> added;  // so that the thread need not allocate
    added.push_back(std::move(what));
    return splice_unless_ended(added);
}

void poller::add(task what) {
    std::list<task> added;
    added.push_back(std::move(what));
    if (splice_unless_ended(added)) return;
    for (const patience since; added.front()() != outcome::done;) std::this_thread::sleep_for(since.next());
}

void poller::wake() noexcept {
    if (is_forked()) return;
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
}

void poller::end() noexcept {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
}

bool poller::poll_all(std::list<task>& tasks) noexcept {
    bool moved = false;
    std::erase_if(tasks, [&](task& each) {
        const outcome found = each();
        moved |= found != outcome::waiting;
        return found == outcome::done;
    });
    return moved;
}

void poller::run() noexcept {
    using clock = std::chrono::steady_clock;
    const exit_pass at_exit;
    std::list<task> tasks;
    patience since;
    clock::time_point not_before{};
    for (;;) {
        bool ends = false;
        {
            std::unique_lock lock(mutex_);
            const auto called = [this] { return woken_ || ended_; };
            changed_.wait_until(lock, not_before, [this] { return ended_; });
            if (tasks.empty())
                changed_.wait(lock, called);
            else
                changed_.wait_for(lock, since.next(), called);
            woken_ = false;
            ends = ended_;
            if (!added_.empty()) since.begin_again();
            tasks.splice(tasks.end(), added_);
        }
        clock::time_point asked = clock::now();
        for (; poll_all(tasks); asked = clock::now()) since.begin_again();
        not_before = clock::now() + 4 * (clock::now() - asked);  // polls at most a fifth of the time
        if (!ends) continue;
        const std::lock_guard lock(mutex_);
        if (added_.empty()) return;
    }
}

namespace {

std::atomic<bool> submission_is_used{false}, callback_is_used{false};

}  // namespace

poller& submission_poller() {
    static auto* const made = new poller;  // outlives every static object
    submission_is_used = true;
    return *made;
}

poller& callback_poller() {
    static auto* const made = new poller;
    callback_is_used = true;
    return *made;
}

void wake_pollers() noexcept {
    if (submission_is_used) submission_poller().wake();
    if (callback_is_used) callback_poller().wake();
}

}  // namespace balm::runtime

#pragma once
// Threads of the runtime that wait for many events concurrently and act when they have completed. They poll
// instead of using driver callbacks: the actions make driver calls, which callbacks must not (OpenCL 1.2,
// 5.9; CUDA driver API, cuLaunchHostFunc), and CUDA supports callbacks only at points for which they are
// requested when those are enqueued.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace balm::runtime {

/// The time to sleep between polls: an eighth of the time waited so far, from 20 µs to 1 ms. So an event is
/// seen late by at most an eighth of its time, and waiting costs less than a hundredth of a core.
class patience {
public:
    std::chrono::nanoseconds next() const;
    void begin_again() { since_ = std::chrono::steady_clock::now(); }

private:
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// A thread that starts with the first task and ends with the process.
class poller {
public:
    enum class outcome : std::uint8_t { waiting, moved, done };
    /// Proceeds if it can, and returns whether it did. Must not throw.
    using task = std::function<outcome()>;

    /// Calls the task on the thread until it is done; after end(), on the calling thread, before it returns.
    void add(task);
    /// The same, but after end() does not call the task and returns false.
    bool add_unless_ended(task);
    /// Polls again immediately, since something has happened.
    void wake() noexcept;
    /// At process exit: calls every task until it is done or cannot proceed; then the thread ends. Called on
    /// the thread itself, it does not wait for that.
    void end() noexcept;

private:
    bool splice_unless_ended(std::list<task>&);
    void run() noexcept;
    bool poll_all(std::list<task>&) noexcept;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<task> added_;
    bool woken_ = false;
    bool ended_ = false;
    std::thread thread_;
};

/// Submits deferred commands to their driver. Runs no user code.
poller& submission_poller();
/// Calls the callbacks of on_complete. Separate from the other, so that a callback may wait for any command.
poller& callback_poller();

/// Wakes those of both that have been used.
void wake_pollers() noexcept;

}  // namespace balm::runtime

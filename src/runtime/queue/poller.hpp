#pragma once
// Threads of the runtime that wait for many events at once, and act when they are over. They ask the events
// again and again instead of having drivers call: what follows makes driver calls, which a driver's own
// thread must not (OpenCL 1.2, 5.9; CUDA driver API, cuLaunchHostFunc), and CUDA tells only of points that
// are asked for when they are enqueued.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace balm::runtime {

/// How long to sleep before asking again: an eighth of what has been waited, from 20 µs to 1 ms. So an event
/// is seen late by an eighth of its time, and waiting costs less than a hundredth of a core.
class patience {
public:
    std::chrono::nanoseconds next() const;
    void begin_again() { since_ = std::chrono::steady_clock::now(); }

private:
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// A thread that starts when there is first something to wait for, and ends with the process.
class poller {
public:
    enum class outcome : std::uint8_t { waiting, moved, done };
    /// Looks whether it can go on, and does. Must not throw.
    using task = std::function<outcome()>;

    /// Calls the task on the thread until it is done. After end(), here and now.
    void add(task);
    /// The same, but after end() the task is not called, and the result is false.
    bool add_unless_ended(task);
    /// Something has happened: asks again at once.
    void wake() noexcept;
    /// At the end of the process: every task is called until it is done, or does not go on; then the thread
    /// ends. Called on the thread itself it only says that there is an end.
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

/// Hands commands to their driver that had to wait on the host. Runs no code of the user's.
poller& submission_poller();
/// Calls what on_complete was given. Apart from the other, so that a callback may wait for any command.
poller& callback_poller();

/// Wakes both, where they have started.
void wake_pollers() noexcept;

}  // namespace balm::runtime

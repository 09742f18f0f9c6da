#pragma once
// Events: points in the work of a queue that one can wait for, chain on, and ask for times; and what
// asynchronous calls return and take.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace balm {

/// The four times of a command's life, in nanoseconds.
struct timestamps {
    std::uint64_t queued = 0;
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    bool host_clock_before_start = false;  ///< queued and submitted are from the host's clock (CUDA)

    /// Execution time on the device, in nanoseconds.
    std::uint64_t duration() const { return ended - started; }
    /// Four lines that name the times relative to `queued`, and the duration.
    ///
    ///     std::cout << done.profile().summary();
    std::string summary() const;
};

namespace runtime {
struct event_state;
}

/// A point in the work of a queue. A handle: copies refer to the same point. A default-constructed event
/// has already happened. Dropping an event never blocks.
///
///     balm::event written = a.write(host);
///     balm::event done = device.execute(scale(2.f, a, b), {n}, written);
///     done.wait();
class event {
public:
    event() = default;
    explicit event(std::shared_ptr<runtime::event_state> state) : state_(std::move(state)) {}

    /// True once the work before this point is done, or has failed: wait() tells which.
    bool is_complete() const;
    /// Blocks until the work before this point is done; throws what went wrong in it.
    void wait() const;
    /// Waits, then gives the times of the command. Throws usage_error where the queue does not time, and
    /// for an event without a command.
    timestamps profile() const;

    /// What the runtime knows of it; null for an event that has already happened.
    const std::shared_ptr<runtime::event_state>& state() const { return state_; }

private:
    std::shared_ptr<runtime::event_state> state_;
};

/// What an asynchronous call returns: an event on its way. As an rvalue it converts to `event` or goes into
/// a wait list; one that nobody converts is waited for when it dies: a forgotten result is slow, never
/// wrong. An error that shows up in that wait is thrown by the next call that touches the device.
///
///     balm::event written = a.write(host);  // goes on at once
///     a.write(host);                        // waits here
class pending {
public:
    explicit pending(event made) : event_(std::move(made)) {}
    pending(pending&& other) noexcept : event_(std::exchange(other.event_, event{})) {}
    pending& operator=(pending&&) = delete;
    ~pending() {
        if (event_.state() != nullptr) wait_quietly();
    }

    /// The event, to go on without waiting.
    operator event() && { return std::exchange(event_, event{}); }

    /// Waits here, as an event does.
    void wait() && { std::exchange(event_, event{}).wait(); }

private:
    void wait_quietly() noexcept;

    event event_;
};

class wait_list;

/// What the asynchronous calls take behind their other arguments: events, pendings (as rvalues), wait lists.
template <class T>
concept waitable = std::is_convertible_v<T&&, event> || std::is_same_v<std::remove_cvref_t<T>, wait_list>;

/// Events that a command waits for; made from any number of them.
///
///     balm::wait_list all{first, second, c.write(host)};
///     device.execute(kernel, {n}, all);
class wait_list {
public:
    wait_list() = default;
    template <waitable First, waitable... Rest>
    explicit wait_list(First&& first, Rest&&... rest) {
        events_.reserve(1 + sizeof...(Rest));
        add(std::forward<First>(first));
        (add(std::forward<Rest>(rest)), ...);
    }

    void add(event more) { events_.push_back(std::move(more)); }
    void add(const wait_list& more) {
        events_.insert(events_.end(), more.events_.begin(), more.events_.end());
    }

    std::span<const event> events() const { return events_; }
    bool empty() const { return events_.empty(); }

private:
    std::vector<event> events_;
};

}  // namespace balm

#pragma once
// Events: points in the work of a queue that programs and commands can wait for, with their times; and the
// types that asynchronous calls return and take.

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace balm {

/// The four times of a command, in nanoseconds.
struct timestamps {
    std::uint64_t queued = 0;
    std::uint64_t submitted = 0;
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    bool host_clock_before_start = false;  ///< queued and submitted are times of the host's clock (CUDA)

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

class event;

namespace detail {
/// Whether its command was recorded, and runs with every replay.
bool is_recorded(const event&);
}  // namespace detail

/// A callback for on_complete: a callable without parameters, or one that takes the failure, which is null on
/// success.
template <class T>
concept completion_callback = std::invocable < std::decay_t<T>
&, std::exception_ptr > || std::invocable<std::decay_t<T>&>;

namespace detail {

// A type-erased callable that does not need <functional>.
struct completion {
    explicit completion(bool hears) : hears_failure(hears) {}
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;
    virtual ~completion() = default;
    virtual void call(std::exception_ptr failure) = 0;
    const bool hears_failure;
};
template <class Callback>
struct completion_of final : completion {
    static constexpr bool takes_failure = std::invocable<Callback&, std::exception_ptr>;
    template <class From>
    explicit completion_of(From&& from) : completion(takes_failure), callback(std::forward<From>(from)) {}
    void call(std::exception_ptr failure) override {
        if constexpr (takes_failure)
            callback(std::move(failure));
        else
            callback();
    }
    Callback callback;
};

bool all_complete(std::span<const event>);
void wait_for_all(std::span<const event>);
bool wait_for_all(std::span<const event>, double seconds);
void call_when_complete(std::span<const event>, std::shared_ptr<completion>);

// std::chrono's types, recognised by their members: including <chrono> would add 0.05 s to every compilation.
template <class T>
concept duration = requires(const T& time) {
    time.count();
    T::period::num;
};
template <class T>
concept time_point = requires {
    T::clock::now();
};
template <duration Duration>
double seconds_in(const Duration& time) {
    return static_cast<double>(time.count()) * static_cast<double>(Duration::period::num) /
           static_cast<double>(Duration::period::den);
}
/// Negative for a time that has passed. Subtracting time points could overflow: the difference between the
/// year 3000 in days and now is in nanoseconds, which end in 2262.
template <time_point TimePoint>
double seconds_until(const TimePoint& when) {
    return seconds_in(when.time_since_epoch()) - seconds_in(TimePoint::clock::now().time_since_epoch());
}

// The common interface of an event and a list of events, which Derived::events() returns.
template <class Derived>
class awaitable {
public:
    /// True once the work before this point has completed or failed: wait() tells which. Never blocks.
    bool is_complete() const { return all_complete(self().events()); }
    /// Blocks until the work before this point has completed; rethrows its failure. If several events of a
    /// list failed, the failure of the first is thrown, after all have completed.
    void wait() const { wait_for_all(self().events()); }
    /// Blocks for at most this long, and returns whether the work has completed; rethrows its failure.
    ///
    ///     if (!done.wait_for(std::chrono::milliseconds(20))) std::cout << "still at it\n";
    template <duration Duration>
    bool wait_for(const Duration& time) const {
        return wait_for_all(self().events(), seconds_in(time));
    }
    /// The same until a point in time of any clock.
    template <time_point TimePoint>
    bool wait_until(const TimePoint& when) const {
        for (;;) {
            if (wait_for_all(self().events(), seconds_until(when))) return true;
            if (seconds_until(when) <= 0) return false;
        }
    }
    /// Calls the callable once when the work before this point has completed or failed: with the failure (an
    /// std::exception_ptr, null on success), or without arguments if it takes none. A thread of Balm calls
    /// it, never this call itself, even if the work has already completed. Callbacks run one at a time, so
    /// one that waits delays the others. A failure that the callable does not take, and an exception that it
    /// throws (as callback_error), are thrown by the next call on the device by the thread that called
    /// on_complete(). Process exit waits for pending callbacks.
    ///
    ///     done.on_complete([&](std::exception_ptr failure) { (failure ? failed : finished).add(job); });
    template <completion_callback Callback>
    void on_complete(Callback&& callback) const {
        call_when_complete(self().events(), std::make_shared<completion_of<std::decay_t<Callback>>>(
                                                std::forward<Callback>(callback)));
    }

private:
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace detail

/// A point in the work of a queue. A handle: copies refer to the same point. A default-constructed event
/// has already completed. Destroying an event never blocks.
///
///     balm::event written = a.write(host);
///     balm::event done = device.execute(scale(2.f, a, b), {n}, written);
///     done.wait();
class event : public detail::awaitable<event> {
public:
    event() = default;
    explicit event(std::shared_ptr<runtime::event_state> state) : state_(std::move(state)) {}

    /// Waits, then returns the times of the command. Throws usage_error if the queue does not record times,
    /// or if the event belongs to no command.
    timestamps profile() const;

    /// A list of this one event.
    std::span<const event> events() const { return {this, 1}; }

    /// The runtime's state; null for an event without a command.
    const std::shared_ptr<runtime::event_state>& state() const { return state_; }

private:
    std::shared_ptr<runtime::event_state> state_;
};

/// The result of an asynchronous call. If you keep its event, or pass it to another call as a dependency, the
/// call returns immediately; if you discard it, its destructor waits: a forgotten result is slow, never
/// wrong. An error found in that wait is thrown by the thread's next call that touches the device.
///
///     balm::event written = a.write(host);  // returns immediately
///     a.write(host);                        // waits here
class pending {
public:
    explicit pending(event made) : event_(std::move(made)) {}
    pending(pending&& other) noexcept
        : event_(std::exchange(other.event_, event{})), is_taken_(std::exchange(other.is_taken_, true)) {}
    pending& operator=(pending&&) = delete;
    ~pending() {
        if (!is_taken_ && event_.state() != nullptr) wait_quietly();
    }

    /// The event; taking it means that the destructor does not wait.
    operator event() && {
        is_taken_ = true;
        return std::exchange(event_, event{});
    }
    operator event() & {
        is_taken_ = true;
        return event_;
    }

    /// Waits for the event.
    void wait() {
        is_taken_ = true;
        event_.wait();
    }

private:
    void wait_quietly() noexcept;

    event event_;
    bool is_taken_ = false;
};

class wait_list;

/// A dependency, which asynchronous calls take after their other arguments: an event, a pending or a
/// wait_list.
template <class T>
concept waitable = std::is_convertible_v<T&&, event> || std::is_same_v<std::remove_cvref_t<T>, wait_list>;

/// A list of events for a command or the program to wait for.
///
///     balm::wait_list all{first, second, c.write(host)};
///     device.execute(kernel, {n}, all);
///     all.wait();
class wait_list : public detail::awaitable<wait_list> {
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

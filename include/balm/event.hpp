#pragma once
// Events: points in the work of a queue that one can wait for, chain on, and ask for times; and what
// asynchronous calls return and take.

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

class event;

/// What on_complete takes: a callable without parameters, or of the failure, which is null where all went
/// well.
template <class T>
concept completion_callback = std::invocable < std::decay_t<T>
&, std::exception_ptr > || std::invocable<std::decay_t<T>&>;

namespace detail {

// A callable behind one type, without the weight of <functional>.
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

// std::chrono's types by what they have: including <chrono> would cost each user 0.05 s.
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
/// Less than 0 for a time that has passed. A difference of time points would overflow: that of the year 3000
/// in days, say, is one in nanoseconds, which end in 2262.
template <time_point TimePoint>
double seconds_until(const TimePoint& when) {
    return seconds_in(when.time_since_epoch()) - seconds_in(TimePoint::clock::now().time_since_epoch());
}

// What one event and a list of them have in common: Derived::all() gives the events.
template <class Derived>
class awaitable {
public:
    /// True once the work before this point is done, or has failed: wait() tells which. Never blocks.
    bool is_complete() const { return all_complete(self().events()); }
    /// Blocks until the work before this point is done; throws what went wrong in it. Of several failures of
    /// a list the first is thrown, when all are over.
    void wait() const { wait_for_all(self().events()); }
    /// Blocks for no longer than this, and tells whether the work is done; throws what went wrong in it.
    ///
    ///     if (!done.wait_for(std::chrono::milliseconds(20))) std::cout << "still at it\n";
    template <duration Duration>
    bool wait_for(const Duration& time) const {
        return wait_for_all(self().events(), seconds_in(time));
    }
    /// The same until a point in time, of any clock.
    template <time_point TimePoint>
    bool wait_until(const TimePoint& when) const {
        for (;;) {
            if (wait_for_all(self().events(), seconds_until(when))) return true;
            if (seconds_until(when) <= 0) return false;
        }
    }
    /// Has the callable called once when the work before this point is over: with the failure (an
    /// std::exception_ptr, null where there is none), or without arguments, as it takes them. It is called on
    /// a thread of Balm, never inside this call, also where the work is over already; such calls come one
    /// after the other, so that one which waits delays the others. A failure that the callable does not take,
    /// and what it throws itself (as callback_error), are thrown by the next call of the thread that called
    /// on_complete() which touches the device. The end of the process waits for what is to be called.
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
/// has already happened. Dropping an event never blocks.
///
///     balm::event written = a.write(host);
///     balm::event done = device.execute(scale(2.f, a, b), {n}, written);
///     done.wait();
class event : public detail::awaitable<event> {
public:
    event() = default;
    explicit event(std::shared_ptr<runtime::event_state> state) : state_(std::move(state)) {}

    /// Waits, then gives the times of the command. Throws usage_error where the queue does not time, and
    /// for an event without a command.
    timestamps profile() const;

    /// Itself, as the list of one.
    std::span<const event> events() const { return {this, 1}; }

    /// What the runtime knows of it; null for an event that has already happened.
    const std::shared_ptr<runtime::event_state>& state() const { return state_; }

private:
    std::shared_ptr<runtime::event_state> state_;
};

/// What an asynchronous call returns. If you keep its event, or pass it to another call to wait for, the call
/// returns immediately; if you discard it, its destructor waits: a forgotten result is slow, never wrong. An
/// error that shows up in that wait is thrown by the thread's next call that touches the device.
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

    /// The event, to go on without waiting.
    operator event() && {
        is_taken_ = true;
        return std::exchange(event_, event{});
    }
    operator event() & {
        is_taken_ = true;
        return event_;
    }

    /// Waits here, as an event does.
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

/// What the asynchronous calls take behind their other arguments: events, pendings (as rvalues), wait lists.
template <class T>
concept waitable = std::is_convertible_v<T&&, event> || std::is_same_v<std::remove_cvref_t<T>, wait_list>;

/// Events that a command waits for, or the program itself; made from any number of them.
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

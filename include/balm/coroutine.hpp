#pragma once
// `co_await event` in coroutines of any type. Not every compiler supports coroutines in C++20 mode (clang 14
// with libstdc++ does not); without them this header is empty.

#if defined(__cpp_impl_coroutine)

#include <coroutine>
#include <exception>
#include <utility>

#include "balm/event.hpp"
#include "balm/user_event.hpp"

namespace balm {

namespace detail {

template <class Awaited>
class coroutine_wait {
public:
    explicit coroutine_wait(Awaited awaited) : awaited_(std::move(awaited)) {}
    bool await_ready() const { return awaited_.is_complete(); }
    void await_suspend(std::coroutine_handle<> waiting) const {
        // The coroutine may resume and destroy this object before on_complete returns. await_resume throws
        // the failure.
        const Awaited awaited = awaited_;
        awaited.on_complete([waiting](const std::exception_ptr&) { waiting.resume(); });
    }
    void await_resume() const { awaited_.wait(); }

private:
    Awaited awaited_;
};

}  // namespace detail

/// Suspends a coroutine until the work before the event has completed; rethrows its failure. If it has
/// already completed, the coroutine does not suspend; otherwise it resumes on the thread of Balm that runs
/// the callbacks of on_complete. Long work there delays other callbacks, so a coroutine with much to do
/// should first move to another thread.
///
///     task step(balm::device on) {
///         co_await on.execute(scale(2.f, a, b), {n});
///         …
///     }
inline auto operator co_await(const event& awaited) { return detail::coroutine_wait<event>(awaited); }
/// The same for the result of an asynchronous call.
inline auto operator co_await(pending&& awaited) { return detail::coroutine_wait<event>(std::move(awaited)); }
/// The same for all events of a list.
inline auto operator co_await(const wait_list& awaited) { return detail::coroutine_wait<wait_list>(awaited); }
/// The same for an event that the program sets.
inline auto operator co_await(const user_event& awaited) { return detail::coroutine_wait<event>(awaited); }

}  // namespace balm

#endif

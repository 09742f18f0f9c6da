#pragma once
// `co_await event` in coroutines of any kind. Not every compiler in C++20 mode has coroutines (clang 14 with
// libstdc++ has not); without them this header is empty.

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
        // The coroutine may go on, and this object be gone, before on_complete returns. The failure is thrown
        // by await_resume.
        const Awaited awaited = awaited_;
        awaited.on_complete([waiting](const std::exception_ptr&) { waiting.resume(); });
    }
    void await_resume() const { awaited_.wait(); }

private:
    Awaited awaited_;
};

}  // namespace detail

/// Suspends a coroutine until the work before the event is done; throws what went wrong in it. It resumes
/// immediately if that is so already, else on the thread of Balm that calls the callbacks of on_complete:
/// long work there delays the others, so a coroutine with much to do moves to another thread first.
///
///     task step(balm::device on) {
///         co_await on.execute(scale(2.f, a, b), {n});
///         …
///     }
inline auto operator co_await(const event& awaited) { return detail::coroutine_wait<event>(awaited); }
/// The same for what an asynchronous call returns.
inline auto operator co_await(pending&& awaited) { return detail::coroutine_wait<event>(std::move(awaited)); }
/// The same for all events of a list.
inline auto operator co_await(const wait_list& awaited) { return detail::coroutine_wait<wait_list>(awaited); }
/// The same for an event that the program sets.
inline auto operator co_await(const user_event& awaited) { return detail::coroutine_wait<event>(awaited); }

}  // namespace balm

#endif

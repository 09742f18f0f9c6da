#pragma once
// Events that the program sets: commands on any device and backend can wait for them.

#include <concepts>
#include <exception>
#include <memory>

#include "balm/event.hpp"
#include "balm/shared_state.hpp"

namespace balm {

namespace runtime {
class user_event_state;
}

/// An event that the program sets. A handle: copies are the same event. Commands of any queue, device and
/// backend can wait for it. Enqueuing them does not block: the runtime submits them to the driver when the
/// event is set. If the event fails, or is dropped before it is set, the commands that wait for it fail
/// without running. The same happens at the end of the process.
///
///     balm::user_event ready;
///     balm::event done = device.execute(scale(2.f, a, b), {n}, ready);
///     …
///     ready.complete();
///     done.wait();
class user_event {
public:
    user_event();

    /// Releases the commands that wait for it. Returns false, with no effect, if it was set before.
    bool complete() const;
    /// Makes the commands that wait for it fail with this exception. Returns false, with no effect, if it was
    /// set before. Throws usage_error for null.
    bool fail(std::exception_ptr why) const;
    /// The same with a copy of an exception.
    template <std::derived_from<std::exception> Exception>
    bool fail(const Exception& why) const {
        return fail(std::make_exception_ptr(why));
    }

    /// The event, for waiting and polling.
    operator event() const;

private:
    detail::shared_state<runtime::user_event_state> state_;
};

}  // namespace balm

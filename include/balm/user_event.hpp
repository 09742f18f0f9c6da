#pragma once
// Events that the program itself sets: commands wait for them on any device and backend.

#include <concepts>
#include <exception>
#include <memory>

#include "balm/event.hpp"

namespace balm {

namespace runtime {
class user_event_state;
}

/// An event that the program completes. A handle: copies are the same event. Commands of any queue, device
/// and backend wait for it; enqueuing them does not block, the runtime hands them to the driver when it is
/// set. One that fails, or is dropped before it is set, makes the commands that wait for it fail without
/// having run. So does the end of the process.
///
///     balm::user_event ready;
///     balm::event done = device.execute(scale(2.f, a, b), {n}, ready);
///     …
///     ready.complete();
///     done.wait();
class user_event {
public:
    user_event();

    /// Lets what waits for it go on. False where it was set before: then nothing happens.
    bool complete() const;
    /// Makes what waits for it fail with this exception. False where it was set before.
    bool fail(std::exception_ptr why) const;
    /// The same with a copy of an exception.
    template <std::derived_from<std::exception> Exception>
    bool fail(const Exception& why) const {
        return fail(std::make_exception_ptr(why));
    }

    /// The event, to wait for and to poll.
    operator event() const;

private:
    std::shared_ptr<runtime::user_event_state> state_;
};

}  // namespace balm

#pragma once
// The one background thread that keeps compiled programs on disk.
//
// PoCL compiles a kernel when it is first launched, and once more, for any local size, when it is asked for
// the binary: 0.1 to 0.2 s, under the lock that every launch of the platform takes as it begins and ends. So
// nobody waits for the first launch but this thread, and it asks while no device is at work.

#include <memory>

#include "runtime/backend.hpp"

namespace balm::runtime {

class compiled_program;

/// Has the program saved by the background thread: at once, or else after this launch, when no device has had
/// anything to do for a while. Never throws; never waits, but for the launch where the process ends already.
/// What is pending at the end of the process is finished then.
void save_in_background(std::shared_ptr<compiled_program>, event_handle first_launch = nullptr) noexcept;

/// Waits until all first launches so far are done: the driver's compiler is not at work.
void finish_first_launches() noexcept;

/// Waits until everything asked so far is saved, busy devices or not. For tests and for `balm cache`.
void finish_saving() noexcept;

/// The same where the process begins to end: from here on first launches are waited for where they are made.
void begin_end_of_saving() noexcept;

/// The same at its very end; what is asked for later is dropped.
void end_saving() noexcept;

}  // namespace balm::runtime

#pragma once
// The background thread that stores compiled programs on disk.
//
// PoCL compiles a kernel when it is first launched, and again, for any local size, when its binary is
// fetched: 0.1 to 0.2 s, under the lock that every launch of the platform takes as it begins and ends. So
// only this thread waits for the first launch, and it fetches the binary while all devices are idle.

#include <memory>

#include "runtime/backend.hpp"

namespace balm::runtime {

class compiled_program;

/// Makes the background thread save the program: immediately or, if `first_launch` is given, after this
/// launch once all devices have been idle for a while. Never throws, and waits only for the launch if the
/// process is already exiting. Process exit finishes what is pending.
void save_in_background(std::shared_ptr<compiled_program>, event_handle first_launch = nullptr) noexcept;

/// Waits until all first launches so far have completed, so that the driver's compiler is not running.
void finish_first_launches() noexcept;

/// Waits until all programs so far are saved, whether or not devices are busy. For tests and for `balm
/// cache`.
void finish_saving() noexcept;

/// The same when process exit begins: from then on, save_in_background waits for first launches itself.
void begin_end_of_saving() noexcept;

/// The same at the very end of the process; later requests are dropped.
void end_saving() noexcept;

}  // namespace balm::runtime

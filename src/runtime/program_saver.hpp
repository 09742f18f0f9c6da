#pragma once
// The one background thread that keeps compiled programs on disk: fetching a binary from PoCL costs 0.15 s,
// which no user should wait for.

#include <memory>

#include "runtime/backend.hpp"

namespace balm::runtime {

class compiled_program;

/// Has the program saved by the background thread. Never throws, never waits. What is pending at the end of
/// the process is finished then.
void save_in_background(std::shared_ptr<compiled_program>) noexcept;

/// Waits until everything asked so far is saved. For tests and for `balm cache`.
void finish_saving() noexcept;

/// The same at the end of the process; what is asked for later is dropped.
void end_saving() noexcept;

}  // namespace balm::runtime

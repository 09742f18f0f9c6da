// Whether main has begun, as far as the program or library knows that this file is linked into: each that
// uses a shared Balm has a copy of its own (CMakeLists.txt), which no other sees.

#include <atomic>

#include "balm/trace.hpp"

namespace balm::trace {

namespace {

constinit std::atomic<bool> static_objects_are_made{false};

// Static libraries come last on the linker's line, so that this one is made after the user's own objects.
[[maybe_unused]] const bool is_last = (static_objects_are_made = true);

}  // namespace

bool main_has_begun() noexcept { return static_objects_are_made; }

}  // namespace balm::trace

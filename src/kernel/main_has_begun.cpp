// Whether main has begun, from the view of the program or library that this file is linked into: each user of
// a shared Balm has a private copy of this file (CMakeLists.txt).

#include <atomic>

#include "balm/trace.hpp"

namespace balm::trace {

namespace {

constinit std::atomic<bool> static_objects_are_made{false};

// Static libraries come last on the linker's command line, so this object is initialised after the user's.
[[maybe_unused]] const bool is_last = (static_objects_are_made = true);

}  // namespace

bool main_has_begun() noexcept { return static_objects_are_made; }

}  // namespace balm::trace

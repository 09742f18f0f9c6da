#pragma once
// Balm manages its caches of compiled kernels in memory and on disk (docs/kernel-cache.md): there is nothing
// to purge.

#include "vexcl/backend/context.hpp"

namespace vex {

/// Does nothing.
inline void purge_caches() {}
inline void purge_caches(const command_queue&) {}
inline void purge_caches(const std::vector<command_queue>&) {}

}  // namespace vex

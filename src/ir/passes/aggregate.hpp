#pragma once
// The table of types that are more than a scalar or a short vector: structures, and pointers that are
// pointed to. Entries are never removed; equal ones are one.

#include "balm/device_type.hpp"

namespace balm::ir {

/// The description of a structure's type.
const trace::structure& structure_of(trace::type) noexcept;
/// Whether the type (no pointer) is a structure.
bool is_structure(trace::type) noexcept;

}  // namespace balm::ir

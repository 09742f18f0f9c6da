#pragma once
// The table of types beyond scalars and short vectors: structures, and pointers that are pointed to. Equal
// types share an entry; entries are never removed.

#include "balm/device_type.hpp"

namespace balm::ir {

/// The description of a structure's type.
const trace::structure& structure_of(trace::type) noexcept;
/// Whether the type is a structure; false for pointers to one.
bool is_structure(trace::type) noexcept;

}  // namespace balm::ir

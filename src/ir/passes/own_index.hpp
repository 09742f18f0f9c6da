#pragma once
// Whether a kernel may be given the same memory as two parameters, one of which it writes.

#include "ir/ir.hpp"

namespace balm::ir {

/// Whether each work-item accesses both memory parameters at one index, which no other work-item has: then
/// both may be bound to the same elements. Rows that have extents must have equal ones.
bool share_their_own_index(const function& kernel, std::size_t parameter, std::size_t other);

}  // namespace balm::ir

#pragma once
// Launches whose grid differs from the one that the driver gets: it has an offset, it is one part of a larger
// grid, or it is padded to whole work-groups. In: a traced kernel. Out: the kernel with hidden i64
// parameters, from which it and the functions that it calls compute their place in the user's grid. All
// backends share this pass; launches that do not need it are unaffected.

#include "ir/ir.hpp"

namespace balm::ir {

using runtime::grid_facts;

/// The kernel as the driver launches it. A grid_range walks all of its indices whatever the offset; a kernel
/// for a part or a padded grid must have none.
function with_grid(const function& kernel, const grid_facts&);

/// Whether the function, or one that it calls, can observe how work-items form groups, or distributes a
/// grid_range over them: its grid must be neither padded nor cut into parts with groups of another size.
bool sees_groups(const function&);

}  // namespace balm::ir

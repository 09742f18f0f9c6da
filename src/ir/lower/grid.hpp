#pragma once
// Launches whose grid is not the one that the driver is given: it begins elsewhere than at 0, it is one part
// of a larger grid, or it is filled up to whole work-groups. In: a kernel as traced. Out: the same with
// hidden i64 parameters, from which it and the functions that it calls compute their place in the user's
// grid. Done here for every backend; a kernel whose launches need none of it costs nothing.

#include "ir/ir.hpp"

namespace balm::ir {

using runtime::grid_facts;

/// The kernel as the driver launches it. A grid_range walks all of its indices whatever the offset; in a part
/// or a filled grid there may be none.
function with_grid(const function& kernel, const grid_facts&);

/// Whether the function, or one that it calls, can tell how work-items form groups, or shares out a
/// grid_range among them: its grid is neither filled nor cut into parts with groups of another size.
bool sees_groups(const function&);

}  // namespace balm::ir

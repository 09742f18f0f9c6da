#pragma once
// Grids that do not begin at 0. In: a kernel as traced. Out: the same with one more i64 parameter a
// dimension, the grid's start, which it and the functions that it calls add to global_id. Done here for every
// backend: CUDA has no offsets, and kernels launched without one cost nothing.

#include "ir/ir.hpp"

namespace balm::ir {

/// `place::global_offset` becomes the parameter and `place::global_id` what the hardware counts plus it; a
/// grid_range still walks all of its indices.
function with_offset(const function& kernel);

}  // namespace balm::ir

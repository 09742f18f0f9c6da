#pragma once
// Elementary functions of vectors in OpenCL C, for CPUs. PoCL computes some of them lane after lane, at a
// tenth of the speed or less, and in others one lane's result depends on its neighbours.

#include "emit/program_parts.hpp"

namespace balm::emit {

/// The name of such a function, of a row that ir::has_own_lanes, on vectors of 8 or 16 lanes.
///
/// Errors are below 4 units of the last place (tan 5). Lanes beyond the range that the formula is made for
/// take the scalar built-in, and leave the others as they are.
std::string vector_function(program_parts&, builtin, ir::type vector);

}  // namespace balm::emit

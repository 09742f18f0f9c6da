#pragma once
// Balm's elementary functions: on vectors in OpenCL C, for CPUs, because PoCL computes some lane by lane, at
// a tenth of the speed or less, and lets the lanes of others depend on their neighbours; and powers, which
// take PoCL seven times as long on scalars, and NVIDIA's compilers a sixth longer for f64.

#include "emit/program_parts.hpp"

namespace balm::emit {

/// Adds such a function to the program and returns its name: for a row that ir::has_own_lanes, on vectors of
/// 8 or 16 lanes (step: any number), or for pow on scalars. Powers of f64 have the same bits on every device.
///
/// Errors are below 4 units in the last place (tan 5, pow 2). Sines, cosines and tangents of lanes outside
/// the range of the formula use the scalar built-in, which does not affect the other lanes.
std::string elementary_function(program_parts&, builtin, ir::type);

/// A built-in (not an operator) on scalars: the dialect's, or one of these if it is faster.
builtin_spelling spell(program_parts&, builtin, scalar type);

}  // namespace balm::emit

#pragma once
// Elementary functions of Balm's own: on vectors in OpenCL C, for CPUs, of which PoCL computes some lane
// after lane, at a tenth of the speed or less, and lets others' lanes depend on their neighbours; and powers,
// which take PoCL seven times as long on scalars, and those of f64 NVIDIA's compilers a sixth longer.

#include "emit/program_parts.hpp"

namespace balm::emit {

/// The name of such a function: of a row that ir::has_own_lanes, on vectors of 8 or 16 lanes, or of pow
/// on scalars. Powers of f64 have the same bits on every device.
///
/// Errors are below 4 units of the last place (tan 5, pow 2). Sines, cosines and tangents of lanes beyond the
/// range that the formula is made for take the scalar built-in, and leave the others as they are.
std::string elementary_function(program_parts&, builtin, ir::type);

/// A built-in (no operator) on scalars: the dialect's own, or one of these where it is faster.
builtin_spelling spell(program_parts&, builtin, scalar type);

}  // namespace balm::emit

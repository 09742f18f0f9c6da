#pragma once
// Helper functions that work lane by lane, for operations on vectors that a dialect lacks: CUDA's operators
// and built-ins on vectors, and in OpenCL C the rows whose vector form is missing or unreliable.

#include <span>
#include <string>
#include <vector>

#include "emit/program_parts.hpp"

namespace balm::emit {

/// "x", or "s5" in vectors of more than four lanes.
std::string lane_name(int lanes, int k);
/// "xy", "s04": the lanes that an order of 4 bits each names.
std::string lane_names(int lanes, std::uint64_t order, int count);

/// Adds a function for the row on these operands to the program, and returns its name.
std::string lane_wise_row(program_parts&, builtin, ir::type result, std::span<const ir::type> operands);
std::string lane_wise_conversion(program_parts&, ir::type to, ir::type from);
std::string lane_wise_select(program_parts&, ir::type result);
/// Converts f16 in memory, as 16 bits, to f32 or back.
std::string half_conversion(program_parts&, ir::type to, ir::type from);
/// A function that returns lanes of a vector in another order (CUDA).
std::string swizzle_function(program_parts&, ir::type vector, std::uint64_t order, int count);
/// A function of (vector, lanes) that returns the vector with some lanes replaced.
std::string insert_function(program_parts&, ir::type vector, std::uint64_t order, ir::type lanes);

/// One scalar value of a row, written out.
std::string scalar_row(program_parts&, builtin, scalar operand_type,
                       const std::vector<std::string>& operands);

}  // namespace balm::emit

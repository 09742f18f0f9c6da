#pragma once
// Built-ins and operators that are printed as calls of helper functions because of their operands: divisions
// that could fault, and patterns for which there is a single instruction that the compiler does not find.

#include <optional>

#include "emit/program_parts.hpp"

namespace balm::emit {

/// The helper function for this instruction, with the operands as arguments; nullopt if the row is printed as
/// usual.
std::optional<helper_function> chosen_function(const program_parts&, const ir::function&, ir::value_id);

}  // namespace balm::emit

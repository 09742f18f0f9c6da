#pragma once
// Built-ins and operators that are printed as the call of a helper function because of what their operands
// are: a division that could fault, and what the compiler has one instruction for and does not find by
// itself.

#include <optional>

#include "emit/program_parts.hpp"

namespace balm::emit {

/// The helper function for this instruction, whose operands are its arguments; nothing: the row is printed as
/// such.
std::optional<helper_function> chosen_function(const program_parts&, const ir::function&, ir::value_id);

}  // namespace balm::emit

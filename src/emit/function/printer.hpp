#pragma once
// Prints one function: its signature, and the statements that emit/folding.hpp has planned.

#include <string>

#include "emit/program_parts.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// The function's text, including its signature.
std::string print_function(const ir::function&, const std::string& printed_name, program_parts&);

}  // namespace balm::emit

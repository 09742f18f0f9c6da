#pragma once
// Prints the body of one function: which values are folded into the expression of their only use, which get
// a name, and the statements between.

#include <string>

#include "emit/program_parts.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// The function's text, signature and all.
std::string print_function(const ir::function&, const std::string& printed_name, program_parts&);

}  // namespace balm::emit

#pragma once
// Prints the body of one function: which values are folded into the expression of their only use, which get
// a name, and the statements between.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/names.hpp"
#include "emit/spelling.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// What a program needs besides its functions' own text; shared by all of its functions.
struct program_parts {
    runtime::dialect language;
    name_set names;                                        ///< of functions
    std::map<std::string, std::string> helpers;            ///< by name, the texts
    std::map<const ir::function*, std::string> functions;  ///< printed names of callees
    bool uses_f64 = false;
};

/// The function's text, signature and all.
std::string print_function(const ir::function&, const std::string& printed_name, program_parts&);

}  // namespace balm::emit

#pragma once
// The texts of a program, in a device's dialect. In: a kernel that is given as OpenCL C, or calls functions
// that are. Out: the source ahead of the generated source, or the whole program.

#include <string>
#include <vector>

#include "emit/program_parts.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

struct program_text {
    std::string words;
    std::vector<std::string> reserved;  ///< names that generated functions must not have
    std::string kernel_name;            ///< of a kernel that is given as text
};

/// Prints each text once, however many functions it defines. Empty if nothing is given as text. Throws
/// build_error for what cannot be translated to the dialect, and for a function that no text of the program
/// defines.
program_text print_texts(const ir::function& kernel, const dialect&);

/// The name by which generated source calls a function that is given as text. If the text uses other types
/// for the parameters (structures, and vectors for CUDA), adds to the program a wrapper that converts them.
std::string called_name(const ir::function&, program_parts&);

/// The texts of the function and of all functions that it calls, in that order, each once.
ir::text_list all_texts(const ir::function&);

}  // namespace balm::emit

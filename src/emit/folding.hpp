#pragma once
// Decides which values of a function are printed within the expression of their use, and which are declared
// as variables, and where. In: a verified, lowered function. Out: the statements of each block. Nothing here
// depends on a dialect; the printer only reads the plan.

#include <cstdint>
#include <vector>

#include "ir/ir.hpp"

namespace balm::emit {

/// Whether a value points to a lane of a vector.
bool is_lane(const ir::function&, ir::value_id);

enum class form : std::uint8_t {
    unused,   ///< without a name: the value is unused, or the instruction has effects and no used result
    inlined,  ///< printed at each use, a constant as a literal
    declared  ///< named, by its statement or, for a parameter, by the signature. An address or the read
              ///< of a variable may have uses before its statement, at which it is printed
};

struct folding_plan {
    std::vector<form> forms;  ///< by value
    /// By block: declarations and effects in their order, each value once.
    std::vector<ir::block> statements;
};

/// The plan keeps these rules:
/// * Nothing that an inlined value reads changes between the place where it was recorded and its uses.
/// * A value that is used more than once is declared, unless it is an address or the read of a variable.
/// * A value that is used in a loop but does not depend on it is declared before the loop.
/// * A declaration is in the block of the value, or in one inside it, and dominates all uses by name.
/// * The block of the right operand of && and ||, or of the condition of WHILE, either has statements, which
///   are executed each time that it is evaluated, or has none, and the operand is a single expression.
/// * The address of a lane, which OpenCL C cannot take, is never declared.
folding_plan plan_folding(const ir::function&);

}  // namespace balm::emit

#pragma once
// Decides which values of a function are printed within the expression of their use, and which are declared
// as variables, and where. In: a verified, lowered function. Out: the statements of each block. Nothing here
// depends on a dialect; the printer only reads the plan.

#include <cstdint>
#include <vector>

#include "ir/ir.hpp"

namespace balm::emit {

enum class form : std::uint8_t {
    unused,   ///< without a name: nothing uses the value, or an instruction has effects and no result in use
    inlined,  ///< spelt at each of its uses, a constant as a literal
    declared  ///< named, from its statement on, or, of a parameter, by the signature. An address or the read
              ///< of a variable may have uses ahead of its statement, at which it is spelt
};

struct folding_plan {
    std::vector<form> forms;  ///< by value
    /// By block: declarations and effects in their order, each value once.
    std::vector<ir::block> statements;
};

/// The plan keeps these rules:
/// * Nothing that an inlined value reads changes between the place where it was recorded and its uses.
/// * A value that is used more than once is declared, unless it is an address or the read of a variable.
/// * What is used in a loop that it does not depend on is declared ahead of the loop.
/// * A declaration stands in the block of the value, or in one inside it, and dominates all uses by name.
/// * The right operand of && and ||, and the condition of WHILE: its block has statements, which are executed
///   each time that it is evaluated; or it has none, and is one expression.
/// * The address of a lane, which OpenCL C does not take, is never declared.
folding_plan plan_folding(const ir::function&);

}  // namespace balm::emit

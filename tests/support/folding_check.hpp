#pragma once
// Whether a plan of emit/folding.hpp prints what a function computes. The function is executed twice, in
// program order and statement by statement of the plan, with a meaning in which every mistake shows: an
// operation gives a digest of its operands, a store changes all that is loaded from the same memory,
// conditions are digests' bits. Shares no code with the pass.

#include <cstdint>
#include <string>

#include "emit/folding.hpp"
#include "ir/ir.hpp"

namespace balm::test {

/// What is wrong with the plan when the function runs on inputs drawn from the seed: an effect that is not
/// what it was, a value that is not in scope, or is computed more often than the function says. Empty:
/// nothing.
std::string meaning_fault(const ir::function&, const emit::folding_plan&, std::uint64_t seed);

/// What is wrong with its lines wherever control goes: one is too long, declares what nothing uses, or
/// repeats what is used twice. Empty: nothing.
std::string line_fault(const ir::function&, const emit::folding_plan&);

}  // namespace balm::test

#pragma once
// Functions of arithmetic in place of their calls, so that a loop that calls them has a vector form.

#include "ir/ir.hpp"

namespace balm::ir {

/// Replaces the loop body's calls of pure functions whose code is straight-line arithmetic by that code.
void inline_arithmetic(function&, value_id loop);

}  // namespace balm::ir

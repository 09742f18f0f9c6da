#pragma once
// In: a kernel in which a function is called for neighbouring indices, whose results come in fours from less
// work (function::of_four: random numbers, of which four share a block). Out: one call for those of the same
// four.

#include "ir/ir.hpp"

namespace balm::ir {

/// Puts one call of four in place of the calls in a block whose indices are known to differ by less than four
/// within a multiple of four: those at 4 * k, 4 * k + 1 … for any k. The function's values must be numbered
/// (simplify). Says whether there were any.
bool share_fours(function&);

}  // namespace balm::ir

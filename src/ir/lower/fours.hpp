#pragma once
// In: a kernel that calls a function for neighbouring indices, of which four results together cost less
// (function::of_four: four random numbers share a block). Out: one call for the calls of each four.

#include "ir/ir.hpp"

namespace balm::ir {

/// Replaces the calls in a block whose indices are known to lie in the same aligned four (4 * k to 4 * k + 3
/// for some k) by one call of four. Requires value numbering (simplify). Returns whether there were any.
bool share_fours(function&);

}  // namespace balm::ir

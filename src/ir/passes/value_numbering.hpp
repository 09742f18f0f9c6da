#pragma once
// The forward walk of the simplifier. In: a function. Out: the same with constants folded, common
// subexpressions eliminated, variables forwarded and branches on constants taken. Dead code remains.

#include "ir/ir.hpp"

namespace balm::ir {

/// Returns whether another walk may find more: something was dropped from inside a loop or branch whose
/// effects had already been applied.
bool number_values(function&);

}  // namespace balm::ir

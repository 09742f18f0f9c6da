#pragma once
// The forward walk of the simplifier. In: a function. Out: the same with constants folded, equal values
// shared, variables forwarded and branches on constants taken; what nobody uses any more is still there.

#include "ir/ir.hpp"

namespace balm::ir {

/// Whether another walk may find more: something was dropped from inside a loop or branch whose effects had
/// already been reckoned with.
bool number_values(function&);

}  // namespace balm::ir

#pragma once
// How often a loop runs, as far as a device's compiler can tell.

#include "ir/ir.hpp"

namespace balm::ir {

/// Whether a compiler can tell that the loop has few turns at most, but not how many: it writes them one
/// after the other, each in a branch of the one before. `range(n & 1)` is an `if`.
bool may_become_branches(const function&, value_id loop);

}  // namespace balm::ir

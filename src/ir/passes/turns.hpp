#pragma once
// How often a loop runs, as far as a device's compiler can tell, whether its variable may overflow, and the
// ranges of integers.

#include "ir/ir.hpp"

namespace balm::ir {

/// Whether types, constants and arithmetic say that an integer is not less than `least` and not more than
/// `most`, whose magnitudes are below 2^40. no_limit: there is no upper bound.
bool lies_in(const function&, value_id, std::int64_t least, std::int64_t most);
inline constexpr std::int64_t no_limit = INT64_MAX;

/// Whether a compiler can tell that the loop has few turns at most, but not how many: it writes them one
/// after the other, each in a branch of the one before. `range(n & 1)` is an `if`.
bool may_become_branches(const function&, value_id loop);

/// Marks the for_ loops whose variable may exceed its type's range after the last turn.
void mark_overflowing_loops(function&);

}  // namespace balm::ir

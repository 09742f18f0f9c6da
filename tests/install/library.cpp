// A shared library that uses Balm, of which there are two: each contains Balm where that is static.

#include "faults.hpp"

/// Twice the sum of n times this value, 0 where something is wrong.
int LIBRARY_FUNCTION(int value, int n) {
    const balm::context ctx;
    balm::vector<int> all(ctx, static_cast<std::size_t>(n), value);
    all = 2 * all;
    return kept_faults(ctx.device(0)) == 4 ? balm::sum(all) : 0;
}

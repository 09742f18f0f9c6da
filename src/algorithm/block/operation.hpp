#pragma once
// What reductions and scans combine values with.

#include <functional>

#include "algorithm/block/values.hpp"

namespace balm::block {

/// An associative operation. Scans keep the order of operands; reductions do not: they need one that is
/// commutative, too.
struct operation {
    std::function<values(const values& first, const values& second)> combined;
    std::function<values()> identity;  ///< changes nothing that it is combined with; for exclusive scans
};

/// Sums of so many numbers of a type, each by itself.
operation sums(scalar type, std::size_t count = 1);

/// Combines variables with more values, in place.
void accumulate(const operation&, const values& variables, const values& more);

/// The operation on values behind a flag (bool) that says whether a segment begins with them: what lies ahead
/// of a segment does not enter it. As associative as the operation. Blelloch, Prefix sums and their
/// applications (1990), 1.5.
operation segmented(const operation&);

}  // namespace balm::block

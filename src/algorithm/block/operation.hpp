#pragma once
// How reductions and scans combine values.

#include <functional>

#include "algorithm/block/values.hpp"

namespace balm::block {

/// An associative operation. Scans keep the order of operands; reductions do not, so their operation must
/// also be commutative.
struct operation {
    std::function<values(const values& first, const values& second)> combined;
    std::function<values()> identity;  ///< the neutral element
};

/// Sums of `count` numbers of a type, each separately.
operation sums(scalar type, std::size_t count = 1);

/// Combines variables with more values, in place.
void accumulate(const operation&, const values& variables, const values& more);

/// The operation on values that follow a flag (bool), which is set if a segment begins with them: what
/// precedes a segment does not enter it. As associative as the operation. Blelloch, Prefix sums and their
/// applications (1990), 1.5.
operation segmented(const operation&);

}  // namespace balm::block

#pragma once
// Set operations on two sorted runs, with the semantics of std::set_union …: of m equal elements of the first
// run and n of the second, the first min(m, n) of each form pairs. A pair is consumed at once, so the shares
// of work-items are sections of the balanced path (Baxter, moderngpu, 2013): the merge path's order, with
// equal elements of the two runs alternating.

#include <functional>
#include <vector>

#include "algorithm/block/merge.hpp"
#include "balm/set_operations.hpp"

namespace balm::block {

using array::set_operation;

/// The number of elements that have been consumed of each run.
template <class Number>
struct consumed {
    Number first, second;
};
/// The number of elements of each run among the first `count` of the balanced path, one more if `count` would
/// divide a pair. Number is Int or Index.
template <class Number>
consumed<Number> balanced_path(const element_order&, const run<Number>& first, const run<Number>& second,
                               const Number& count);

/// An element, and whether it is in the result.
struct set_element {
    values own;
    Bool is_kept;
};
/// The elements at `each` positions of the balanced path over a tile, from position `from` on. The tile has
/// memory for `room` elements. A pair is one element.
std::vector<set_element> set_share(set_operation, const element_order&, const arrays& tile, int room,
                                   const runs_of_tile&, const Int& from, int each);

/// Calls give for the elements of two runs in order, in one work-item. A pair is one element.
void walk_sets(set_operation, const element_order&, const run<Index>& first, const run<Index>& second,
               const std::function<void(const values& own, const Bool& is_kept)>& give);

}  // namespace balm::block

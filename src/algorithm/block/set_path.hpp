#pragma once
// Set operations on two sorted runs, as std::set_union … have them: of m equal elements of the first run and
// n of the second, the first min(m, n) of each are pairs. A pair is consumed at once, so that shares of
// work-items are balanced paths (Baxter, moderngpu, 2013): the merge path's order with equal elements of the
// two runs by turns.

#include <functional>
#include <vector>

#include "algorithm/block/merge.hpp"
#include "balm/set_operations.hpp"

namespace balm::block {

using array::set_operation;

/// What has been consumed of two runs.
template <class Number>
struct consumed {
    Number first, second;
};
/// What the first `count` elements are, and one more where these would divide a pair. Number is Int or Index.
template <class Number>
consumed<Number> balanced_path(const element_order&, const run<Number>& first, const run<Number>& second,
                               const Number& count);

/// An element, and whether it is in the result.
struct set_element {
    values own;
    Bool is_kept;
};
/// The elements of `each` places of the balanced path over a tile, which has memory for `room` elements, from
/// place `from` on. A pair is one element.
std::vector<set_element> set_share(set_operation, const element_order&, const arrays& tile, int room,
                                   const runs_of_tile&, const Int& from, int each);

/// Calls give for the elements of two runs, one after the other, by one work-item.
void walk_sets(set_operation, const element_order&, const run<Index>& first, const run<Index>& second,
               const std::function<void(const values& own, const Bool& is_kept)>& give);

}  // namespace balm::block

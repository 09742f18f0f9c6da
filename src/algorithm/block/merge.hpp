#pragma once
// Merges of two sorted runs: how much of each the first merged elements take (Green, McColl & Bader, GPU
// merge path, 2012), and the merged elements of a work-item. Of equal elements those of the first run come
// first.

#include <functional>

#include "algorithm/block/group.hpp"

namespace balm::block {

/// Whether the first of two elements is ahead of the second.
using element_order = std::function<Bool(const values&, const values&)>;

/// Elements begin … end - 1 of arrays in one kind of memory.
template <class Number>
struct run {
    arrays of;
    Number begin, end;

    Number size() const { return end - begin; }
    /// The element that many places after the first.
    values at(const Number& k) const { return of.load(begin + k); }
};

/// How many of the first `count` merged elements are of the first run. Number is Int or Index.
template <class Number>
Number merge_path(const element_order&, const run<Number>& first, const run<Number>& second,
                  const Number& count);

/// Two runs that follow each other in a tile of local memory.
struct runs_of_tile {
    Int begin, middle, end;
    Int size() const { return end - begin; }
    run<Int> first(const arrays& tile) const { return {tile, begin, middle}; }
    run<Int> second(const arrays& tile) const { return {tile, middle, end}; }
};
/// Replaces the elements of a tile by merged ones: the work-item's share, `each` from `each` times its number
/// on, by those from the merged element `from` on. Behind the last one elements are of no meaning. The tile
/// has memory for `each` elements behind the runs, which are read ahead of the merge. All work-items must
/// arrive; what is stored is visible to all of them.
void merge_in_place(const group&, const element_order&, const arrays& tile, const runs_of_tile&,
                    const Int& from, int each);

/// Merges two runs by one work-item to the places from `place` on.
void merge(const element_order&, const run<Index>& first, const run<Index>& second, const arrays& to,
           const Index& place);

}  // namespace balm::block

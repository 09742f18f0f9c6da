#pragma once
// Merges of two sorted runs: how many of the first merged elements come from each (Green, McColl & Bader, GPU
// merge path, 2012), and the merged elements of a work-item. Of equal elements, those of the first run come
// first.

#include <functional>

#include "algorithm/block/group.hpp"

namespace balm::block {

/// Whether the first of two elements precedes the second.
using element_order = std::function<Bool(const values&, const values&)>;

/// Elements begin … end - 1 of arrays in one kind of memory.
template <class Number>
struct run {
    arrays of;
    Number begin, end;

    Number size() const { return end - begin; }
    /// The element at position k of the run.
    values at(const Number& k) const { return of.load(begin + k); }
};

/// How many of the first `count` merged elements come from the first run. Number is Int or Index.
template <class Number>
Number merge_path(const element_order&, const run<Number>& first, const run<Number>& second,
                  const Number& count);

/// Two contiguous runs in a tile of local memory.
struct runs_of_tile {
    Int begin, middle, end;
    Int size() const { return end - begin; }
    run<Int> first(const arrays& tile) const { return {tile, begin, middle}; }
    run<Int> second(const arrays& tile) const { return {tile, middle, end}; }
};
/// Replaces the elements of a tile by merged ones: the share of work-item i, which is `each` elements from
/// position i * each on, receives the merged elements from `from` on. Elements beyond the last one are
/// unspecified. The tile has memory for `each` elements after the runs, because the merge reads ahead. All
/// work-items must call it; their stores are visible to all of them afterwards.
void merge_in_place(const group&, const element_order&, const arrays& tile, const runs_of_tile&,
                    const Int& from, int each);

/// One work-item merges two runs to the positions from `place` on.
void merge(const element_order&, const run<Index>& first, const run<Index>& second, const arrays& to,
           const Index& place);

}  // namespace balm::block

#pragma once
// Reductions, for operations that are associative and commutative.
//
// Order across work-items: a tree. Work-item k combines its values with those of work-item k + w, for w from
// the greatest power of two below their count down to 1. The order does not depend on whether shuffles or
// local memory carry the values.

#include <functional>
#include <type_traits>

#include "algorithm/block/group.hpp"
#include "algorithm/block/operation.hpp"

namespace balm::block {

/// Reduces a work-item's elements, which are at least one, as a balanced tree that keeps their order.
values reduce(const operation&, const elements&);
/// Reduces `start` and at(begin) … at(end - 1) sequentially.
values reduce(const operation&, const values& start, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at);

/// How a work-item walks elements that are a stride apart.
struct strided_walk {
    int at_once = 1;  ///< positions whose elements are combined as a balanced tree, loads in flight together
    int run = 0;      ///< such trees are combined sequentially, so many, and then these runs; 0: all of them
};
/// Combines variables with the elements at(begin), at(begin + stride) … ahead of `end`. Positions that are
/// too few for another tree come last, one by one.
template <class Number>
void accumulate(const operation&, const values& total, const Number& begin, const Number& end,
                const Number& stride, strided_walk,
                const std::type_identity_t<std::function<elements(const Number&)>>& at);

/// Reduces each sub-group. The result is valid in its first lane. Without sub-groups `shared` has an element
/// for each work-item of the group, and all work-items must arrive.
values sub_group_reduce(const group&, const operation&, const values& own, const arrays& shared);

/// Reduces the group. The result is valid in work-item 0. `shared` has an element for each work-item.
values reduce(const group&, const operation&, const values& own, const arrays& shared);

/// Work-items of a group that are a distance apart: a power of two of them, in all subsets as many.
struct subset {
    Int rank;  ///< the work-item's number among them
    Int size;
    Int distance;
};
/// Reduces each subset. The result is valid in its first work-item. `shared` has an element for each
/// work-item.
values reduce(const group&, const operation&, const values& own, const arrays& shared, const subset&);

/// Reduces a power of two of elements of an array that the group shares, in place; work-item k has stored
/// those at k, k + items … Work-item 0 may then load the result from the first element.
void reduce_array(const group&, const operation&, const arrays& array, const Int& count);

}  // namespace balm::block

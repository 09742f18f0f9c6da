#pragma once
// Reductions by associative and commutative operations.
//
// Order across work-items: a tree. Work-item k combines its values with those of work-item k + w, for w from
// the greatest power of two below their count down to 1. The order does not depend on whether shuffles or
// local memory carry the values.

#include <functional>
#include <span>
#include <type_traits>

#include "algorithm/block/group.hpp"
#include "algorithm/block/operation.hpp"

namespace balm::block {

/// Reduces a work-item's elements (at least one) as a balanced tree that keeps their order.
values reduce(const operation&, const elements&);
/// Reduces `start` and at(begin) … at(end - 1) sequentially.
values reduce(const operation&, const values& start, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at);

/// How a work-item iterates over strided elements.
struct strided_walk {
    int at_once = 1;  ///< positions whose elements are combined as a balanced tree, all loads in flight
    int run = 0;      ///< trees that are combined sequentially to a run, before the runs; 0: one run of all
    bool is_sequential =
        false;  ///< elements are combined one after the other instead, with all loads in flight
};
/// Combines variables with the elements at begin, begin + stride … before `end`: at(positions) loads those of
/// some positions. Positions left over, too few for another tree, are combined last, one by one.
template <class Number>
using elements_at = std::function<elements(std::span<const Number>)>;
template <class Number>
void accumulate(const operation&, const values& total, const Number& begin, const Number& end,
                const Number& stride, strided_walk, const std::type_identity_t<elements_at<Number>>& at);

/// Reduces each sub-group. The result is valid in its first lane. On devices without sub-groups, `shared`
/// needs an element for each work-item of the group, and all work-items must reach the call.
values sub_group_reduce(const group&, const operation&, const values& own, const arrays& shared);

/// Reduces the group. The result is valid in work-item 0. `shared` needs an element for each work-item.
values reduce(const group&, const operation&, const values& own, const arrays& shared);

/// Work-items of a group that are `distance` apart: a power of two of them, equally many in all subsets.
struct subset {
    Int rank;  ///< the work-item's index in the subset
    Int size;
    Int distance;
};
/// Reduces each subset. The result is valid in its first work-item. `shared` needs an element for each
/// work-item.
values reduce(const group&, const operation&, const values& own, const arrays& shared, const subset&);

/// The same for subsets of `size` neighbours, a power of two, with the result in each of them.
values reduce_for_all(const group&, const operation&, const values& own, const arrays& shared, int size,
                      const Int& rank);

/// Reduces in place the `count` elements (a power of two) of an array that the group shares. Work-item k has
/// stored those at k, k + items … Work-item 0 may then load the result from the first element.
void reduce_array(const group&, const operation&, const arrays& array, const Int& count);

}  // namespace balm::block

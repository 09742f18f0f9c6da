#pragma once
// Reductions, for operations that are associative and commutative.
//
// Order across work-items: a tree. Work-item k combines its values with those of work-item k + w, for w from
// the greatest power of two below their count down to 1. The order does not depend on whether shuffles or
// local memory carry the values.

#include <functional>

#include "algorithm/block/group.hpp"
#include "algorithm/block/operation.hpp"

namespace balm::block {

/// Reduces a work-item's elements, which are at least one, as a balanced tree that keeps their order.
values reduce(const operation&, const elements&);
/// Reduces `start` and at(begin) … at(end - 1) sequentially.
values reduce(const operation&, const values& start, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at);

/// Reduces each sub-group. The result is valid in its first lane. Without sub-groups `shared` has an element
/// for each work-item of the group, and all work-items must arrive.
values sub_group_reduce(const group&, const operation&, const values& own, const arrays& shared);

/// Reduces the group. The result is valid in work-item 0. `shared` has an element for each work-item.
values reduce(const group&, const operation&, const values& own, const arrays& shared);

}  // namespace balm::block

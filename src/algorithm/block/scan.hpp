#pragma once
// Scans (prefix sums) with any associative operation, which need not commute: operands keep their order. With
// segmented(operation) they are segmented scans.
//
// Order across work-items: within a sub-group that of Hillis and Steele (Data parallel algorithms, 1986),
// with distances 1, 2, 4, 8, 16; then the sub-groups' totals sequentially. The order does not depend on
// whether shuffles or local memory carry the values.

#include <functional>

#include "algorithm/block/group.hpp"
#include "algorithm/block/operation.hpp"

namespace balm::block {

/// Scans a work-item's elements sequentially, with `carry`, if any, before them.
elements scan_inclusive(const operation&, const elements&);
elements scan_inclusive(const operation&, const values& carry, const elements&);
elements scan_exclusive(const operation&, const values& carry, const elements&);
/// Scans at(begin) … at(end - 1) sequentially and calls give(i, exclusive, inclusive) for each. Returns the
/// total.
values scan(const operation&, const values& carry, const Index& begin, const Index& end,
            const std::function<values(const Index&)>& at,
            const std::function<void(const Index&, const values& exclusive, const values& inclusive)>& give);

/// The number of elements that the following functions need in `shared`.
std::size_t scan_room(const group&);

/// Scans each sub-group. On devices without sub-groups, all work-items of the group must reach the call.
values sub_group_scan_inclusive(const group&, const operation&, const values& own, const arrays& shared);
values sub_group_scan_exclusive(const group&, const operation&, const values& own, const arrays& shared);

/// Scans the group. Sets `total`, unless it is null, to the reduction of all values, in every work-item.
values scan_inclusive(const group&, const operation&, const values& own, const arrays& shared,
                      values* total = nullptr);
values scan_exclusive(const group&, const operation&, const values& own, const arrays& shared,
                      values* total = nullptr);

/// The total of the sub-groups before this one, given each sub-group's total, which its last lane holds; the
/// identity in the first sub-group. Sets `total`, unless it is null, to the total of all.
values ahead_of_sub_group(const group&, const operation&, const values& of_sub_group, const arrays& shared,
                          values* total);

/// Scans a tile in blocked arrangement: each work-item has neighbouring elements.
elements scan_inclusive(const group&, const operation&, const elements&, const arrays& shared,
                        values* total = nullptr);
elements scan_exclusive(const group&, const operation&, const elements&, const arrays& shared,
                        values* total = nullptr);

/// The exclusive scan of a tile in sub-group-striped arrangement, in two terms: `ahead`, the total of the
/// tile before the sub-group, and `before`, that of the sub-group before each element. Either is the identity
/// if nothing precedes.
struct striped_scan {
    values ahead;
    elements before;
};
/// `shared` needs scan_room(g) elements of side_by_side(types, elements of a work-item).
striped_scan scan_exclusive_striped(const group&, const operation&, const elements&, const arrays& shared,
                                    values* total);
types side_by_side(const types&, std::size_t count);

/// Scans `count` elements of an array that the group shares, exclusively and in place. Needs a barrier after
/// the elements are stored, and another before the results are visible.
void scan_array(const group&, const operation&, const arrays& array, const Int& count, const arrays& shared,
                values* total = nullptr);

}  // namespace balm::block

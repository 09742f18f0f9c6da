#pragma once
// Scans (prefix sums) with any associative operation, which need not commute: operands keep their order. With
// segmented(operation) they are segmented scans.
//
// Order across work-items: within a sub-group that of Hillis and Steele (Data parallel algorithms, 1986), for
// distances 1, 2, 4, 8, 16; the sub-groups' totals sequentially. The order does not depend on whether
// shuffles or local memory carry the values.

#include <functional>

#include "algorithm/block/group.hpp"
#include "algorithm/block/operation.hpp"

namespace balm::block {

/// Scans a work-item's elements sequentially, with `carry`, if any, ahead of them.
elements scan_inclusive(const operation&, const elements&);
elements scan_inclusive(const operation&, const values& carry, const elements&);
elements scan_exclusive(const operation&, const values& carry, const elements&);
/// Scans at(begin) … at(end - 1) sequentially; calls give(i, what is ahead of i, the same with i). Returns
/// the total.
values scan(const operation&, const values& carry, const Index& begin, const Index& end,
            const std::function<values(const Index&)>& at,
            const std::function<void(const Index&, const values& exclusive, const values& inclusive)>& give);

/// How many elements `shared` has for the following.
std::size_t scan_room(const group&);

/// Scans each sub-group. Without sub-groups all work-items of the group must arrive.
values sub_group_scan_inclusive(const group&, const operation&, const values& own, const arrays& shared);
values sub_group_scan_exclusive(const group&, const operation&, const values& own, const arrays& shared);

/// Scans the group; `total`, if asked for, becomes the reduction of all, in every work-item.
values scan_inclusive(const group&, const operation&, const values& own, const arrays& shared,
                      values* total = nullptr);
values scan_exclusive(const group&, const operation&, const values& own, const arrays& shared,
                      values* total = nullptr);

/// What the sub-groups before this one have in total, given the total of each sub-group, known to its last
/// lane; the identity in the first one. `total` becomes that of all.
values ahead_of_sub_group(const group&, const operation&, const values& of_sub_group, const arrays& shared,
                          values* total);

/// Scans a tile in blocked arrangement: each work-item has neighbouring elements.
elements scan_inclusive(const group&, const operation&, const elements&, const arrays& shared,
                        values* total = nullptr);
elements scan_exclusive(const group&, const operation&, const elements&, const arrays& shared,
                        values* total = nullptr);

/// What is ahead of each element of a tile in sub-group-striped arrangement: `ahead` of the sub-group in the
/// tile, and then `before` the element in its sub-group; the identity where there is nothing.
struct striped_scan {
    values ahead;
    elements before;
};
/// `shared` has scan_room(g) elements of side_by_side(types, elements of a work-item).
striped_scan scan_exclusive_striped(const group&, const operation&, const elements&, const arrays& shared,
                                    values* total);
types side_by_side(const types&, std::size_t count);

/// Scans `count` elements of an array that the group shares, exclusively, in place. All elements have been
/// stored before a barrier; a barrier makes the result visible.
void scan_array(const group&, const operation&, const arrays& array, const Int& count, const arrays& shared,
                values* total = nullptr);

}  // namespace balm::block

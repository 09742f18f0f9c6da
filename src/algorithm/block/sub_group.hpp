#pragma once
// Shuffles, ballot and match within sub-groups, for values of any type. Devices with sub-groups need no
// memory. On others, `shared` needs an element for each work-item of the group, and all work-items must reach
// the call.

#include "algorithm/block/group.hpp"

namespace balm::block {

/// The values of another lane; the lane's own if that lane does not exist.
values shuffle(const group&, const values&, const Int& lane, const arrays& shared);
values shuffle_up(const group&, const values&, int distance, const arrays& shared);
values shuffle_down(const group&, const values&, int distance, const arrays& shared);

/// The lanes whose condition is true: bit k for lane k. `shared` holds bool.
UInt ballot(const group&, const Bool& condition, const arrays& shared);
/// The lanes with the same label; a label has `bits` bits. `shared` holds i32.
UInt match(const group&, const Int& label, int bits, const arrays& shared);

}  // namespace balm::block

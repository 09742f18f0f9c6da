#pragma once
// Whether an assignment may compute each element in its place, or reads what it has already overwritten.

#include <cstdint>
#include <utility>

#include "array/layout.hpp"

namespace balm::array {

/// Whether both maps have each element in one place: the strides of dimensions of one element do not matter.
bool is_same_map(const affine_map&, const affine_map&);

/// The first and the last position of a map with elements.
std::pair<std::int64_t, std::int64_t> range_of(const affine_map&);

/// Throws usage_error where an assignment writes elements twice, as far as that can be seen.
void check_distinct(target_list, const shape& box);

/// Whether the tape reads elements that the vector has, too.
bool reads(const tape&, const vector_state&);
/// The same of any target.
bool reads(const tape&, target_list);

/// Whether a target's elements may be read after they were written, so that the values have to be computed
/// elsewhere first. `p` are the values, then the targets' positions.
bool needs_temporary(const tape& p, target_list, const shape& box);

}  // namespace balm::array

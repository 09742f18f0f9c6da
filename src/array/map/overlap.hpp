#pragma once
// Whether an assignment can compute its elements in place, or would read elements that it has overwritten.

#include <cstdint>
#include <utility>

#include "array/layout.hpp"

namespace balm::array {

/// Whether both maps have every element at the same position; strides of dimensions of extent 1 do not
/// matter.
bool is_same_map(const affine_map&, const affine_map&);

/// The lowest and the highest position of a map that has elements.
std::pair<std::int64_t, std::int64_t> range_of(const affine_map&);

/// Throws usage_error if two targets of an assignment may share elements. Positions in one vector that are
/// not affine are not checked.
void check_distinct(target_list, const shape& box);

/// Whether a vector of the tape shares elements with this vector.
bool reads(const tape&, const vector_state&);
/// The same for any of the targets.
bool reads(const tape&, target_list);

/// Whether elements of a target may be read after they have been written, so that the values must be computed
/// into a temporary first. `p` holds the values, then the targets' positions.
bool needs_temporary(const tape& p, target_list, const shape& box);

}  // namespace balm::array

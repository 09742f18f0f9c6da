#pragma once
// Sorts vectors on their device by comparing keys.

#include <memory>

#include "array/vector_state.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// Sorts keys, with values that move with them unless null, in place, and keeps the order of keys of which
/// none is ahead of the other. Both are on one device. `is_ahead` takes two keys.
void merge_sort(vector_state& keys, const std::shared_ptr<const ir::function>& is_ahead,
                vector_state* values);

}  // namespace balm::array

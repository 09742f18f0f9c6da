#pragma once
// Sorts vectors on one device by comparing keys.

#include <memory>

#include "array/vector_state.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// Sorts keys in place; values, unless null, move with them. Equivalent keys, of which neither is ahead of
/// the other, keep their order. Both vectors are on one device. `is_ahead` takes two keys.
void merge_sort(vector_state& keys, const std::shared_ptr<const ir::function>& is_ahead,
                vector_state* values);

}  // namespace balm::array

#pragma once
// Sorts of keys that move any number of values.

#include <functional>
#include <memory>
#include <span>

#include "array/vector_state.hpp"

namespace balm::array {

/// Calls sort_moving(a vector that moves with the keys, or null). A single value of up to 8 bytes is that
/// vector; for others it is the keys' positions, by which each value is then permuted. All are on one device.
void sort_with_values(const std::shared_ptr<vector_state>& keys,
                      std::span<const std::shared_ptr<vector_state>> values,
                      const std::function<void(vector_state*)>& sort_moving);

}  // namespace balm::array

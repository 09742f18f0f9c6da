#pragma once
// Sorts vectors over several devices: each device sorts its part, copies the elements of its positions in the
// global order from the others, and merges them.

#include <cstddef>
#include <functional>
#include <memory>

#include "algorithm/sort/splitters.hpp"

namespace balm::array {

/// Sorts vectors with the same devices and partition by the first `keys` of them. `sort_part` sorts the
/// arrays of one device, of at least two elements, in the same order.
void sort_parts(vector_list, std::size_t keys, const ordering&,
                const std::function<void(const device_arrays&)>& sort_part);

/// The vector in the partition of `model`, which is on the same devices: itself, or a copy.
std::shared_ptr<vector_state> parted_like(const vector_state& model, const std::shared_ptr<vector_state>&);
/// An uninitialised vector like `model`, whose parts consist of whole rows.
std::shared_ptr<vector_state> in_whole_rows(const vector_state& model, std::size_t row);
/// Replaces each integer by its complement: a sort over several devices has one order for all keys.
void invert(const std::shared_ptr<vector_state>&);

}  // namespace balm::array

#pragma once
// Sorts vectors over several devices: each device sorts its part, gets the elements of its places in the
// order of all from the others, and merges them.

#include <cstddef>
#include <functional>
#include <memory>

#include "algorithm/sort/splitters.hpp"

namespace balm::array {

/// Sorts vectors that are spread over the same devices in one partition, by the first `keys` of them.
/// `sort_part` sorts the arrays of one device, at least two elements, in the same order.
void sort_parts(vector_list, std::size_t keys, const ordering&,
                const std::function<void(const device_arrays&)>& sort_part);

/// A vector in the partition of another one on the same devices: itself, or a copy.
std::shared_ptr<vector_state> parted_like(const vector_state& model, const std::shared_ptr<vector_state>&);
/// A vector like another one, whose parts are of whole rows.
std::shared_ptr<vector_state> in_whole_rows(const vector_state& model, std::size_t row);
/// Replaces each integer by its complement: sorts have one order for all keys of several devices.
void invert(const std::shared_ptr<vector_state>&);

}  // namespace balm::array

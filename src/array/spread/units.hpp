#pragma once
// Which device of a vector computes what, where work comes in units of several elements: rows of matrices,
// arrays of a batch.

#include <cstddef>
#include <memory>
#include <vector>

#include "array/vector_state.hpp"

namespace balm::array {

/// Consecutive ones of some units (arrays, rows or columns): those of one device. There may be none.
struct unit_range {
    std::size_t first = 0, count = 0;
    std::size_t end() const { return first + count; }
};
/// Of each device of a vector.
using unit_ranges = std::vector<unit_range>;

/// As many units as they are, divided in proportion to the elements that each device has of a vector. Where
/// the vector is an array of these units, a device has those of which most elements are there.
unit_ranges units_like(const vector_state& model, std::size_t units);
/// How many devices have elements of a vector.
std::size_t devices_with_elements(const vector_state&);
/// A vector on the devices of another one, with its weights, of which each has its units of `size` elements.
std::shared_ptr<vector_state> made_of_units(const vector_state& model, const unit_ranges&, std::size_t size,
                                            trace::type);

}  // namespace balm::array

#pragma once
// Distributes work in units of several elements (rows of matrices, arrays of a batch) over the devices of a
// vector.

#include <cstddef>
#include <memory>
#include <vector>

#include "array/vector_state.hpp"

namespace balm::array {

/// Consecutive units (arrays, rows or columns) on one device; may be empty.
struct unit_range {
    std::size_t first = 0, count = 0;
    std::size_t end() const { return first + count; }
};
/// The range of each device of a vector.
using unit_ranges = std::vector<unit_range>;

/// Divides the units in proportion to the elements of a vector that each device holds. If the vector is an
/// array of these units, a device has those of which it holds most elements.
unit_ranges units_like(const vector_state& model, std::size_t units);
/// How many devices hold elements of a vector.
std::size_t devices_with_elements(const vector_state&);
/// A vector on the devices of another one, with its weights; each device holds its units of `size` elements.
std::shared_ptr<vector_state> made_of_units(const vector_state& model, const unit_ranges&, std::size_t size,
                                            trace::type);

}  // namespace balm::array

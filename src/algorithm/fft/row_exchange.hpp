#pragma once
// Arrays over several devices whose rows or columns each device has as a whole, and the exchange of one for the
// other. A transform along a dimension whose elements lie on several devices is one along columns.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// Consecutive ones of some units (arrays, rows or columns): those of one device. There may be none.
struct unit_range {
    std::size_t first = 0, count = 0;
    std::size_t end() const { return first + count; }
};
/// Of each device of a vector.
using unit_ranges = std::vector<unit_range>;

/// As many units as they are, divided in proportion to the elements that each device has of a vector. Where the
/// vector is an array of these units, a device has those of which most elements are there.
unit_ranges units_like(const vector_state& model, std::size_t units);
/// The same of columns: in groups of some, where there are many.
unit_ranges columns_like(const vector_state& model, std::size_t columns);
/// How many devices have elements of a vector.
std::size_t devices_with_elements(const vector_state&);
/// "20, 20 and 24"
std::string words_of(const unit_ranges&);

/// A vector on the devices of another one, each of which has its units of `size` elements.
std::shared_ptr<vector_state> made_of_units(const vector_state& model, const unit_ranges&, std::size_t size,
                                            trace::type);

/// Elements of an array of rows and columns that some devices have of it, in row-major order: one vector for
/// each device, null where it has none.
using device_blocks = std::vector<std::shared_ptr<vector_state>>;

/// The columns of each device, all rows of them. `rows` has whole rows, each of `columns` elements, on each
/// device. What a device has already is packed by a kernel; what it has not is copied from the devices that do.
device_blocks exchanged_for_columns(const vector_state& rows, std::size_t columns, const unit_ranges& wanted);
/// The other way, into a vector in any partition.
void exchange_for_rows(const device_blocks& blocks, const unit_ranges& columns_of_blocks, vector_state& into);

/// Assigns values to places of a whole vector: those places that are in this part of it, which begins at `first`.
void assign_in_part(vector_state& part, std::size_t first, const affine_map& places, tape&& values);
/// The elements of a vector at these places.
tape elements_at(const std::shared_ptr<vector_state>&, const affine_map& places);
/// Rows and columns that are so far apart.
affine_map grid_of(std::size_t rows, std::size_t columns, std::size_t row_stride, std::size_t column_stride,
                   std::size_t offset);

}  // namespace balm::array

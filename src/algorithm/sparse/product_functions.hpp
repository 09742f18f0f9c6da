#pragma once
// Device functions that compute a row of a product: what expressions call for each row. Each is traced once.

#include <cstddef>
#include <memory>

#include "balm/device_type.hpp"
#include "ir/ir.hpp"

namespace balm::array {

using function_pointer = std::shared_ptr<const ir::function>;

/// row_of_diagonals(row, values, x, stride, columns, offset0 …). With branches, absent entries are skipped,
/// as suits CPUs; else x is loaded at a position inside it, and no load waits for another.
function_pointer diagonals_function(trace::type value, std::size_t count, bool has_branches);
/// row_of_slices(row, values, column_indices, x), for rows of so many entries.
function_pointer slices_function(trace::type value, scalar index, std::size_t width);
/// row_of_slices(row, starts, values, column_indices, x), for rows of any length.
function_pointer slices_function(trace::type value, scalar index);
/// row_of_csr(row, starts, values, column_indices, x), for rows that mostly have many entries, or few.
function_pointer rows_function(trace::type value, scalar index, bool are_long);

/// cut_row(first tile, last tile, tails, heads): the sum of a row's parts.
function_pointer cut_function(trace::type value);

}  // namespace balm::array

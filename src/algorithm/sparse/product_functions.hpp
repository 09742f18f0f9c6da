#pragma once
// Device functions that compute an element of a product, which expressions call for each element. Each is
// traced once. The first argument is the element: a row, or a row times the number of groups plus the group
// of columns (operand_form). The number of groups is the last argument, unless the function is specialised
// for it.

#include <cstddef>
#include <memory>

#include "algorithm/sparse/operand_form.hpp"
#include "balm/device_type.hpp"
#include "ir/ir.hpp"

namespace balm::array {

using function_pointer = std::shared_ptr<const ir::function>;

/// row_of_diagonals(element, values, x, stride, columns, offset0 …). With branches, which suit CPUs, absent
/// entries are skipped; otherwise x is loaded at a position inside it, and no load waits for another.
function_pointer diagonals_function(trace::type value, std::size_t count, bool has_branches,
                                    const operand_form&);
/// column_of_diagonals(element, values, x, stride, rows, offset0 …): for the transpose.
function_pointer transposed_diagonals_function(trace::type value, std::size_t count, const operand_form&);
/// row_of_slices(element, values, column_indices, x), for rows of `width` entries.
function_pointer slices_function(trace::type value, scalar index, std::size_t width, const operand_form&);
/// row_of_slices(element, starts, values, column_indices, x), for rows of any length.
function_pointer slices_function(trace::type value, scalar index, const operand_form&);
/// row_of_csr(element, starts, values, column_indices, x), for rows that mostly have many entries, or few.
function_pointer rows_function(trace::type value, scalar index, bool are_long, const operand_form&);

/// cut_row(element, cuts, count, tails, heads): the sum of a cut row's parts.
function_pointer cut_function(const operand_form&);
/// place_of_row(element, rows): where the result computed for the k-th of these rows belongs.
function_pointer place_function(const operand_form&);
/// element_of_row(element, rows, x): the operand's elements in the k-th of these rows.
function_pointer gather_function(const operand_form&);

}  // namespace balm::array

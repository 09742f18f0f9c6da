#pragma once
// Device functions for matrices stored as dense blocks: see product_functions.hpp.

#include <cstddef>

#include "algorithm/sparse/product_functions.hpp"

namespace balm::array {

/// Rows and columns of a matrix's dense blocks; 1 x 1: single entries.
struct block_shape {
    std::size_t rows = 1, columns = 1;

    std::size_t entries() const { return rows * columns; }
    bool is_one_entry() const { return entries() == 1; }
    friend bool operator==(const block_shape&, const block_shape&) = default;
};

/// row_of_block_slices(element, starts, values, column_indices, x): slices of 32 rows of blocks, in which the
/// entries of neighbouring rows are neighbours.
function_pointer block_slices_function(trace::type value, scalar index, const block_shape&,
                                       const operand_form&);
/// row_of_blocks(element, starts, values, column_indices, x): rows of blocks, each with its entries row by
/// row.
function_pointer block_rows_function(trace::type value, scalar index, const block_shape&,
                                     const operand_form&);
/// row_of_pieces(element, starts, places, sums): adds up the pieces of a row of blocks.
function_pointer pieces_function(const block_shape&, const operand_form&);

}  // namespace balm::array

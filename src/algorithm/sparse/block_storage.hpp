#pragma once
// Matrices of dense blocks in a device's memory: a column index for each block, of columns of blocks. On GPUs
// 32 rows of blocks are a slice, padded to the longest, in which a column of entries of all its rows is
// consecutive; on CPUs a row of blocks has its entries row by row.

#include <cstdint>
#include <memory>
#include <span>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// The largest blocks, square and of up to 8 x 8, that a matrix in CSR wholly consists of: full, aligned, and
/// in the same order in each of their rows; else single entries.
block_shape blocks_of(std::size_t rows, std::size_t columns, std::span<const std::int64_t> pointers,
                      const void* column_indices, scalar index);

/// Makes the arrays of to.how, which is storage::slices, ::rows or ::balanced; to.block, types and sizes are
/// set. `pointers` count the blocks of each row of blocks. Balanced storage is made of slices or rows.
void store_blocks(stored_matrix& to, const host_rows&, std::span<const std::int64_t> pointers, bool as_slices,
                  const std::shared_ptr<runtime::device_state>&);

}  // namespace balm::array

#pragma once
// Matrices of dense blocks in device memory, with one column index per block, counted in columns of blocks.
// On GPUs 32 rows of blocks form a slice, padded to the longest; in it, a column of entries of all rows is
// contiguous. On CPUs a row of blocks has its entries row by row.

#include <cstdint>
#include <memory>
#include <span>

#include "algorithm/sparse/stored_matrix.hpp"

namespace balm::array {

/// The largest square blocks, up to 8 x 8, that a matrix in CSR consists of entirely: full, aligned, and in
/// the same order in each of their rows. Otherwise single entries.
block_shape blocks_of(std::size_t rows, std::size_t columns, std::span<const std::int64_t> pointers,
                      const void* column_indices, scalar index);

/// Makes the arrays of to.how, which is storage::slices, ::rows or ::balanced; to.block, types and sizes must
/// be set. `pointers` count the blocks of each row of blocks. Balanced storage consists of slices or rows.
void store_blocks(stored_matrix& to, const host_rows&, std::span<const std::int64_t> pointers, bool as_slices,
                  const std::shared_ptr<runtime::device_state>&);

}  // namespace balm::array

#pragma once
// The kernels of balanced storage. All tiles have the same number of entries. A tile stores the rows that
// begin and end in it. Of the others it leaves two parts: its head, the sum of its entries before the first
// row that begins there, and its tail, the sum so far of the last such row. Rows in several tiles add up
// their parts afterwards: the tail of the tile where they begin, and the heads of those that follow. Every
// sum has a fixed order, so results are the same in each run.
//
// On GPUs a group computes a tile: each work-item adds up contiguous entries, flags say where rows begin (Liu
// & Vinter, CSR5, 2015), and a segmented scan combines the work-items' sums. On CPUs a work-item computes a
// tile. Several columns of an operand are computed in turn, with the entries in registers or caches.

#include <memory>

#include "algorithm/sparse/operand_form.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "array/kernel_cache.hpp"

namespace balm::array {

/// into = matrix * x, for balanced storage of single entries. `into` shares no elements with x; both have the
/// form's element type.
void multiply_balanced(const stored_matrix&, const std::shared_ptr<vector_state>& x, vector_state& into,
                       const operand_form&);

}  // namespace balm::array

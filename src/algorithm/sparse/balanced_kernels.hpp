#pragma once
// The kernels of balanced storage. A tile has as many entries as any other; rows that begin and end in one
// are stored by it. Of the others it leaves two parts: its head, the sum of its entries ahead of the first
// row that begins there, and its tail, the sum of the last such row so far. Rows in several tiles add up
// their parts afterwards: the tail of the tile where they begin, and the heads of those that follow. Every
// sum has one order, so that results are the same in each run.
//
// On GPUs a group computes a tile: each work-item adds up neighbouring entries, flags say where rows begin
// (Liu & Vinter, CSR5, 2015), and a segmented scan joins the work-items' sums. On CPUs a work-item computes
// one. Several columns of an operand are computed in turn, with the entries in registers or caches.

#include <memory>

#include "algorithm/sparse/operand_form.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "array/kernel_cache.hpp"

namespace balm::array {

/// into = matrix * x, for balanced storage of single entries. `into` has its elements apart from those of x;
/// both are of the form's elements.
void multiply_balanced(const stored_matrix&, const std::shared_ptr<vector_state>& x, vector_state& into,
                       const operand_form&);

}  // namespace balm::array

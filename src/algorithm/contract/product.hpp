#pragma once
// Batches of matrix products as leaves of expressions: out[batch, row, column] is the sum over `inner` of
// a[batch, row, inner] * b[batch, column, inner], where each of the four is the axes of some letters.

#include <cstddef>
#include <memory>
#include <string>

#include "algorithm/contract/labelled.hpp"

namespace balm::array {

struct product_letters {
    std::string batch, rows, columns, inner;
    std::string output;  ///< the axes of the result, in its order
};
/// How many there are of each.
struct product_extents {
    std::size_t batch = 1, rows = 1, columns = 1, inner = 1;
};

/// Whether the product is better computed as sums along dimensions of an elementwise product.
bool is_reduction(const product_extents&, const vector_state& near);

/// Whether kernels store a result in this order: rows, and columns, are contiguous, and columns are
/// neighbours.
bool is_stored_in_order(const product_letters&, const letter_extents&);
/// The product on the device of `near`. Its letters are in an order in which kernels store.
tape batched_product(labelled a, labelled b, const product_letters&, const letter_extents&, scalar element,
                     std::shared_ptr<vector_state> near);

}  // namespace balm::array

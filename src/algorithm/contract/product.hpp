#pragma once
// Batches of matrix products as materialised operands: out[batch, row, column] is the sum over `inner` of
// a[batch, row, inner] * b[batch, column, inner]. Each of the four indices is a group of axes, named by
// letters.

#include <cstddef>
#include <memory>
#include <string>

#include "algorithm/contract/labelled.hpp"

namespace balm::array {

struct product_letters {
    std::string batch, rows, columns, inner;
    std::string output;  ///< the axes of the result, in its order
};
/// The number of elements along each of these groups of axes.
struct product_extents {
    std::size_t batch = 1, rows = 1, columns = 1, inner = 1;
};

/// Whether the product is faster as sums along dimensions of an elementwise product.
bool is_reduction(const product_extents&, const vector_state& near);

/// Whether kernels can store a result in this order: rows and columns are each contiguous, and columns have
/// stride 1.
bool is_stored_in_order(const product_letters&, const letter_extents&);
/// The stride between rows of the result.
std::size_t result_row_stride(const product_letters&, const letter_extents&);
/// The product on the device of `near`, by the vendor's library or by Balm's kernels, which multiply scalars.
/// Requires is_stored_in_order(letters, extents).
tape batched_product(labelled a, labelled b, const product_letters&, const letter_extents&,
                     trace::type element, bool by_library, std::shared_ptr<vector_state> near);

}  // namespace balm::array

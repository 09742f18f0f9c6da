#pragma once
// A batch of matrix products on one device.

#include "algorithm/contract/product.hpp"

namespace balm::array {

/// Writes the products of two operands, neither of them empty, whose elements are computed or in vectors on
/// the device of `into`, whose elements all have the type of the operands'.
void multiply(const labelled& a, const labelled& b, const product_letters&, const letter_extents&,
              const product_extents&, bool by_library, vector_state& into);

}  // namespace balm::array

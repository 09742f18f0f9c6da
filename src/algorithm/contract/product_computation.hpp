#pragma once
// A batch of matrix products on one device.

#include "algorithm/contract/product.hpp"

namespace balm::array {

/// Writes the products of operands whose elements are computed or of vectors on the device of `into`, of
/// which none is empty.
void multiply(const labelled& a, const labelled& b, const product_letters&, const letter_extents&,
              const product_extents&, scalar element, vector_state& into);

}  // namespace balm::array

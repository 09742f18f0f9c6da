#pragma once
// What multiplies: the vendor's library, if it is requested and takes the product, else Balm's kernels.
// Decided when the expression is written, so that it can be described.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "algorithm/contract/product.hpp"
#include "array/vector_state.hpp"
#include "balm/contract.hpp"

namespace balm::array {

/// The library's name for these elements; nullopt if libraries do not multiply them.
std::optional<runtime::product_element> product_element_of(trace::type);

/// Why the vendor's library does not multiply; empty if it does. `near` is on the devices of the result.
std::string fault_for_library(const product_letters&, const letter_extents&, const product_extents&,
                              trace::type element, const vector_state& near);

/// A line that describes a product: `method` multiplies; `fault` says why the library does not, and is empty
/// if it does or was not requested.
std::string product_words(const product_extents&, trace::type element, std::string_view method,
                          std::string_view fault);
/// "cuBLAS 13.0 (libcublas.so.13)"
std::string_view library_words(const vector_state& near);
/// "Balm's tiles of 64 x 64"
std::string own_kernel_words(const product_extents&, scalar element, const vector_state& near);

}  // namespace balm::array

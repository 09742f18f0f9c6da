#pragma once
// Matrices from elements on devices: triplets into CSR, and rows into one matrix.

#include <cstddef>
#include <memory>
#include <span>

#include "algorithm/sparse/device_entries.hpp"

namespace balm::array {

/// The entries, sorted and added up on the first device. Throws usage_error for the first entry outside the
/// matrix, and for sizes beyond the index type.
device_csr assembled_entries(const device_triplets&, trace::type value, scalar index);

/// Rows of a matrix on one device, without the columns before and after all of their entries.
struct csr_part {
    device_csr matrix;
    std::size_t first_column = 0;
};
/// The matrix of the parts' rows, in order, on the device of the first part.
device_csr joined(std::span<const csr_part>, std::size_t columns);

}  // namespace balm::array

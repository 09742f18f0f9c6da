#pragma once
// Matrices from what is on devices: triplets into CSR, and rows into one matrix.

#include <cstddef>
#include <memory>
#include <span>

#include "algorithm/sparse/device_entries.hpp"

namespace balm::array {

/// The entries, sorted and added up on the first device. Throws usage_error for the first entry that is not
/// in the matrix, and for sizes beyond the index type.
device_csr assembled_entries(const device_triplets&, trace::type value, scalar index);

/// Rows of a matrix on one device, without the columns ahead of all their entries, or beyond.
struct csr_part {
    device_csr matrix;
    std::size_t first_column = 0;
};
/// A matrix of the rows of parts, in order, on the first one's device.
device_csr joined(std::span<const csr_part>, std::size_t columns);

}  // namespace balm::array

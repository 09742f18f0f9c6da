#pragma once
// Entries in host memory, as users give them. In: arrays of integers of any type. Out: indices of the
// matrix's type that have been checked, and triplets sorted into CSR.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balm/sparse_matrix.hpp"

namespace balm::array {

/// Throws usage_error unless the sizes fit each other and the index type.
void check_sizes(const host_csr&, scalar index);
/// The latter alone.
void check_fits_index(const host_csr&, scalar index);
/// Throws usage_error unless the pointers begin at 0, do not decrease, and end at the number of entries.
std::vector<std::int64_t> checked_pointers(const host_csr&);
/// The column indices in the matrix's type: the user's own memory where it has that type, else `copy`. Throws
/// usage_error for a column that the matrix does not have.
template <class I>
const I* checked_columns(const host_csr&, const std::vector<std::int64_t>& pointers, std::vector<I>& copy);

/// A matrix in CSR: entries of a row are in the order of the triplets.
template <class I>
struct sorted_triplets {
    std::vector<std::int64_t> row_pointers;
    std::vector<I> column_indices;
    std::vector<std::byte> values;
};
/// Throws usage_error unless the sizes fit each other and the index type, and for a row or a column that the
/// matrix does not have.
template <class I>
sorted_triplets<I> sorted_by_row(const host_triplets&, std::size_t value_bytes);

}  // namespace balm::array

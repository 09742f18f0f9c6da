#pragma once
// Entries in host memory, as the user passes them. In: arrays of integers of any type. Out: checked indices
// of the matrix's type, and triplets sorted into CSR.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balm/sparse_matrix.hpp"

namespace balm::array {

/// Throws usage_error if the index type cannot count this many.
void check_fit(std::size_t rows, std::size_t columns, std::size_t entries, scalar index);
/// Throws usage_error unless there are as many row and column indices as values.
void check_triplet_counts(std::size_t rows, std::size_t columns, std::size_t values);
/// Throw usage_error for an entry in a row, or a column, outside the matrix.
[[noreturn]] void refuse_row(std::int64_t entry, std::int64_t row, std::size_t rows);
[[noreturn]] void refuse_column(std::int64_t entry, std::int64_t row, std::int64_t column,
                                std::size_t columns);

/// Throws usage_error unless the sizes match each other and fit the index type.
void check_sizes(const host_csr&, scalar index);
/// Throws usage_error unless the pointers begin at 0, do not decrease, and end at the number of entries.
std::vector<std::int64_t> checked_pointers(const host_csr&);
/// The column indices in the matrix's type: the user's memory if it has that type, otherwise `copy`. Throws
/// usage_error for a column outside the matrix.
template <class I>
const I* checked_columns(const host_csr&, const std::vector<std::int64_t>& pointers, std::vector<I>& copy);

/// A matrix in CSR; the entries of a row are in the order of the triplets.
template <class I>
struct sorted_triplets {
    std::vector<std::int64_t> row_pointers;
    std::vector<I> column_indices;
    std::vector<std::byte> values;
};
/// Throws usage_error unless the sizes match each other and fit the index type, and for a row or a column
/// outside the matrix.
template <class I>
sorted_triplets<I> sorted_by_row(const host_triplets&, std::size_t value_bytes);

}  // namespace balm::array

#pragma once
// Sparse matrices in Matrix Market files (Boisvert, Pozo & Remington, The Matrix Market Exchange Formats,
// NISTIR 5935, 1996).

#include <cstdint>
#include <memory>
#include <string>

#include "balm/sparse_matrix.hpp"

namespace balm {

namespace array {

std::shared_ptr<const sparse_state> read_matrix_market(const context&, const std::string& path,
                                                       trace::type value, scalar index, storage);
void write_matrix_market(const std::string& path, const sparse_state*, trace::type value, scalar index);

}  // namespace array

/// The matrix of a Matrix Market file in coordinate format. Fields are real, integer, complex and pattern,
/// whose entries are 1; matrices are general, symmetric, skew-symmetric or Hermitian, of which files hold the
/// lower triangle: both triangles are stored. Entries of the same place add up. Numbers are read in T,
/// whatever the locale: too small ones become 0, infinities and NaN stay.
///
/// The file is read as a whole: host memory holds it and about 60 bytes an entry. Throws
/// usage_error, which names the file and the line: where it cannot be read or is damaged; for a dense matrix
/// (array); for fields that T does not hold (complex into real, real into integers), and numbers beyond T's
/// range. Throws what the constructor of sparse_matrix throws.
///
///     auto A = balm::read_matrix_market<double>(ctx, "bcsstk01.mtx");
template <class T, class Index = std::int32_t>
sparse_matrix<T, Index> read_matrix_market(const context& where, const std::string& path,
                                           storage how = storage::automatic) {
    return sparse_matrix<T, Index>(
        array::read_matrix_market(where, path, detail::array_type<T>(), scalar_of<Index>, how));
}

/// Writes the entries of to_csr(matrix) as a Matrix Market file, general, in place of one that is there. The
/// field is real, integer or complex; numbers have as many digits as tell them apart from others of their
/// type. Throws usage_error for no matrix, and where the file cannot be written, which leaves part of it.
///
///     balm::write_matrix_market("product.mtx", A);
template <class T, class Index>
void write_matrix_market(const std::string& path, const sparse_matrix<T, Index>& matrix) {
    array::write_matrix_market(path, matrix.state().get(), detail::array_type<T>(), scalar_of<Index>);
}

}  // namespace balm

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

/// Reads a Matrix Market file in coordinate format. Fields may be real, integer, complex, or pattern, whose
/// entries are 1. Matrices may be general, symmetric, skew-symmetric or Hermitian; files hold the lower
/// triangle of the latter three, and both triangles are stored. Duplicate entries are added up. Numbers are
/// parsed as T, whatever the locale: underflow becomes 0, infinities and NaN are kept.
///
/// The whole file is in host memory while it is read, with about 60 bytes per entry. Throws usage_error,
/// which names the file and the line, if the file cannot be read or is malformed, for a dense matrix (array),
/// for fields that T cannot hold (complex into real, real into integers), and for numbers out of the range of
/// T. Throws what the constructor of sparse_matrix throws.
///
///     auto A = balm::read_matrix_market<double>(ctx, "bcsstk01.mtx");
template <class T, class Index = std::int32_t>
sparse_matrix<T, Index> read_matrix_market(const context& where, const std::string& path,
                                           storage how = storage::automatic) {
    return sparse_matrix<T, Index>(
        array::read_matrix_market(where, path, detail::array_type<T>(), scalar_of<Index>, how));
}

/// Writes the entries of to_csr(matrix) as a general Matrix Market file, and replaces an existing file. The
/// field is real, integer or complex; numbers have enough digits to distinguish them from others of their
/// type. Throws usage_error if there is no matrix, or if the file cannot be written; part of it may remain.
///
///     balm::write_matrix_market("product.mtx", A);
template <class T, class Index>
void write_matrix_market(const std::string& path, const sparse_matrix<T, Index>& matrix) {
    array::write_matrix_market(path, matrix.state().get(), detail::array_type<T>(), scalar_of<Index>);
}

}  // namespace balm

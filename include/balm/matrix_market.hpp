#pragma once
// Sparse matrices in Matrix Market files (Boisvert, Pozo & Remington, The Matrix Market Exchange Formats,
// NISTIR 5935, 1996).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "balm/sparse_matrix.hpp"

namespace balm {

namespace array {

std::shared_ptr<const sparse_state> read_matrix_market(const context&, const std::string& path,
                                                       trace::type value, scalar index, storage);
void write_matrix_market(const std::string& path, const sparse_state*, trace::type value, scalar index);
/// The elements of a dense file in row-major order.
struct market_elements {
    std::size_t rows = 0, columns = 0;
    std::shared_ptr<vector_state> values;
};
market_elements read_matrix_market_array(const context&, const std::string& path, trace::type value);

}  // namespace array

/// Reads a Matrix Market file in coordinate format, as SciPy's mmread does. Fields may be real or double,
/// integer, unsigned-integer, complex, or pattern, whose entries are 1. Matrices may be general, symmetric,
/// skew-symmetric or Hermitian; of the latter three, both triangles are stored: each entry off the diagonal
/// is followed by its mirror image, whichever triangle holds it. Duplicate entries are added up. Numbers are
/// parsed as T, whatever the locale: Fortran's exponents (1.5D+02) are allowed, underflow becomes 0,
/// infinities and NaN are kept. The path may be a pipe.
///
/// The whole file is in host memory while it is read, with about 60 bytes per entry. Throws usage_error,
/// which names the file and the line, if the file cannot be read or is malformed, for a dense matrix (array:
/// see read_matrix_market_array), for fields that T cannot hold (complex into real, real into integers), for
/// numbers out of the range of T, and for a file that has more than 2^24 rows and more than 64 rows for
/// each of its entries. Throws what the constructor of sparse_matrix throws.
///
///     auto A = balm::read_matrix_market<double>(ctx, "bcsstk01.mtx");
template <class T, class Index = std::int32_t>
sparse_matrix<T, Index> read_matrix_market(const context& where, const std::string& path,
                                           storage how = storage::automatic) {
    return sparse_matrix<T, Index>(
        array::read_matrix_market(where, path, detail::array_type<T>(), scalar_of<Index>, how));
}

/// A dense matrix: see read_matrix_market_array.
template <class T>
struct matrix_market_array {
    std::size_t rows = 0, columns = 0;
    vector<T> values;  ///< row-major
};
/// Reads a dense Matrix Market file (array), whose elements are in columns, into a vector in row-major order.
/// Fields, symmetries, numbers and errors are those of read_matrix_market; symmetric files hold the lower
/// triangle, skew-symmetric ones that below the diagonal. A coordinate file throws usage_error.
///
///     auto B = balm::read_matrix_market_array<double>(ctx, "bcsstk01_b.mtx");
///     y = A * balm::view(B.values, {B.rows, B.columns});  // a right-hand side per column
template <class T>
matrix_market_array<T> read_matrix_market_array(const context& where, const std::string& path) {
    static_assert(
        detail::is_matrix_entry<T>(),
        "Balm: the elements of a Matrix Market file must be float, double, integers of 32 or 64 bits, or "
        "std::complex of float or double");
    array::market_elements read = array::read_matrix_market_array(where, path, detail::array_type<T>());
    return {read.rows, read.columns, vector<T>(std::move(read.values))};
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

#pragma once
// Sparse matrices: products with vectors are operands of expressions like any other.
//
//     balm::sparse_matrix<double> A(ctx, rows, columns, row_pointers, column_indices, values);  // CSR
//     r = f - A * u;
//     double energy = balm::sum(u * (A * u));

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/array_elements.hpp"
#include "balm/context.hpp"
#include "balm/reduce.hpp"
#include "balm/vector.hpp"

namespace balm {

/// How a sparse matrix is stored in device memory. For matrices of dense blocks (sparse_matrix::from_blocks),
/// entries and rows below mean blocks and rows of blocks.
enum class storage : std::uint8_t {
    automatic,  ///< chosen for the matrix and the device
    diagonals,  ///< DIA: diagonals of values, without column indices; 64 diagonals at most
    slices,     ///< ELL: rows in slices of 32, each padded to its longest row; neighbouring rows interleave
    rows,       ///< CSR: a work-item computes a row
    balanced    ///< CSR in tiles of equal numbers of entries, whatever the lengths of rows
};

namespace array {

class sparse_state;

/// Host integers of any type.
struct host_integers {
    const void* first = nullptr;
    std::size_t count = 0;
    scalar type = scalar::i32;
};
/// A matrix in CSR in host memory, or the transpose of one in CSC: then messages say columns for rows.
struct host_csr {
    std::size_t rows = 0, columns = 0;
    host_integers row_pointers, column_indices;
    const void* values = nullptr;
    std::size_t value_count = 0;
    bool is_csc = false;
};
/// Entries in host memory, in any order, each with its row and column.
struct host_triplets {
    std::size_t rows = 0, columns = 0;
    host_integers row_indices, column_indices;
    const void* values = nullptr;
    std::size_t value_count = 0;
};

/// Dense blocks in CSR in host memory; rows and columns count blocks.
struct host_blocks {
    std::size_t rows = 0, columns = 0;
    shape block;
    host_integers row_pointers, column_indices;
    const void* values = nullptr;
    std::size_t value_count = 0;
};

std::shared_ptr<const sparse_state> make_sparse(const context&, const host_csr&, trace::type value,
                                                scalar index, storage);
std::shared_ptr<const sparse_state> make_sparse(const context&, const host_blocks&, trace::type value,
                                                scalar index, storage);
std::shared_ptr<const sparse_state> make_sparse(const context&, const host_triplets&, trace::type value,
                                                scalar index, storage);
/// Expressions of entries in any order, each with its row and column. `near` is a vector on the devices that
/// hold them.
struct device_triplets {
    std::size_t rows = 0, columns = 0;
    tape row_indices, column_indices, values;
    std::shared_ptr<const vector_state> near;
};
/// Throws usage_error if the expressions have different sizes or devices, or contain no vectors.
device_triplets triplets_of(std::size_t rows, std::size_t columns, tape row_indices, tape column_indices,
                            tape values, trace::type value);
std::shared_ptr<const sparse_state> assembled(const device_triplets&, trace::type value, scalar index,
                                              storage);
/// The product of two matrices.
std::shared_ptr<const sparse_state> multiplied(const sparse_state*, const sparse_state*, storage);
/// The product of x with the matrix, or with its transpose, as an expression. Its elements and those of x
/// have this type, to which entries are converted. Throws usage_error for no matrix.
tape product(const std::shared_ptr<const sparse_state>&, tape&& x, trace::type, bool is_transposed);
/// The matrix times one number of its type, which `factor` points to.
std::shared_ptr<const sparse_state> scaled(const sparse_state*, const void* factor, storage);
/// Each row, or each column, times an element of a vector of the matrix's type.
std::shared_ptr<const sparse_state> scaled(const sparse_state*, tape&& factors, bool by_rows, storage);
/// a + b, or a - b.
std::shared_ptr<const sparse_state> added(const sparse_state* a, const sparse_state* b, bool is_difference,
                                          storage);
std::shared_ptr<const sparse_state> hadamard(const sparse_state*, const sparse_state*, storage);
/// Rows from `first` to `last` - 1.
std::shared_ptr<const sparse_state> some_rows(const sparse_state*, std::size_t first, std::size_t last,
                                              storage);
std::shared_ptr<vector_state> diagonal_of(const sparse_state*);

/// The transpose on the same devices. Throws usage_error for no matrix.
std::shared_ptr<const sparse_state> transposed(const sparse_state*, storage);
/// Host memory for a matrix in CSR, of the matrix's types.
struct csr_memory {
    void* row_pointers = nullptr;
    void* column_indices = nullptr;
    void* values = nullptr;
};
/// The number of entries that read_csr writes. Throws usage_error for no matrix.
std::size_t kept_entries_of(const sparse_state*);
void read_csr(const sparse_state&, const csr_memory&);

std::size_t rows_of(const sparse_state&);
std::size_t columns_of(const sparse_state&);
std::size_t entries_of(const sparse_state&);
std::size_t bytes_of(const sparse_state&);
storage how_stored(const sparse_state&);
shape block_of(const sparse_state&);
std::string describe(const sparse_state*);
std::string describe_transposed(const sparse_state*);

}  // namespace array

namespace detail {

template <class R>
using range_element = std::remove_cvref_t<decltype(*std::data(std::declval<const R&>()))>;
/// Host memory of integers of any type.
template <class R>
concept integer_range = !array_value<R> && requires(const R& r) {
    std::data(r);
    std::size(r);
}
&&std::integral<range_element<R>> && !std::same_as<range_element<R>, bool>;

template <integer_range R>
array::host_integers host_integers_of(const R& list) {
    return {std::data(list), std::size(list), scalar_of<range_element<R>>};
}

/// Whether a matrix can have entries of this type.
template <class T>
constexpr bool is_matrix_entry() {
    if constexpr (scalar_type<T>)
        return !std::same_as<T, bool> && sizeof(T) >= 4;
    else
        return complex_type<T>;
}

}  // namespace detail

/// A matrix in compressed sparse rows (CSR) in host memory: row r has the entries row_pointers[r] to
/// row_pointers[r + 1] - 1, each with a column, counted from 0, and a value.
template <class T, class Index = std::int32_t>
struct csr_matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<Index> row_pointers{0};
    std::vector<Index> column_indices;
    std::vector<T> values;

    friend bool operator==(const csr_matrix&, const csr_matrix&) = default;
};

/// A sparse matrix of `rows()` x `columns()` on the devices of a context. Over several devices, each has
/// contiguous rows. T is float, double, an integer type of 32 or 64 bits, std::complex<float> or
/// std::complex<double>. Index is the type of stored column indices: std::int32_t or std::int64_t.
///
/// A matrix is immutable, and a handle: copies are the same matrix. Its storage is chosen from its structure
/// (see storage, describe), in time proportional to the number of entries.
///
///     balm::sparse_matrix<double> A(ctx, n, n, row_pointers, column_indices, values);
///     y = A * x;
///     y += 2 * (A * (x * x)) - sin(z);
template <class T, class Index = std::int32_t>
class sparse_matrix {
    static_assert(detail::is_matrix_entry<T>(),
                  "Balm: the entries of a sparse matrix must be float, double, integers of 32 or 64 bits, or "
                  "std::complex of float or double");
    static_assert(std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>,
                  "Balm: the column indices of a sparse matrix must be std::int32_t or std::int64_t");

public:
    using value_type = T;
    using index_type = Index;

    /// No matrix: assign one to it.
    sparse_matrix() = default;
    /// Copies compressed sparse rows (CSR) from host memory: row r has the entries row_pointers[r] to
    /// row_pointers[r + 1] - 1, each with a column, counted from 0, and a value. Rows may be empty, and the
    /// columns of a row may be unordered; duplicate entries add up. Pointers and indices are integers of any
    /// type.
    ///
    /// Throws usage_error unless there are rows + 1 pointers that begin at 0, do not decrease and end at the
    /// number of entries, and as many column indices as values, each below `columns`. Throws usage_error if
    /// Index cannot represent the numbers, or if the requested storage does not suit the matrix. Throws
    /// out_of_memory_error.
    template <detail::integer_range P, detail::integer_range C, detail::contiguous_range<T> V>
    sparse_matrix(const context& where, std::size_t rows, std::size_t columns, const P& row_pointers,
                  const C& column_indices, const V& values, storage how = storage::automatic)
        : state_(
              array::make_sparse(where,
                                 array::host_csr{rows, columns, detail::host_integers_of(row_pointers),
                                                 detail::host_integers_of(column_indices),
                                                 static_cast<const T*>(std::data(values)), std::size(values)},
                                 detail::array_type<T>(), scalar_of<Index>, how)) {}

    explicit sparse_matrix(const context& where, const csr_matrix<T, Index>& from,
                           storage how = storage::automatic)
        : sparse_matrix(where, from.rows, from.columns, from.row_pointers, from.column_indices, from.values,
                        how) {}

    /// Copies compressed sparse columns (CSC) from host memory: column c has the entries column_pointers[c]
    /// to column_pointers[c + 1] - 1, each with a row, counted from 0, and a value. The device sorts them by
    /// row: columns ascend in each row. Otherwise like the constructor from CSR.
    ///
    ///     auto A = balm::sparse_matrix<double>::from_csc(ctx, rows, columns, column_pointers, row_indices,
    ///                                                    values);
    template <detail::integer_range P, detail::integer_range R, detail::contiguous_range<T> V>
    static sparse_matrix from_csc(const context& where, std::size_t rows, std::size_t columns,
                                  const P& column_pointers, const R& row_indices, const V& values,
                                  storage how = storage::automatic) {
        return sparse_matrix(array::make_sparse(
            where,
            array::host_csr{columns, rows, detail::host_integers_of(column_pointers),
                            detail::host_integers_of(row_indices), static_cast<const T*>(std::data(values)),
                            std::size(values), true},
            detail::array_type<T>(), scalar_of<Index>, how));
    }

    /// Copies triplets (COO) from host memory: entry k has the value values[k], in row row_indices[k] and
    /// column column_indices[k], both counted from 0. Entries may be in any order; duplicates add up. Indices
    /// are integers of any type. The host sorts entries by row, in time proportional to the numbers of
    /// entries and rows.
    ///
    ///     auto A = balm::sparse_matrix<double>::from_triplets(ctx, n, n, row_indices, column_indices,
    ///     values);
    ///
    /// Throws usage_error unless there are as many row indices, column indices and values, each index below
    /// `rows` or `columns`. Throws usage_error if Index cannot represent the numbers, or if the requested
    /// storage does not suit the matrix. Throws out_of_memory_error.
    template <detail::integer_range R, detail::integer_range C, detail::contiguous_range<T> V>
    static sparse_matrix from_triplets(const context& where, std::size_t rows, std::size_t columns,
                                       const R& row_indices, const C& column_indices, const V& values,
                                       storage how = storage::automatic) {
        return sparse_matrix(array::make_sparse(
            where,
            array::host_triplets{rows, columns, detail::host_integers_of(row_indices),
                                 detail::host_integers_of(column_indices),
                                 static_cast<const T*>(std::data(values)), std::size(values)},
            detail::array_type<T>(), scalar_of<Index>, how));
    }

    /// Assembles the matrix from triplets on devices: vectors or expressions of equal size, indices of any
    /// integer type. The device sorts entries and adds up duplicates; only the result of the index check and
    /// the counts that decide the storage are read back. The matrix is on the devices of the vectors. Of
    /// several devices, the first one sorts.
    ///
    ///     auto A = balm::sparse_matrix<double>::from_triplets(n, n, row_indices, column_indices, values);
    ///
    /// Columns ascend in each row, and nonzeros() counts distinct positions. The same device returns the same
    /// bits in every run. Throws usage_error if the numbers of elements differ, and for the first entry
    /// outside the matrix; otherwise as above.
    template <array_value R, array_value C, array_value V>
    static sparse_matrix from_triplets(std::size_t rows, std::size_t columns, R&& row_indices,
                                       C&& column_indices, V&& values, storage how = storage::automatic) {
        static_assert(kind_of(detail::array_scalar<R>()) == scalar_kind::integer &&
                          kind_of(detail::array_scalar<C>()) == scalar_kind::integer,
                      "Balm: row and column indices must be integers");
        static_assert(
            std::same_as<detail::element_of<V>, typename detail::array_element<T>::type>,
            "Balm: the values and the matrix have different types; convert the values with cast<T>(x)");
        return sparse_matrix(array::assembled(
            array::triplets_of(rows, columns, cast<std::int64_t>(static_cast<R&&>(row_indices)).tape(),
                               cast<std::int64_t>(static_cast<C&&>(column_indices)).tape(),
                               detail::begin<detail::array_scalar<V>()>(static_cast<V&&>(values)),
                               detail::array_type<T>()),
            detail::array_type<T>(), scalar_of<Index>, how));
    }

    /// Copies dense blocks of block[0] x block[1] entries, 1 to 16 each, from host memory (BSR). `rows` and
    /// `columns` count blocks, so the matrix has rows * block[0] rows. Row r of blocks has the blocks
    /// row_pointers[r] to row_pointers[r + 1] - 1, each with a column of blocks, counted from 0, and its
    /// values in row-major order, including zeros. A block has one column index: with blocks of 3 x 3 an
    /// entry of type double takes 8.4 bytes instead of 12. Diagonals store single entries.
    ///
    ///     auto A = balm::sparse_matrix<double>::from_blocks(ctx, n, n, {3, 3}, row_pointers, column_indices,
    ///                                                       values);
    ///
    /// Throws usage_error as the constructor from CSR does, for other block sizes, and unless there are
    /// block[0] * block[1] values for each column index. Needs temporary host memory of the size of the
    /// blocks.
    template <detail::integer_range P, detail::integer_range C, detail::contiguous_range<T> V>
    static sparse_matrix from_blocks(const context& where, std::size_t rows, std::size_t columns,
                                     const shape& block, const P& row_pointers, const C& column_indices,
                                     const V& values, storage how = storage::automatic) {
        return sparse_matrix(array::make_sparse(
            where,
            array::host_blocks{rows, columns, block, detail::host_integers_of(row_pointers),
                               detail::host_integers_of(column_indices),
                               static_cast<const T*>(std::data(values)), std::size(values)},
            detail::array_type<T>(), scalar_of<Index>, how));
    }

    std::size_t rows() const { return state_ ? array::rows_of(*state_) : 0; }
    std::size_t columns() const { return state_ ? array::columns_of(*state_) : 0; }
    /// The number of entries that the matrix was built from, including zeros.
    std::size_t nonzeros() const { return state_ ? array::entries_of(*state_) : 0; }
    /// Bytes of device memory, including those of the transpose once a product has built it (see transposed).
    std::size_t size_bytes() const { return state_ ? array::bytes_of(*state_) : 0; }
    /// The storage, never storage::automatic. Over several devices, that of the first device's part.
    storage stored_as() const { return state_ ? array::how_stored(*state_) : storage::rows; }
    /// Rows and columns of the dense blocks, specified or detected, that share a column index; 1 x 1 if each
    /// entry has its own, or none. Over several devices, those of the first device's part.
    shape block() const { return state_ ? array::block_of(*state_) : shape(1, 1); }

    explicit sparse_matrix(std::shared_ptr<const array::sparse_state> state) : state_(std::move(state)) {}
    const std::shared_ptr<const array::sparse_state>& state() const { return state_; }

private:
    std::shared_ptr<const array::sparse_state> state_;
};

/// The transpose of a matrix as a factor of products: see transposed.
template <class T, class Index = std::int32_t>
class transposed_matrix {
public:
    using value_type = T;
    using index_type = Index;

    explicit transposed_matrix(sparse_matrix<T, Index> of) : of_(std::move(of)) {}

    std::size_t rows() const { return of_.columns(); }
    std::size_t columns() const { return of_.rows(); }
    const sparse_matrix<T, Index>& original() const { return of_; }

private:
    sparse_matrix<T, Index> of_;
};

/// The transpose of a matrix as a factor of products; complex entries are not conjugated. Diagonals on one
/// device are read by columns and take no extra memory. Any other matrix builds its transpose in the first
/// product and keeps it for its lifetime; that takes as long as transpose and as much memory as the matrix.
/// Sums have a fixed order, without atomics, so results are the same in each run.
///
///     g = balm::transposed(A) * (A * x - b);
template <class T, class Index>
transposed_matrix<T, Index> transposed(const sparse_matrix<T, Index>& matrix) {
    return transposed_matrix<T, Index>(matrix);
}
template <class T, class Index>
const sparse_matrix<T, Index>& transposed(const transposed_matrix<T, Index>& matrix) {
    return matrix.original();
}

namespace detail {

template <class T>
struct part_of_number {
    using type = T;
};
template <complex_type T>
struct part_of_number<T> {
    using type = typename T::value_type;
};
template <>
struct part_of_number<half> {
    using type = float;
};
/// What the product of numbers of A and B is computed in, as in C++: double for float and double, complex if
/// either is.
template <class A, class B>
struct wider_number {
    using type = std::common_type_t<typename part_of_number<A>::type, typename part_of_number<B>::type>;
};
template <class A, class B>
requires(complex_type<A> || complex_type<B>) struct wider_number<A, B> {
    using type =
        complex_value<std::common_type_t<typename part_of_number<A>::type, typename part_of_number<B>::type>>;
};
/// An expression whose elements are converted to P without narrowing.
template <class P, class X>
auto as_numbers(X&& x) {
    using given = element_of<X>;
    if constexpr (std::same_as<given, P>)
        return static_cast<X&&>(x);
    else if constexpr (scalar_type<P>)
        return cast<P>(static_cast<X&&>(x));
    else if constexpr (complex_type<given>)
        return complex_cast<typename P::value_type>(static_cast<X&&>(x));
    else
        return compose<P>(cast<typename P::value_type>(static_cast<X&&>(x)), typename P::value_type(0));
}

template <class T, class X>
auto sparse_product(const std::shared_ptr<const array::sparse_state>& matrix, X&& x, bool is_transposed) {
    using given = element_of<X>;
    static_assert(scalar_type<given> || complex_type<given>,
                  "Balm: a sparse matrix can only be multiplied by numbers; use a vector for each lane or "
                  "member");
    using product = typename wider_number<typename array_element<T>::type, given>::type;
    if constexpr (!std::same_as<given, product>) {
        return sparse_product<T>(matrix, as_numbers<product>(static_cast<X&&>(x)), is_transposed);
    } else {
        return expr<product>(array::product(matrix, begin<array_scalar<X>()>(static_cast<X&&>(x)),
                                            type_of_element<product>(), is_transposed));
    }
}

}  // namespace detail

/// The product of a matrix and a vector, an expression of A.rows() elements. x is a vector of A.columns()
/// elements, or an expression, which is materialised first. Products are computed in the wider type of
/// entries and elements, as in C++: float entries and double elements in double, complex if either is
/// complex.
///
/// If x has the extents {A.columns(), k}, a row-major matrix, each of its columns is multiplied, and the
/// product has the extents {A.rows(), k}. The matrix is read once for all columns.
///
/// The product is fused into the kernel of the expression that it is part of; a work-item computes an
/// element. It is materialised before that kernel with storages that divide rows among work-items
/// (storage::balanced), on several devices, and for an even number of columns of float or double; assigned
/// alone, it is computed directly in the target. The order of additions depends on the storage, and is the
/// same in each run. Throws usage_error if x has another number of elements or rows, or is a vector on other
/// devices than the matrix.
///
///     r = f - A * u;
///     x = A * x;                        // correct: reads the old values
///     y = A * balm::view(z, {n, 4});    // four columns: y has 4 * A.rows() elements
template <class T, class Index, array_value X>
auto operator*(const sparse_matrix<T, Index>& matrix, X&& x) {
    return detail::sparse_product<T>(matrix.state(), static_cast<X&&>(x), false);
}
/// The same for the transpose.
template <class T, class Index, array_value X>
auto operator*(const transposed_matrix<T, Index>& matrix, X&& x) {
    return detail::sparse_product<T>(matrix.original().state(), static_cast<X&&>(x), true);
}

/// The product of two matrices, a matrix on the same devices, in automatic storage or in that of the last
/// argument. Columns of its rows ascend. An entry is stored if any product contributes to it, even if they
/// add up to zero. Sums follow the order of the first matrix's entries, or another fixed order: the same
/// device returns the same bits in every run. Of several devices, the first one multiplies. Takes time
/// proportional to the number of products of entries, and waits for the number of the result's entries.
///
/// Throws usage_error unless the second matrix has a row for each column of the first, both are on the same
/// devices, and Index can represent the number of the result's entries. Throws out_of_memory_error.
///
/// Source: row by row (F. G. Gustavson, Two fast algorithms for sparse matrices, 1978), with hash tables in
/// local memory for rows that fit (Y. Nagasaka, A. Nukada, S. Matsuoka, High-performance and memory-saving
/// sparse general matrix-matrix multiplication, 2017); the others are expanded, sorted and compressed.
///
///     balm::sparse_matrix<double> coarse = R * A * P;
///     auto AP = balm::multiply(A, P, balm::storage::rows);  // only to be multiplied again
template <class T, class Index>
sparse_matrix<T, Index> multiply(const sparse_matrix<T, Index>& a, const sparse_matrix<T, Index>& b,
                                 storage how = storage::automatic) {
    return sparse_matrix<T, Index>(array::multiplied(a.state().get(), b.state().get(), how));
}
template <class T, class Index>
sparse_matrix<T, Index> operator*(const sparse_matrix<T, Index>& a, const sparse_matrix<T, Index>& b) {
    return multiply(a, b);
}

/// The sums of the entries of rows, an expression of matrix.rows() elements: A times a vector of ones, in
/// every respect. Throws usage_error for no matrix.
///
///     degrees = balm::row_sums(A);
template <class T, class Index>
auto row_sums(const sparse_matrix<T, Index>& matrix) {
    return matrix * constant(T(1));
}
/// The sums of the entries of columns, an expression of matrix.columns() elements: transposed(A) times ones.
template <class T, class Index>
auto col_sums(const sparse_matrix<T, Index>& matrix) {
    return transposed(matrix) * constant(T(1));
}
/// The sum of all entries: sum(row_sums(matrix)).
template <class T, class Index>
auto sum(const sparse_matrix<T, Index>& matrix) {
    return balm::sum(row_sums(matrix));
}

/// The diagonal: min(rows, columns) elements, on the matrix's devices, 0 where no entry is stored. Duplicates
/// add up. Throws usage_error for no matrix.
///
///     balm::vector<double> d = balm::diagonal(A);
///     x += r / d;  // Jacobi
template <class T, class Index>
vector<T> diagonal(const sparse_matrix<T, Index>& matrix) {
    return vector<T>(array::diagonal_of(matrix.state().get()));
}

namespace detail {

/// A host number as an entry of type T.
template <class T, class S>
T entry_of(const S& number) {
    if constexpr (complex_type<T>) {
        using part = typename T::value_type;
        if constexpr (complex_type<S>)
            return T(static_cast<part>(number.real()), static_cast<part>(number.imag()));
        else
            return T(static_cast<part>(number), part(0));
    } else {
        static_assert(
            !complex_type<S>,
            "Balm: a matrix of real numbers cannot be scaled by a complex number; make the matrix of "
            "complex numbers");
        static_assert(std::floating_point<T> || std::integral<S>,
                      "Balm: the factor of a matrix of integers must be an integer");
        return static_cast<T>(number);
    }
}
template <class T, class Index, class D>
sparse_matrix<T, Index> scaled_by(const sparse_matrix<T, Index>& matrix, D&& d, bool by_rows, storage how) {
    using entry = typename array_element<T>::type;
    using given = element_of<D>;
    static_assert(scalar_type<given> || complex_type<given>, "Balm: the factors of a matrix must be numbers");
    static_assert(std::same_as<typename wider_number<entry, given>::type, entry>,
                  "Balm: the factors would narrow to the matrix's type; write cast<T>(d)");
    if constexpr (!std::same_as<given, entry>)
        return scaled_by(matrix, as_numbers<entry>(static_cast<D&&>(d)), by_rows, how);
    else
        return sparse_matrix<T, Index>(
            array::scaled(matrix.state().get(), begin<array_scalar<D>()>(static_cast<D&&>(d)), by_rows, how));
}

}  // namespace detail

/// The matrix times a number of the host, as a new matrix on the same devices, in automatic storage.
///
///     B = 0.5 * A;
template <class T, class Index, class S>
requires(scalar_type<S> || complex_type<S>) sparse_matrix<T, Index>
operator*(const sparse_matrix<T, Index>& matrix, const S& factor) {
    const T number = detail::entry_of<T>(factor);
    return sparse_matrix<T, Index>(array::scaled(matrix.state().get(), &number, storage::automatic));
}
template <class T, class Index, class S>
requires(scalar_type<S> || complex_type<S>) sparse_matrix<T, Index>
operator*(const S& factor, const sparse_matrix<T, Index>& matrix) { return matrix * factor; }
/// The matrix whose rows are those of `matrix`, each times an element of d: diag(d) * A. d is a vector or an
/// expression of matrix.rows() numbers, which convert to T without narrowing. A new matrix on the same
/// devices. Throws usage_error if d has another number of elements or is on other devices.
///
///     B = balm::scale_rows(A, 1 / balm::diagonal(A));
template <class T, class Index, array_value D>
sparse_matrix<T, Index> scale_rows(const sparse_matrix<T, Index>& matrix, D&& d,
                                   storage how = storage::automatic) {
    return detail::scaled_by(matrix, static_cast<D&&>(d), true, how);
}
/// The same for columns: A * diag(d), where d has matrix.columns() elements.
template <class T, class Index, array_value D>
sparse_matrix<T, Index> scale_columns(const sparse_matrix<T, Index>& matrix, D&& d,
                                      storage how = storage::automatic) {
    return detail::scaled_by(matrix, static_cast<D&&>(d), false, how);
}

/// The sum of two matrices of the same extents, as a new matrix on the same devices. Columns of its rows
/// ascend, and it has an entry where either matrix has one, even if they add up to zero. The device, of
/// several the first one, sorts the entries of both. Throws usage_error for different extents or devices, or
/// no matrix.
///
///     balm::sparse_matrix<double> shifted = A + 2.0 * M;
template <class T, class Index>
sparse_matrix<T, Index> operator+(const sparse_matrix<T, Index>& a, const sparse_matrix<T, Index>& b) {
    return sparse_matrix<T, Index>(array::added(a.state().get(), b.state().get(), false, storage::automatic));
}
template <class T, class Index>
sparse_matrix<T, Index> operator-(const sparse_matrix<T, Index>& a, const sparse_matrix<T, Index>& b) {
    return sparse_matrix<T, Index>(array::added(a.state().get(), b.state().get(), true, storage::automatic));
}
/// The elementwise product of two matrices of the same extents: an entry where both have one. Duplicates add
/// up first. Otherwise like their sum.
///
///     lower = balm::hadamard(A, mask);
template <class T, class Index>
sparse_matrix<T, Index> hadamard(const sparse_matrix<T, Index>& a, const sparse_matrix<T, Index>& b,
                                 storage how = storage::automatic) {
    return sparse_matrix<T, Index>(array::hadamard(a.state().get(), b.state().get(), how));
}

/// Rows `first` to `last` - 1 as a new matrix of last - first rows on the same devices; entries are those of
/// to_csr. Throws usage_error for rows that the matrix does not have, and for no matrix.
///
///     balm::sparse_matrix<double> upper = balm::rows(A, 0, A.rows() / 2);
template <class T, class Index>
sparse_matrix<T, Index> rows(const sparse_matrix<T, Index>& matrix, std::size_t first, std::size_t last,
                             storage how = storage::automatic) {
    return sparse_matrix<T, Index>(array::some_rows(matrix.state().get(), first, last, how));
}

/// The storage of a matrix, and the reason for it, in one sentence.
///
///     std::cout << balm::describe(A);
///     // DIA, 7 diagonals of 16,777,216 rows, 0.3 % padding: no column indices
template <class T, class Index>
std::string describe(const sparse_matrix<T, Index>& matrix) {
    return array::describe(matrix.state().get());
}
/// How products with a transpose are computed.
template <class T, class Index>
std::string describe(const transposed_matrix<T, Index>& matrix) {
    return array::describe_transposed(matrix.original().state().get());
}

/// Copies the matrix to host memory: rows in order, and the entries of a row in the order in which the matrix
/// received them. Diagonals (storage::diagonals) keep the sum of duplicates, and drop zeros of integers: then
/// columns ascend, and there may be fewer entries than nonzeros(). Needs temporary host memory of the size of
/// the result. Throws usage_error for no matrix.
///
///     balm::csr_matrix<double> host = balm::to_csr(A);
///     balm::sparse_matrix<double> copy(other_ctx, host);
template <class T, class Index>
csr_matrix<T, Index> to_csr(const sparse_matrix<T, Index>& matrix) {
    const std::size_t entries = array::kept_entries_of(matrix.state().get());
    csr_matrix<T, Index> made{matrix.rows(), matrix.columns(), std::vector<Index>(matrix.rows() + 1),
                              std::vector<Index>(entries), std::vector<T>(entries)};
    array::read_csr(*matrix.state(),
                    {made.row_pointers.data(), made.column_indices.data(), made.values.data()});
    return made;
}

/// The transpose as a new matrix on the same devices; complex entries are not conjugated. The device, of
/// several the first one, sorts the entries of to_csr by column. Columns of the result's rows ascend. Throws
/// usage_error for no matrix, and if the requested storage does not suit the transpose.
///
///     balm::sparse_matrix<double> At = balm::transpose(A);
///     g = At * (A * x - b);
template <class T, class Index>
sparse_matrix<T, Index> transpose(const sparse_matrix<T, Index>& matrix, storage how = storage::automatic) {
    return sparse_matrix<T, Index>(array::transposed(matrix.state().get(), how));
}

}  // namespace balm

#pragma once
// An AMGCL backend on Balm's vectors and sparse matrices. Include it together with AMGCL's solvers: no other
// header of Balm includes it, and the library does not depend on AMGCL.

#include <amgcl/backend/builtin.hpp>
#include <amgcl/solver/skyline_lu.hpp>
#include <amgcl/util.hpp>
#include <amgcl/value_type/interface.hpp>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/sparse_matrix.hpp"
#include "balm/statistics.hpp"
#include "balm/vector.hpp"

namespace amgcl::backend {

/// The base of Balm's backends, by which AMGCL's functions, such as rows(A) of a distributed matrix, are
/// found for what has such a backend as an argument.
struct of_balm {};

}  // namespace amgcl::backend

namespace balm {

namespace detail {

/// AMGCL's blocks: amgcl::static_matrix, whether its header is included or not.
template <class V>
concept amgcl_block = requires(const V& block) {
    block(0, 0);
    block.data();
};

/// The number type of values: of blocks that of their entries, else the value type itself.
template <class V>
struct amgcl_entry {
    using type = V;
};
template <amgcl_block V>
struct amgcl_entry<V> {
    using type = std::remove_cvref_t<decltype(std::declval<const V&>()(0, 0))>;
};
template <class V>
using amgcl_entry_of = typename amgcl_entry<V>::type;

template <class V>
inline constexpr std::size_t amgcl_rows = ::amgcl::math::static_rows<V>::value;
template <class V>
inline constexpr std::size_t amgcl_columns = ::amgcl::math::static_cols<V>::value;
/// Whether values are blocks of matrices, not of vectors.
template <class V>
inline constexpr bool is_amgcl_matrix_block = amgcl_columns<V> > 1;

/// The entries of `count` contiguous values.
template <class V>
auto amgcl_entries(V* first, std::size_t count) {
    if constexpr (amgcl_block<std::remove_const_t<V>>) {
        using entry = std::remove_pointer_t<decltype(first->data())>;
        constexpr std::size_t each =
            amgcl_rows<std::remove_const_t<V>> * amgcl_columns<std::remove_const_t<V>>;
        static_assert(sizeof(V) == each * sizeof(entry), "Balm: blocks must not have padding");
        return count ? std::span<entry>(first->data(), count * each) : std::span<entry>();
    } else {
        return std::span<V>(first, count);
    }
}
/// The entries of host memory: of a range with data() and size(), or with contiguous iterators.
template <class R>
auto amgcl_entries_of(R& host) {
    if constexpr (requires { host.data(); }) {
        return amgcl_entries(host.data(), host.size());
    } else {
        const auto count = static_cast<std::size_t>(std::distance(host.begin(), host.end()));
        return amgcl_entries(count ? &*host.begin() : nullptr, count);
    }
}

/// A vector or an expression, with its elements converted to T's precision if that differs.
template <class T, class A>
decltype(auto) amgcl_as(A&& a) {
    if constexpr (std::same_as<element_of<A>, typename array_element<T>::type>)
        return static_cast<A&&>(a);
    else if constexpr (complex_type<T>)
        return complex_cast<typename T::value_type>(static_cast<A&&>(a));
    else
        return cast<T>(static_cast<A&&>(a));
}

/// A solver's factor, in the precision of the elements that it multiplies.
template <class T, class N>
auto amgcl_factor(N number) {
    if constexpr (!complex_type<T>)
        return static_cast<T>(number);
    else if constexpr (complex_type<N>)
        return std::complex<typename T::value_type>(number);
    else
        return static_cast<typename T::value_type>(number);
}

/// The type in which elements of two expressions or vectors are combined.
template <class A, class B>
using amgcl_wider = typename wider_number<element_of<A>, element_of<B>>::type;

template <class T>
void amgcl_read(const vector<T>& from, std::span<T> to) {
    from.read(to);
}
template <class T, class U>
void amgcl_read(const vector<T>& from, std::span<U> to) {
    vector<U>(amgcl_as<U>(from)).read(to);
}
template <class T>
void amgcl_write(vector<T>& to, std::span<const T> from) {
    to.write(from);
}
template <class T, class U>
void amgcl_write(vector<T>& to, std::span<U> from) {
    const std::vector<T> converted(from.begin(), from.end());
    to.write(converted);
}

/// Converts positions of blocks to the positions of their entries.
inline std::vector<std::int64_t> amgcl_positions(const std::vector<std::ptrdiff_t>& of_blocks,
                                                 std::size_t rows) {
    std::vector<std::int64_t> list;
    list.reserve(of_blocks.size() * rows);
    for (const std::ptrdiff_t block : of_blocks)
        for (std::size_t k = 0; k < rows; ++k)
            list.push_back(block * static_cast<std::int64_t>(rows) + static_cast<std::int64_t>(k));
    return list;
}

}  // namespace detail

/// The argument of the constructors of AMGCL's solvers and preconditioners, besides their own parameters: the
/// devices of matrices and vectors. A context converts to it.
struct amgcl_parameters {
    /// The devices; by default the best one.
    balm::context context;

    amgcl_parameters() = default;
    amgcl_parameters(balm::context where)
        : context(std::move(where)) {}  // NOLINT(google-explicit-constructor)
#ifndef AMGCL_NO_BOOST
    /// Reads the address of a balm::context from `context` in a property tree: AMGCL's runtime interface
    /// passes addresses.
    ///
    ///     parameters.put("context", &ctx);
    explicit amgcl_parameters(const boost::property_tree::ptree& tree) {
        if (const auto* where = tree.get("context", static_cast<balm::context*>(nullptr))) context = *where;
        ::amgcl::check_params(tree, {"context"});
    }
    /// Puts the address of the context into a property tree.
    void get(boost::property_tree::ptree& tree, const std::string& path) const {
        tree.put(path + "context", &context);
    }
#endif
};

/// The solver of the coarsest level: AMGCL's sparse LU decomposition, on the host. Solving copies the
/// right-hand side to the host and the solution back; the call blocks.
template <class Value>
class amgcl_direct_solver {
    using host_solver = ::amgcl::solver::skyline_lu<Value>;
    using host_element = typename ::amgcl::math::rhs_of<Value>::type;

public:
    template <class HostMatrix>
    amgcl_direct_solver(const std::shared_ptr<HostMatrix>& matrix, const amgcl_parameters&)
        : solver_(*matrix), rows_(::amgcl::backend::rows(*matrix)) {}

    /// The number of rows up to which a level is the coarsest.
    static std::size_t coarse_enough() { return host_solver::coarse_enough(); }

    template <class F, class X>
    void operator()(const vector<F>& right_hand_side, vector<X>& solution) const {
        std::vector<host_element> f(rows_), x(rows_);
        detail::amgcl_read(right_hand_side, detail::amgcl_entries_of(f));
        solver_(f, x);
        detail::amgcl_write(solution, detail::amgcl_entries_of(std::as_const(x)));
    }
    /// Host memory of the decomposition in bytes, as far as AMGCL counts it.
    std::size_t bytes() const { return ::amgcl::backend::bytes(solver_); }

private:
    host_solver solver_;
    std::size_t rows_;
};

/// A backend of AMGCL. The hierarchy is built on the host, and solved with balm::vector and
/// balm::sparse_matrix on one or several devices. Each operation is one kernel; a residual reads the matrix
/// and both vectors once. Each matrix is stored in the format that suits it (see balm::storage).
///
/// Value is float, double, std::complex of these, or a square amgcl::static_matrix of them with up to 16
/// rows. A vector of blocks is a balm::vector<T> of their entries, block after block; a matrix of blocks has
/// one column index per block. Index is the type of column indices on the devices. Backends of different
/// precision combine, such as a float preconditioner in a double solver.
///
///     using backend = balm::amgcl_backend<double>;
///     using solver = amgcl::make_solver<
///         amgcl::amg<backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>,
///         amgcl::solver::cg<backend>>;
///     solver solve(std::tie(n, row_pointers, columns, values), solver::params(), ctx);
///     auto [iterations, error] = solve(f, x);  // balm::vector<double>
template <class Value, class Index = std::int32_t>
struct amgcl_backend : ::amgcl::backend::of_balm {
    /// The number type of the devices: Value, or that of the entries of its blocks.
    using entry = detail::amgcl_entry_of<Value>;
    static_assert(std::floating_point<entry> || complex_type<entry>,
                  "Balm: the value type of the AMGCL backend must be float, double, std::complex of these, "
                  "or a square amgcl::static_matrix of them");
    static constexpr std::size_t block_rows = detail::amgcl_rows<Value>;
    static_assert(block_rows == detail::amgcl_columns<Value> && block_rows <= 16,
                  "Balm: blocks of the AMGCL backend must be square, with at most 16 rows");

    using value_type = Value;
    using index_type = std::ptrdiff_t;
    using col_type = std::ptrdiff_t;  ///< of matrices on the host
    using ptr_type = std::ptrdiff_t;
    using rhs_type = typename ::amgcl::math::rhs_of<Value>::type;

    using matrix = sparse_matrix<entry, Index>;
    using vector = balm::vector<entry>;
    /// A vector of numbers, or a matrix with blocks on its diagonal.
    using matrix_diagonal = std::conditional_t<detail::is_amgcl_matrix_block<Value>, matrix, vector>;
    using direct_solver = amgcl_direct_solver<Value>;
    using params = amgcl_parameters;
    /// Rows are on devices: smoothers that iterate over rows sequentially, such as Gauss-Seidel, are refused.
    struct provides_row_iterator : std::false_type {};

    using host_matrix = ::amgcl::backend::crs<Value, std::ptrdiff_t, std::ptrdiff_t>;

    static std::string name() { return "balm"; }

    static std::shared_ptr<matrix> copy_matrix(const std::shared_ptr<host_matrix>& from, const params& how) {
        const std::size_t rows = ::amgcl::backend::rows(*from), columns = ::amgcl::backend::cols(*from);
        const std::size_t count = ::amgcl::backend::nonzeros(*from);
        const std::span<const std::ptrdiff_t> row_pointers(from->ptr, rows + 1),
            column_indices(from->col, count);
        const auto values = detail::amgcl_entries(static_cast<const Value*>(from->val), count);
        if constexpr (detail::amgcl_block<Value>)
            return std::make_shared<matrix>(matrix::from_blocks(
                how.context, rows, columns, {block_rows, block_rows}, row_pointers, column_indices, values));
        else
            return std::make_shared<matrix>(how.context, rows, columns, row_pointers, column_indices, values);
    }
    /// A vector of numbers or of the entries of column blocks; for square blocks, a matrix with them on its
    /// diagonal.
    template <class V>
    static auto copy_vector(const std::vector<V>& from, const params& how) {
        return copied(std::span<const V>(from), how);
    }
    template <class V>
    static auto copy_vector(const ::amgcl::backend::numa_vector<V>& from, const params& how) {
        return copied(std::span<const V>(from.data(), from.size()), how);
    }
    template <class V>
    static auto copy_vector(const std::shared_ptr<::amgcl::backend::numa_vector<V>>& from,
                            const params& how) {
        return copy_vector(*from, how);
    }
    /// `size` counts blocks. The elements are uninitialised.
    static std::shared_ptr<vector> create_vector(std::size_t size, const params& how) {
        return std::make_shared<vector>(how.context, size * block_rows);
    }
    static std::shared_ptr<direct_solver> create_solver(const std::shared_ptr<host_matrix>& coarsest,
                                                        const params& how) {
        return std::make_shared<direct_solver>(coarsest, how);
    }

    /// to = from[positions]; positions count blocks.
    class gather {
    public:
        gather(std::size_t, const std::vector<std::ptrdiff_t>& positions, const params& how)
            : positions_(how.context, detail::amgcl_positions(positions, block_rows)) {}
        template <class T>
        void operator()(const balm::vector<T>& from, balm::vector<T>& to) const {
            to = from[positions_];
        }
        template <class T, class Host>
        void operator()(const balm::vector<T>& from, std::vector<Host>& to) const {
            detail::amgcl_read(balm::vector<T>(from[positions_]), detail::amgcl_entries_of(to));
        }

    private:
        balm::vector<std::int64_t> positions_;
    };
    /// to[positions] = from; positions count blocks and are distinct.
    class scatter {
    public:
        scatter(std::size_t, const std::vector<std::ptrdiff_t>& positions, const params& how)
            : positions_(how.context, detail::amgcl_positions(positions, block_rows)) {}
        template <class T>
        void operator()(const balm::vector<T>& from, balm::vector<T>& to) const {
            to[positions_] = from;
        }

    private:
        balm::vector<std::int64_t> positions_;
    };

private:
    template <class V>
    static auto copied(std::span<const V> from, const params& how) {
        using number = detail::amgcl_entry_of<V>;
        const auto entries = detail::amgcl_entries(from.data(), from.size());
        if constexpr (detail::is_amgcl_matrix_block<V>) {
            constexpr std::size_t rows = detail::amgcl_rows<V>;
            std::vector<std::int64_t> counted(from.size() + 1);
            for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = static_cast<std::int64_t>(i);
            return std::make_shared<sparse_matrix<number, Index>>(sparse_matrix<number, Index>::from_blocks(
                how.context, from.size(), from.size(), {rows, rows}, counted,
                std::span<const std::int64_t>(counted).first(from.size()), entries));
        } else {
            return std::make_shared<balm::vector<number>>(how.context, entries);
        }
    }
};

}  // namespace balm

namespace amgcl::backend {

template <class A, class I, class B, class J>
struct backends_compatible<balm::amgcl_backend<A, I>, balm::amgcl_backend<B, J>> : std::true_type {};

namespace detail {

/// Of two backends, the one of numbers in the higher precision; AMGCL has one for equal backends of numbers.
template <class A, class B, class Enable>
struct common_scalar_backend;
template <class A, class I, class B, class J>
struct common_scalar_backend<
    balm::amgcl_backend<A, I>, balm::amgcl_backend<B, J>,
    std::enable_if_t<math::static_rows<A>::value != 1 || math::static_rows<B>::value != 1 ||
                     !std::is_same_v<balm::amgcl_backend<A, I>, balm::amgcl_backend<B, J>>>> {
    using a = balm::detail::amgcl_entry_of<A>;
    using b = balm::detail::amgcl_entry_of<B>;
    using type = std::conditional_t<(sizeof(typename math::scalar_of<a>::type) >
                                     sizeof(typename math::scalar_of<b>::type)),
                                    balm::amgcl_backend<a, I>, balm::amgcl_backend<b, J>>;
};

}  // namespace detail

// Rows, columns and entries are counted in numbers, as in vectors, even if a matrix consists of blocks.
template <class T, class I>
struct rows_impl<balm::sparse_matrix<T, I>> {
    static std::size_t get(const balm::sparse_matrix<T, I>& a) { return a.rows(); }
};
template <class T, class I>
struct cols_impl<balm::sparse_matrix<T, I>> {
    static std::size_t get(const balm::sparse_matrix<T, I>& a) { return a.columns(); }
};
template <class T, class I>
struct nonzeros_impl<balm::sparse_matrix<T, I>> {
    static std::size_t get(const balm::sparse_matrix<T, I>& a) { return a.nonzeros(); }
};
template <class T, class I>
struct bytes_impl<balm::sparse_matrix<T, I>> {
    static std::size_t get(const balm::sparse_matrix<T, I>& a) { return a.size_bytes(); }
};
template <class T>
struct bytes_impl<balm::vector<T>> {
    static std::size_t get(const balm::vector<T>& x) { return x.size_bytes(); }
};
template <class V>
struct bytes_impl<balm::amgcl_direct_solver<V>> {
    static std::size_t get(const balm::amgcl_direct_solver<V>& solver) { return solver.bytes(); }
};

// A vector of blocks is one of their entries: make_block_solver gets a handle to the same memory. Versions of
// AMGCL without this template ignore it.
template <class MatrixValue, class Vector, bool IsConst, class Enable>
struct reinterpret_as_rhs_impl;
template <class MatrixValue, class T, bool IsConst>
struct reinterpret_as_rhs_impl<MatrixValue, balm::vector<T>, IsConst, void> {
    using return_type = balm::vector<T>;
    static return_type get(const balm::vector<T>& x) { return x.share(); }
};

// Operands are converted to the target's precision; products with matrices are computed in the wider type of
// the matrix and the vector, and converted last. A target whose factor is 0 is not read.

/// y = alpha A x + beta y
template <class Alpha, class T, class I, class X, class Beta, class Y>
struct spmv_impl<Alpha, balm::sparse_matrix<T, I>, balm::vector<X>, Beta, balm::vector<Y>> {
    static void apply(Alpha alpha, const balm::sparse_matrix<T, I>& a, const balm::vector<X>& x, Beta beta,
                      balm::vector<Y>& y) {
        auto product = a * x;
        using P = balm::detail::element_of<decltype(product)>;
        if (alpha == Alpha(1))  // the product alone, which some storage formats write directly to the target
            add(std::move(product), beta, y);
        else
            add(balm::detail::amgcl_factor<P>(alpha) * std::move(product), beta, y);
    }

private:
    template <class P>
    static void add(P&& product, Beta beta, balm::vector<Y>& y) {
        using W = balm::detail::amgcl_wider<P, balm::vector<Y>&>;
        if (math::is_zero(beta))
            y = balm::detail::amgcl_as<Y>(static_cast<P&&>(product));
        else if (beta == Beta(1))
            y = balm::detail::amgcl_as<Y>(balm::detail::amgcl_as<W>(y) +
                                          balm::detail::amgcl_as<W>(static_cast<P&&>(product)));
        else
            y = balm::detail::amgcl_as<Y>(balm::detail::amgcl_as<W>(static_cast<P&&>(product)) +
                                          balm::detail::amgcl_factor<W>(beta) * balm::detail::amgcl_as<W>(y));
    }
};

/// r = f - A x
template <class T, class I, class F, class X, class R>
struct residual_impl<balm::sparse_matrix<T, I>, balm::vector<F>, balm::vector<X>, balm::vector<R>> {
    static void apply(const balm::vector<F>& f, const balm::sparse_matrix<T, I>& a, const balm::vector<X>& x,
                      balm::vector<R>& r) {
        auto product = a * x;
        using W = balm::detail::amgcl_wider<const balm::vector<F>&, decltype(product)>;
        r = balm::detail::amgcl_as<R>(balm::detail::amgcl_as<W>(f) -
                                      balm::detail::amgcl_as<W>(std::move(product)));
    }
};

template <class T>
struct clear_impl<balm::vector<T>> {
    static void apply(balm::vector<T>& x) { x = T(); }
};

template <class From, class To>
struct copy_impl<balm::vector<From>, balm::vector<To>> {
    static void apply(const balm::vector<From>& from, balm::vector<To>& to) {
        to = balm::detail::amgcl_as<To>(from);
    }
};
template <class Host, class T>
struct copy_impl<Host, balm::vector<T>> {
    static void apply(const Host& from, balm::vector<T>& to) {
        balm::detail::amgcl_write(to, balm::detail::amgcl_entries_of(from));
    }
};
template <class T, class Host>
struct copy_impl<balm::vector<T>, Host> {
    static void apply(const balm::vector<T>& from, Host& to) {
        balm::detail::amgcl_read(from, balm::detail::amgcl_entries_of(to));
    }
};

/// The sum of x times the conjugate of y, by one reduction. The call blocks.
template <class X, class Y>
struct inner_product_impl<balm::vector<X>, balm::vector<Y>> {
    static X get(const balm::vector<X>& x, const balm::vector<Y>& y) {
        const auto sum = balm::dot(balm::detail::amgcl_as<X>(y), x);
        if constexpr (balm::complex_type<X>)
            return {sum.real(), sum.imag()};
        else
            return sum;
    }
};

/// y = a x + b y
template <class A, class X, class B, class Y>
struct axpby_impl<A, balm::vector<X>, B, balm::vector<Y>> {
    static void apply(A a, const balm::vector<X>& x, B b, balm::vector<Y>& y) {
        auto sum = balm::detail::amgcl_factor<Y>(a) * balm::detail::amgcl_as<Y>(x);
        if (math::is_zero(b))
            y = std::move(sum);
        else
            y = std::move(sum) + balm::detail::amgcl_factor<Y>(b) * y;
    }
};

/// z = a x + b y + c z
template <class A, class X, class B, class Y, class C, class Z>
struct axpbypcz_impl<A, balm::vector<X>, B, balm::vector<Y>, C, balm::vector<Z>> {
    static void apply(A a, const balm::vector<X>& x, B b, const balm::vector<Y>& y, C c, balm::vector<Z>& z) {
        auto sum = balm::detail::amgcl_factor<Z>(a) * balm::detail::amgcl_as<Z>(x) +
                   balm::detail::amgcl_factor<Z>(b) * balm::detail::amgcl_as<Z>(y);
        if (math::is_zero(c))
            z = std::move(sum);
        else
            z = std::move(sum) + balm::detail::amgcl_factor<Z>(c) * z;
    }
};

/// z = a x y + b z, where x is a diagonal
template <class A, class X, class Y, class B, class Z>
struct vmul_impl<A, balm::vector<X>, balm::vector<Y>, B, balm::vector<Z>> {
    static void apply(A a, const balm::vector<X>& x, const balm::vector<Y>& y, B b, balm::vector<Z>& z) {
        auto product =
            balm::detail::amgcl_factor<Z>(a) * balm::detail::amgcl_as<Z>(x) * balm::detail::amgcl_as<Z>(y);
        if (math::is_zero(b))
            z = std::move(product);
        else
            z = std::move(product) + balm::detail::amgcl_factor<Z>(b) * z;
    }
};
template <class A, class T, class I, class Y, class B, class Z>
struct vmul_impl<A, balm::sparse_matrix<T, I>, balm::vector<Y>, B, balm::vector<Z>>
    : spmv_impl<A, balm::sparse_matrix<T, I>, balm::vector<Y>, B, balm::vector<Z>> {};

}  // namespace amgcl::backend

namespace amgcl::relaxation {

template <class Backend>
struct gauss_seidel;
template <class Value, class Index>
struct gauss_seidel<balm::amgcl_backend<Value, Index>> {
    static_assert(
        sizeof(Value) == 0,
        "Balm: gauss_seidel processes one row after the other; on devices use spai0, damped_jacobi, "
        "chebyshev or ilu0");
};

}  // namespace amgcl::relaxation

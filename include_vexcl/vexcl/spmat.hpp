#pragma once
// Sparse matrices from arrays in CSR, and matrices with few distinct rows.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "vexcl/detail/functors.hpp"
#include "vexcl/sparse/distributed.hpp"

namespace vex {

/// A sparse matrix; see sparse::matrix.
///
///     vex::SpMat<double> A(ctx, rows, columns, row.data(), col.data(), val.data());
///     Z = Y - A * X;
template <class Val, class Col = std::size_t, class Idx = std::size_t>
class SpMat : public sparse::matrix<Val, Col, Idx> {
    using base = sparse::matrix<Val, Col, Idx>;

public:
    typedef typename cl_scalar_of<Val>::type scalar_type;
    /// y = alpha * A * x, or with `append` y += alpha * A * x.
    void apply(const vector<Val>& x, vector<Val>& y, scalar_type alpha = 1, bool append = false) const {
        if (append)
            y += alpha * (*this * x);
        else
            y = alpha * (*this * x);
    }
    SpMat() = default;
    SpMat(const std::vector<command_queue>& queues, std::size_t rows, std::size_t columns, const Idx* row,
          const Col* col, const Val* val)
        : base(queues, rows, columns, std::span(row, rows + 1),
               std::span(col, static_cast<std::size_t>(row[rows])),
               std::span(val, static_cast<std::size_t>(row[rows]))) {}
};

/// The product itself: products are ordinary expressions, also inside functions and reductions.
template <class A>
requires(detail::vexpr<A> || detail::multi<A>) const A make_inline(const A& product) { return product; }

/// A matrix with few distinct rows, on one device. Each distinct row is stored once, with columns relative to
/// the diagonal; `idx` is the number of the distinct row for each row. A product reads 4 bytes of the matrix
/// for each row; the few distinct rows stay in cache. For finite differences this is a small fraction of the
/// memory traffic of CSR.
template <class Val, class Col = std::ptrdiff_t, class Idx = std::size_t>
class SpMatCCSR {
public:
    typedef Val value_type;

    /// `n` rows, each one of `m` distinct rows; distinct row r has the entries row[r] to row[r + 1] - 1.
    /// Throws std::out_of_range if an element of `idx` is not less than `m`.
    SpMatCCSR(const command_queue& queue, std::size_t n, std::size_t m, const std::size_t* idx,
              const Idx* row, const Col* col, const Val* val)
        : n_(n),
          which_(on(queue, distinct_rows(idx, n, m))),
          row_(on(queue, std::vector<std::int64_t>(row, row + m + 1))),
          col_(on(queue, std::vector<std::int64_t>(col, col + row[m]))),
          val_(std::vector<command_queue>{queue}, static_cast<std::size_t>(row[m]), val) {}

    template <detail::vexpr X>
    friend decltype(auto) operator*(const SpMatCCSR& a, const X& x) {
        using D = detail::element_of<X>;
        const detail::on_queues scope(a.val_.queues());
        return detail::wrap(balm::call_function(product<D>(), a.which_.balm_vector(),
                                                balm::element_index(0, a.n_), a.row_.balm_vector(),
                                                a.col_.balm_vector(), a.val_.balm_vector(), memory_of<D>(x)),
                            a.val_.queues());
    }
    template <detail::multi X>
    friend decltype(auto) operator*(const SpMatCCSR& a, const X& x) {
        return detail::each_component([&a](const auto& each) { return a * each; }, x);
    }

private:
    using V = detail::balm_element<Val>;

    static std::vector<std::uint32_t> distinct_rows(const std::size_t* idx, std::size_t n, std::size_t m) {
        for (std::size_t i = 0; i < n; ++i)
            if (idx[i] >= m)
                throw std::out_of_range("vex::SpMatCCSR: row " + std::to_string(i) + " is distinct row " +
                                        std::to_string(idx[i]) + " of " + std::to_string(m));
        return {idx, idx + n};
    }

    template <class T>
    static vector<T> on(const command_queue& queue, const std::vector<T>& host) {
        return vector<T>(std::vector<command_queue>{queue}, host);
    }
    /// The elements as memory: shared for a vector, materialised for an expression.
    template <class D, class X>
    static balm::vector<D> memory_of(const X& x) {
        if constexpr (requires { x.balm_vector(); })
            return x.balm_vector().share();
        else
            return balm::vector<D>(detail::lower(x));
    }
    template <class X>
    static const auto& product() {
        using namespace balm::dsl;
        static const auto& of_row =
            *new auto(balm::function("product_of_row", [](UInt which, Long diagonal, In<std::int64_t> row,
                                                          In<std::int64_t> col, In<V> val, In<X> x) {
                Var<X> sum;
                for (Long k : balm::dsl::range(Long(row[which]), Long(row[which + 1u])))
                    sum +=
                        Var<X>(detail::as_value<X>(Var(Var<V>(val[k]) * Var<X>(x[diagonal + Long(col[k])]))));
                return sum;
            }));
        return of_row;
    }

    std::size_t n_;
    vector<std::uint32_t> which_;
    vector<std::int64_t> row_, col_;
    vector<Val> val_;
};

}  // namespace vex

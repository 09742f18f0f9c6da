#pragma once
// Sparse matrices from compressed sparse rows (CSR). Products with vectors are expressions.

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <vector>

#include "vexcl/detail/custom_matrix.hpp"
#include "vexcl/detail/multi_expression.hpp"
#include "vexcl/detail/stored_matrix.hpp"
#include "vexcl/element_index.hpp"
#include "vexcl/eval.hpp"
#include "vexcl/function.hpp"
#include "vexcl/reductor.hpp"
#include "vexcl/scan.hpp"
#include "vexcl/sparse/spmv_ops.hpp"
#include "vexcl/tagged_terminal.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_view.hpp"

namespace vex {
namespace sparse {

/// A sparse matrix, partitioned over queues: each queue's device holds contiguous rows. Entries are scalars
/// of 4 or 8 bytes, or short vectors of them, which are multiplied lane by lane, unless spmv_ops_impl is
/// specialised for them. A handle: copies are the same matrix.
///
///     vex::sparse::matrix<double> A(ctx, n, n, ptr, col, val);
///     r = f - A * sin(u);
template <class Val, class Col = int, class Ptr = Col>
class matrix {
public:
    typedef Val value_type;
    typedef Val val_type;
    typedef Col col_type;
    typedef Ptr ptr_type;

    /// No matrix: assign one to it.
    matrix() = default;
    /// Copies a matrix in CSR from contiguous ranges of host memory: row r has the entries ptr[r] to
    /// ptr[r + 1] - 1, each with a column and a value. `fast_setup` is ignored.
    template <class PtrRange, class ColRange, class ValRange>
    matrix(const std::vector<command_queue>& queues, std::size_t rows, std::size_t columns,
           const PtrRange& ptr, const ColRange& col, const ValRange& val, bool /*fast_setup*/ = true)
        : queues_(queues),
          rows_(rows),
          columns_(columns),
          entries_(static_cast<std::size_t>(std::ranges::size(val))) {
        precondition(queues_.context() != nullptr, "A matrix needs a device; the list of queues is empty");
        const detail::on_queues scope(queues_);
        // Ranges of other libraries, such as boost::iterator_range, have no data().
        const auto memory = [](const auto& range) {
            return std::span(std::ranges::data(range), std::ranges::size(range));
        };
        const auto pointers = memory(ptr);
        const auto indices = memory(col);
        const auto values = memory(val);
        const detail::host_rows<decltype(pointers), decltype(indices), decltype(values)> from{
            rows, columns, pointers, indices, values};
        if constexpr (detail::has_custom_product<Val>)
            state_ = std::make_shared<const storage>(queues_, from);
        else
            state_ = std::make_shared<const storage>(*queues_.context(), from);
    }

    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return columns_; }
    std::size_t nonzeros() const { return entries_; }

    /// The product, an expression of rows() elements of the matrix's type; double for a matrix of float and a
    /// vector of double.
    template <detail::vexpr X>
    friend decltype(auto) operator*(const matrix& a, const X& x) {
        precondition(a.state_ != nullptr, "A product with a default-constructed matrix");
        if constexpr (detail::has_custom_product<Val>) {
            return a.state_->times(x);
        } else {
            auto e = detail::placed(detail::lower(x), detail::queues_in(x), a.queues_);
            detail::flatten(e);
            return detail::wrap(a.state_->times(std::move(e)), a.queues_);
        }
    }
    /// The product with each component.
    template <detail::multi X>
    friend decltype(auto) operator*(const matrix& a, const X& x) {
        return detail::each_component([&a](const auto& each) { return a * each; }, x);
    }

private:
    using storage = typename detail::matrix_storage<Val, Col, Ptr>::type;

    detail::queue_list queues_;
    std::size_t rows_ = 0, columns_ = 0, entries_ = 0;
    std::shared_ptr<const storage> state_;
};

}  // namespace sparse
}  // namespace vex

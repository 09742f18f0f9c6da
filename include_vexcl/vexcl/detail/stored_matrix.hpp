#pragma once
// The storage of sparse matrices: Balm's matrices, which choose a format for the matrix and the device.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <balm/sparse_matrix.hpp>

#include "vexcl/detail/expression.hpp"

namespace vex {
namespace detail {

/// Compressed sparse rows (CSR) in contiguous ranges of host memory.
template <class Ptr, class Col, class Val>
struct host_rows {
    std::size_t rows, columns;
    const Ptr& pointers;
    const Col& indices;
    const Val& values;
};

/// A matrix of scalars D. Indices have 32 bits if the numbers of rows, columns and entries fit.
template <balm::scalar_type D>
class number_matrix {
public:
    template <class Ptr, class Col, class Val>
    number_matrix(const balm::context& where, const host_rows<Ptr, Col, Val>& from) : where_(where) {
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
        if (std::max({from.rows, from.columns, static_cast<std::size_t>(std::size(from.values))}) < most)
            short_ = {where, from.rows, from.columns, from.pointers, from.indices, from.values};
        else
            long_ = {where, from.rows, from.columns, from.pointers, from.indices, from.values};
    }

    /// The product with a vector of scalars. It is computed in D, to which the vector is converted; a matrix
    /// of float with a vector of double is computed in double.
    template <balm::scalar_type X>
    auto times(balm::expr<X> x) const {
        if constexpr (std::same_as<D, float> && std::same_as<X, double>) {
            return widened().times(std::move(x));
        } else {
            static_assert(std::floating_point<D> || (!std::floating_point<X> && sizeof(X) <= sizeof(D)),
                          "a matrix of integers can only be multiplied by a vector of integers that are no "
                          "wider than its own");
            auto own = converted<D>(std::move(x));
            return short_.state() != nullptr ? short_ * std::move(own) : long_ * std::move(own);
        }
    }

private:
    /// The matrix with entries converted to double, made on first use.
    const number_matrix<double>& widened() const {
        std::call_once(made_wide_->once, [&] {
            short_.state() != nullptr ? widen(balm::to_csr(short_)) : widen(balm::to_csr(long_));
        });
        return *made_wide_->matrix;
    }
    template <class Csr>
    void widen(const Csr& host) const {
        const std::vector<double> values(host.values.begin(), host.values.end());
        made_wide_->matrix = std::make_unique<const number_matrix<double>>(
            where_,
            host_rows<decltype(host.row_pointers), decltype(host.column_indices), std::vector<double>>{
                host.rows, host.columns, host.row_pointers, host.column_indices, values});
    }

    struct wide {
        std::once_flag once;
        std::unique_ptr<const number_matrix<double>> matrix;
    };
    struct nothing {};

    balm::context where_;
    balm::sparse_matrix<D, std::int32_t> short_;
    balm::sparse_matrix<D, std::int64_t> long_;
    std::shared_ptr<std::conditional_t<std::same_as<D, float>, wide, nothing>> made_wide_ =
        std::make_shared<std::conditional_t<std::same_as<D, float>, wide, nothing>>();
};

/// A matrix of short vectors, which are multiplied lane by lane: stores one matrix per lane.
template <balm::vector_type D>
class lanes_matrix {
    using number = typename D::value_type;
    static constexpr int lanes = balm::detail::lanes_of<D>;

public:
    template <class Ptr, class Col, class Val>
    lanes_matrix(const balm::context& where, const host_rows<Ptr, Col, Val>& from) {
        std::vector<number> values(std::size(from.values));
        for (int k = 0; k < lanes; ++k) {
            std::transform(std::begin(from.values), std::end(from.values), values.begin(),
                           [k](const auto& each) { return static_cast<number>(each.s[k]); });
            each_.emplace_back(where, host_rows<Ptr, Col, std::vector<number>>{
                                          from.rows, from.columns, from.pointers, from.indices, values});
        }
    }

    template <balm::vector_type X>
    auto times(const balm::expr<X>& x) const {
        static_assert(std::same_as<X, D>, "the vector and the matrix must have the same element type");
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return balm::compose<D>(
                each_[K].times(balm::expr<number>(balm::lane<static_cast<int>(K)>(x)))...);
        }
        (std::make_index_sequence<static_cast<std::size_t>(lanes)>());
    }

private:
    std::vector<number_matrix<number>> each_;
};

/// The type that stores a matrix with entries of T.
template <class D>
struct stored_matrix_of {
    using type = number_matrix<D>;
};
template <balm::vector_type D>
struct stored_matrix_of<D> {
    using type = lanes_matrix<D>;
};
template <class T>
using stored_matrix = typename stored_matrix_of<balm_element<T>>::type;

}  // namespace detail
}  // namespace vex

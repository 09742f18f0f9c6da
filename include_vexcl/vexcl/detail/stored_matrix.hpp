#pragma once
// The storage of sparse matrices: Balm's matrices, which choose a format for the matrix and the device.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
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
    number_matrix(const balm::context& where, const host_rows<Ptr, Col, Val>& from) {
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
        if (std::max({from.rows, from.columns, static_cast<std::size_t>(std::size(from.values))}) < most)
            short_ = {where, from.rows, from.columns, from.pointers, from.indices, from.values};
        else
            long_ = {where, from.rows, from.columns, from.pointers, from.indices, from.values};
    }

    /// The product with a vector of scalars. It is computed in the wider type of the two.
    template <balm::scalar_type X>
    auto times(balm::expr<X> x) const {
        return short_.state() != nullptr ? short_ * std::move(x) : long_ * std::move(x);
    }

private:
    balm::sparse_matrix<D, std::int32_t> short_;
    balm::sparse_matrix<D, std::int64_t> long_;
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

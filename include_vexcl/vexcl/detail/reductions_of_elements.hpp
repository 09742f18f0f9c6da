#pragma once
// The reductions by which scans and reductions by key combine elements.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <balm/reduce.hpp>

#include "vexcl/detail/functors.hpp"
#include "vexcl/vector.hpp"

namespace vex {
namespace detail {

/// The reduction of scalars by a functor; for plus<T>, their sum.
template <class T, class Oper, balm::array_value A>
auto combined_by(const Oper& oper, const A& elements) {
    using D = balm_element<T>;
    static_assert(balm::scalar_type<D>,
                  "short vectors can only be summed (vex::plus); other functors require scalar elements");
    if constexpr (is_plus<Oper>)
        return balm::sum_of(elements);
    else
        return balm::fold_of(elements, combination<D>(oper));
}

/// Calls f(reduction, …) with the reduction of a vector, or with one reduction per lane, and returns its
/// result.
template <class T, class Oper, class F>
auto with_reductions(const Oper& oper, const vector<T>& of, const F& f) {
    using D = balm_element<T>;
    if constexpr (balm::vector_type<D> && is_plus<Oper>) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            return f(balm::sum_of(balm::lane<static_cast<int>(K)>(of.balm_vector()))...);
        }
        (std::make_index_sequence<cl_vector_length<T>::value>());
    } else {
        return f(combined_by<T>(oper, of.balm_vector()));
    }
}

/// Elements of a vector of T from one expression, or from one expression per lane.
template <class T, class... E>
balm::expr<balm_element<T>> elements_from(const E&... each) {
    using D = balm_element<T>;
    if constexpr (balm::vector_type<D>)
        return balm::compose<D>(balm::cast<typename D::value_type>(each)...);
    else
        return (converted<D>(balm::expr<typename E::value_type>(each)), ...);
}

}  // namespace detail
}  // namespace vex

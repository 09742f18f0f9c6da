#pragma once
// Sorts: of vectors, of several vectors of keys by a comparison, and of values by keys.

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <balm/sort.hpp>

#include "vexcl/detail/functors.hpp"
#include "vexcl/detail/packed_keys.hpp"
#include "vexcl/detail/sequences.hpp"

namespace vex {
namespace detail {

/// The sort order that a comparison of scalars means, if it is a predefined one: a radix sort then replaces
/// the comparison.
template <class T, class Comp>
inline constexpr std::optional<balm::sort_order> natural_order = std::nullopt;
template <host_scalar T>
inline constexpr std::optional<balm::sort_order> natural_order<T, less<T>> = balm::ascending;
template <host_scalar T>
inline constexpr std::optional<balm::sort_order> natural_order<T, less_equal<T>> = balm::ascending;
template <host_scalar T>
inline constexpr std::optional<balm::sort_order> natural_order<T, greater<T>> = balm::descending;
template <host_scalar T>
inline constexpr std::optional<balm::sort_order> natural_order<T, greater_equal<T>> = balm::descending;

template <class Comp, class T, class... V>
void sort_vectors(const Comp& comp, std::tuple<vector<T>&> keys, V&... values) {
    balm::vector<balm_element<T>>& own = std::get<0>(keys).balm_vector();
    if constexpr (natural_order<T, Comp>)
        balm::sort_by_key(own, values..., *natural_order<T, Comp>);
    else
        balm::sort_by_key(own, values..., predicate<balm_element<T>, balm_element<T>>(comp));
}
template <class Comp, class... T, class... V>
requires(sizeof...(T) > 1) void sort_vectors(const Comp& comp, std::tuple<vector<T>&...> keys, V&... values) {
    std::apply(
        [&](vector<T>&... each) {
            auto structures = packed(each.balm_vector()...);
            balm::sort_by_key(structures, each.balm_vector()..., values...,
                              packed_comparison<balm_element<T>...>(comp));
        },
        keys);
}

}  // namespace detail

/// Sorts a vector, or several vectors together: comp(a, b), for two vectors comp(a1, a2, b1, b2), returns
/// whether the first element or pair precedes the second. The sort is stable. The predefined comparisons
/// (vex::less, …) of scalars are radix sorts, with NaNs last and -0 before 0 (after it, if descending); other
/// comparisons are merge sorts.
///
///     vex::sort(x, vex::greater<double>());
///     vex::sort(std::tie(first, second), comp);
template <class Keys, class Comp>
void sort(Keys&& keys, Comp comp) {
    const auto vectors = detail::vectors_of(keys);
    const detail::on_queues scope(std::get<0>(vectors).queues());
    detail::sort_vectors(comp, vectors);
}
template <class T>
void sort(vector<T>& keys) {
    sort(keys, less<T>());
}

/// Sorts keys, and moves the elements of one or several vectors of values with them.
///
///     vex::sort_by_key(keys, std::tie(a, b), comp);
template <class Keys, class Values, class Comp>
void sort_by_key(Keys&& keys, Values&& values, Comp comp) {
    const auto vectors = detail::vectors_of(keys);
    const detail::on_queues scope(std::get<0>(vectors).queues());
    std::apply([&](auto&... each) { detail::sort_vectors(comp, vectors, each.balm_vector()...); },
               detail::vectors_of(values));
}
template <class K, class V>
void sort_by_key(vector<K>& keys, vector<V>& values) {
    sort_by_key(keys, values, less<K>());
}

}  // namespace vex

#pragma once
// Sorts of vectors, of values by keys, and of several vectors of keys.

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

/// The order of numbers of T that a comparison stands for, if Balm has it: a radix sort then needs no
/// comparison.
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

/// Sorts a vector, or several by the comparison of their elements side by side: of two vectors comp(a1, a2,
/// b1, b2) says whether (a1, a2) is ahead of (b1, b2). Equal keys keep their order. The standard comparisons
/// of numbers are radix sorts, with NaNs last and -0 ahead of 0; others are merge sorts.
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

/// The same, and moves the elements of one or several vectors of values with their keys.
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

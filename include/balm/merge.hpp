#pragma once
// Merges of two sorted arrays into one.
//
//     auto all = balm::merge(a, b);
//     auto [keys, values] = balm::merge_by_key(k, v, other_k, other_v);

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/compaction.hpp"
#include "balm/sort.hpp"

namespace balm {

namespace array {

/// The order of sorted arrays: that of numbers, or a comparison of two elements.
struct ordering {
    sort_order order = sort_order::ascending;
    comparison is_ahead = {};
};
using vector_list = std::span<const std::shared_ptr<vector_state>>;

/// Two lists of sorted arrays of the same types. The first `keys` arrays of each list are its sort keys; the
/// others are values.
struct sorted_pair {
    const char* name;  ///< the called function, for messages
    vector_list first, second;
    std::size_t keys;
    ordering by = {};
};
/// Merges both lists into new vectors, one for each array of a list.
void merge(const sorted_pair&, std::shared_ptr<vector_state>* made);
/// The same into existing vectors of the size of the result.
void merge_into(vector_list into, const sorted_pair&);

}  // namespace array

namespace detail {

/// Arrays as vectors; expressions are materialised.
struct vectors_of_arrays {
    inline_vector<std::shared_ptr<array::vector_state>, 4> list;

    template <class A>
    void add(const A& arrays) {
        std::apply([this](const auto&... each) { (this->add_one(each), ...); }, listed_arrays(arrays));
    }
    operator array::vector_list() const { return {list.begin(), list.size()}; }

private:
    template <class A>
    void add_one(const A& a) {
        if constexpr (is_vector<A>)
            list.push_back(a.state());
        else
            list.push_back(kept_vector<A>(a).state());
    }
};

template <class List>
inline constexpr bool are_sort_keys = false;
template <class... A>
inline constexpr bool are_sort_keys<std::tuple<A...>> =
    (sort_key_element<std::remove_const_t<typename std::remove_cvref_t<A>::value_type>> && ...);

/// The order that the last argument of a call specifies; ascending numbers by default.
template <class K, class... Manner>
array::ordering ordering_of(const Manner&... manner) {
    static_assert(sizeof...(Manner) <= 1 && (is_sort_manner<Manner> && ...),
                  "Balm: only an order, or a comparison that returns a Bool, may follow the sorted arrays");
    array::ordering made;
    [[maybe_unused]] const auto take = [&]<class M>(const M& how) {
        if constexpr (std::same_as<M, sort_order>) {
            made.order = how;
        } else {
            static_assert(array_value<K> && compares<K, M>,
                          "Balm: a comparison takes two elements of the keys, which must be a single array, "
                          "with the keys' type");
            made.is_ahead = how.function();
        }
    };
    if constexpr (sizeof...(Manner) == 0)
        static_assert(are_sort_keys<decltype(listed_arrays(std::declval<const K&>()))>,
                      "Balm: keys must be numbers; for other elements pass a comparison");
    (take(manner), ...);
    return made;
}

template <class A, class B>
constexpr void check_same_elements() {
    static_assert(std::same_as<kept_vectors_of<A>, kept_vectors_of<B>>,
                  "Balm: the two sorted arrays must have the same element types; cast one of them");
}

/// A vector, or a tuple of them, as a tuple.
template <class V>
struct as_tuple {
    using type = std::tuple<V>;
};
template <class... V>
struct as_tuple<std::tuple<V...>> {
    using type = std::tuple<V...>;
};
template <class V>
using flat_vectors = typename as_tuple<V>::type;
template <class Into, class... Lists>
constexpr void check_targets() {
    using wanted = decltype(std::tuple_cat(std::declval<flat_vectors<kept_vectors_of<Lists>>>()...));
    static_assert(std::same_as<Into, wanted>,
                  "Balm: each array needs one target, of the array's element type");
}

/// Calls use(pair) with both lists.
template <class KA, class VA, class KB, class VB, class Use, class... Manner>
void with_sorted_pair(const char* name, const KA& keys, const VA& values, const KB& other_keys,
                      const VB& other_values, const Use& use, const Manner&... manner) {
    check_same_elements<KA, KB>();
    check_same_elements<VA, VB>();
    vectors_of_arrays first, second;
    first.add(keys);
    second.add(other_keys);
    first.add(values);
    second.add(other_values);
    use(array::sorted_pair{name, first, second, array_count<KA>, ordering_of<KA>(manner...)});
}
template <class A, class B, class Use, class... Manner>
void with_sorted_pair(const char* name, const A& a, const B& b, const Use& use, const Manner&... manner) {
    check_same_elements<A, B>();
    vectors_of_arrays first, second;
    first.add(a);
    second.add(b);
    use(array::sorted_pair{name, first, second, array_count<A>, ordering_of<A>(manner...)});
}

/// Returns the vectors whose states `make` stores, as a Result.
template <class Result>
Result made_by(const auto& make) {
    std::shared_ptr<array::vector_state> states[32];
    static_assert(vectors_in<Result> <= std::size(states), "Balm: a call can make at most 32 vectors");
    make(states);
    std::shared_ptr<array::vector_state>* next = states;
    return next_made<Result>::from(next);
}
template <class... T>
vectors_of_arrays targets_in(const std::tuple<vector<T>&...>& into) {
    vectors_of_arrays made;
    std::apply([&](const vector<T>&... each) { (made.add(each), ...); }, into);
    return made;
}

}  // namespace detail

/// Merges two arrays that are sorted in the same order into a vector. Lists of arrays, which are sorted by
/// the first array, then by the second …, are merged into a tuple of vectors. Equal elements keep their
/// order, and those of `a` come first. The order is that of balm::sort, ascending by default: -0 precedes +0,
/// NaNs are last and equal. The last argument may be balm::descending, or a comparison, as for balm::sort. If
/// the arrays are not sorted, or the comparison is not an order, the result has the same size and unspecified
/// elements.
///
/// Expressions are materialised first. Each element is read and written once. For vectors over several
/// devices, the result is on the first one.
///
///     auto all = balm::merge(a, b);
///     auto [year, month] = balm::merge(std::tie(y, m), std::tie(other_y, other_m));
template <array_list A, array_list B, class... Manner>
auto merge(const A& a, const B& b, const Manner&... order_or_comparison) {
    return detail::made_by<detail::kept_vectors_of<A>>([&](std::shared_ptr<array::vector_state>* made) {
        detail::with_sorted_pair(
            "merge", a, b, [&](const array::sorted_pair& both) { array::merge(both, made); },
            order_or_comparison...);
    });
}
/// The same into an existing vector, or several, of exactly as many elements as a and b have together. Throws
/// usage_error if a target has another size or is merged itself.
///
///     balm::merge_into(all, a, b);
template <class T, array_list A, array_list B, class... Manner>
void merge_into(vector<T>& into, const A& a, const B& b, const Manner&... order_or_comparison) {
    merge_into(std::tie(into), a, b, order_or_comparison...);
}
template <class... T, array_list A, array_list B, class... Manner>
void merge_into(std::tuple<vector<T>&...> into, const A& a, const B& b,
                const Manner&... order_or_comparison) {
    detail::check_targets<std::tuple<vector<T>...>, A>();
    detail::with_sorted_pair(
        "merge_into", a, b,
        [&](const array::sorted_pair& both) { array::merge_into(detail::targets_in(into), both); },
        order_or_comparison...);
}

/// Merges sorted keys, and moves the elements of other arrays with them. Returns a tuple of the keys and the
/// values. Keys and values are one array each, or several, which become a tuple of vectors. Values may have
/// any type. Everything else is as for merge.
///
///     auto [keys, values] = balm::merge_by_key(k, v, other_k, other_v);
///     auto [k, xy] = balm::merge_by_key(k1, std::tie(x1, y1), k2, std::tie(x2, y2), balm::descending);
template <array_list KA, array_list VA, array_list KB, array_list VB, class... Manner>
auto merge_by_key(const KA& keys, const VA& values, const KB& other_keys, const VB& other_values,
                  const Manner&... order_or_comparison) {
    using result = std::tuple<detail::kept_vectors_of<KA>, detail::kept_vectors_of<VA>>;
    return detail::made_by<result>([&](std::shared_ptr<array::vector_state>* made) {
        detail::with_sorted_pair(
            "merge_by_key", keys, values, other_keys, other_values,
            [&](const array::sorted_pair& both) { array::merge(both, made); }, order_or_comparison...);
    });
}
/// The same into existing vectors of exactly the size of the result: a target for each array of keys, then
/// one for each array of values.
///
///     balm::merge_by_key_into(std::tie(keys, values), k, v, other_k, other_v);
template <class... T, array_list KA, array_list VA, array_list KB, array_list VB, class... Manner>
void merge_by_key_into(std::tuple<vector<T>&...> into, const KA& keys, const VA& values, const KB& other_keys,
                       const VB& other_values, const Manner&... order_or_comparison) {
    detail::check_targets<std::tuple<vector<T>...>, KA, VA>();
    detail::with_sorted_pair(
        "merge_by_key_into", keys, values, other_keys, other_values,
        [&](const array::sorted_pair& both) { array::merge_into(detail::targets_in(into), both); },
        order_or_comparison...);
}

}  // namespace balm

#pragma once
// Selections: some elements of arrays, in order, as vectors whose size the device determines.
//
//     auto positive = balm::copy_if(x, x > 0);
//     auto [parted, count] = balm::partition(x, x > 0);
//     auto distinct = balm::unique(sorted);

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "balm/compaction.hpp"

namespace balm {

/// The result of partition: the elements whose condition is true, then the others; `count` is the number of
/// the former. V is a vector, or a tuple of vectors.
template <class V>
struct partitioned {
    V elements;
    std::size_t count = 0;
};

namespace detail {

/// Keeps the elements whose condition is true.
template <class A, class C>
compaction_parts parts_where(const A& values, C&& condition) {
    compaction_parts parts;
    parts.keep(values);
    parts.values.append(begin<scalar::boolean>(as_condition(static_cast<C&&>(condition))));
    return parts;
}
template <class A, class C>
auto selected(const char* name, bool is_partition, const A& values, C&& condition) {
    compaction_parts parts = parts_where(values, static_cast<C&&>(condition));
    array::compaction how = parts.as(name);
    how.is_partition = is_partition;
    std::tuple<kept_vectors_of<A>> made;
    const std::size_t count = compacted(std::move(parts), how, made);
    return partitioned<kept_vectors_of<A>>{std::get<0>(std::move(made)), count};
}
template <class A, class C, class... T>
void select_into(const char* name, bool is_partition, std::tuple<vector<T>&...> into,
                 vector<std::int64_t>& count, const A& values, C&& condition) {
    static_assert(sizeof...(T) == array_count<A>,
                  "Balm: a selection needs one target for each of its arrays");
    compaction_parts parts = parts_where(values, static_cast<C&&>(condition));
    array::compaction how = parts.as(name);
    how.is_partition = is_partition;
    compacted_into(into, count, std::move(parts), how);
}

}  // namespace detail

/// The elements whose condition is true, in order: a vector; for a list of arrays a tuple of vectors. Arrays
/// and condition are any expressions of the same number of elements. Blocks until the count is known, which
/// is the size of the result. For vectors over several devices, the result is on the first one. Throws
/// usage_error if the numbers of elements differ.
///
///     auto positive = balm::copy_if(x, x > 0);
///     auto where = balm::copy_if(balm::element_index(), x > 0);
///     auto [keys, values] = balm::copy_if(std::tie(k, v), k != 0);
template <array_list A, array_value C>
auto copy_if(const A& values, C&& condition) {
    return detail::selected("copy_if", false, values, static_cast<C&&>(condition)).elements;
}

/// The same into an existing vector on the same device, or several of the same size, without blocking. The
/// count is stored in a vector of one element. Target elements beyond the selected ones are unchanged.
/// Selected elements that do not fit are dropped, but counted. Throws usage_error if the call also reads a
/// target, or if the sizes of targets differ.
///
///     balm::vector<float> y(ctx, n);
///     balm::vector<std::int64_t> count(ctx, 1);
///     balm::copy_if_into(y, count, x, x > 0);
template <class T, array_value A, array_value C>
void copy_if_into(vector<T>& into, vector<std::int64_t>& count, const A& values, C&& condition) {
    detail::select_into("copy_if_into", false, std::tie(into), count, values, static_cast<C&&>(condition));
}
template <class... T, array_list A, array_value C>
void copy_if_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values,
                  C&& condition) {
    detail::select_into("copy_if_into", false, into, count, values, static_cast<C&&>(condition));
}

/// All elements, those whose condition is true first, both groups in order, and the number of the former.
/// Blocks until that number is known. The condition is computed twice.
///
///     auto [parted, count] = balm::partition(x, x > 0);
template <array_list A, array_value C>
auto partition(const A& values, C&& condition) {
    return detail::selected("partition", true, values, static_cast<C&&>(condition));
}
/// The same into existing vectors of the same size, without blocking; see copy_if_into.
template <class T, array_value A, array_value C>
void partition_into(vector<T>& into, vector<std::int64_t>& count, const A& values, C&& condition) {
    detail::select_into("partition_into", true, std::tie(into), count, values, static_cast<C&&>(condition));
}
template <class... T, array_list A, array_value C>
void partition_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values,
                    C&& condition) {
    detail::select_into("partition_into", true, into, count, values, static_cast<C&&>(condition));
}

/// The first element of each run of equal neighbours, as std::unique_copy; for several arrays, whose elements
/// are compared together, a tuple of vectors. NaNs equal nothing. Blocks until their number is known.
///
///     auto distinct = balm::unique(sorted);
template <array_list A>
auto unique(const A& values) {
    detail::compaction_parts parts = detail::parts_of_runs(values);
    return detail::kept_runs<detail::kept_vectors_of<A>>("unique", std::move(parts),
                                                         detail::runs_of_equal(values));
}
/// The same with a function that decides whether two neighbours are equal: `same(a, b)`, or for two arrays
/// `same(a, c, b, d)` with the elements (a, c) and (b, d). An element is compared with the one before it.
/// Elements may be of any type, also structures.
///
///     auto close = balm::function("close", [](Float a, Float b) { return fabs(a - b) < 0.1f; });
///     auto steps = balm::unique(x, close);
template <array_list A, class... P>
auto unique(const A& values, const device_function<dsl::Bool, P...>& same) {
    detail::compaction_parts parts = detail::parts_of_runs(values);
    return detail::kept_runs<detail::kept_vectors_of<A>>("unique", std::move(parts),
                                                         detail::runs_of(values, same));
}
/// The same into existing vectors; see copy_if_into.
template <class T, array_value A>
void unique_into(vector<T>& into, vector<std::int64_t>& count, const A& values) {
    detail::keep_runs_into("unique_into", std::tie(into), count, detail::parts_of_runs(values),
                           detail::runs_of_equal(values));
}
template <class... T, array_list A>
void unique_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values) {
    detail::keep_runs_into("unique_into", into, count, detail::parts_of_runs(values),
                           detail::runs_of_equal(values));
}
template <class T, array_value A, class... P>
void unique_into(vector<T>& into, vector<std::int64_t>& count, const A& values,
                 const device_function<dsl::Bool, P...>& same) {
    detail::keep_runs_into("unique_into", std::tie(into), count, detail::parts_of_runs(values),
                           detail::runs_of(values, same));
}
template <class... T, array_list A, class... P>
void unique_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values,
                 const device_function<dsl::Bool, P...>& same) {
    detail::keep_runs_into("unique_into", into, count, detail::parts_of_runs(values),
                           detail::runs_of(values, same));
}

/// The first key of each run of equal neighbours, and the elements of other arrays at the same positions: a
/// tuple with a vector, or a tuple of vectors, for each argument.
///
///     auto [k, first] = balm::unique_by_key(keys, x);
template <array_list K, array_list... V>
requires(sizeof...(V) > 0) auto unique_by_key(const K& keys, const V&... values) {
    using result = std::tuple<detail::kept_vectors_of<K>, detail::kept_vectors_of<V>...>;
    return detail::all_kept_runs<result>("unique_by_key", detail::parts_of_runs(keys, values...),
                                         detail::runs_of_equal(keys));
}
template <array_list K, class... P, array_list... V>
requires(sizeof...(V) > 0) auto unique_by_key(const K& keys, const device_function<dsl::Bool, P...>& same,
                                              const V&... values) {
    using result = std::tuple<detail::kept_vectors_of<K>, detail::kept_vectors_of<V>...>;
    return detail::all_kept_runs<result>("unique_by_key", detail::parts_of_runs(keys, values...),
                                         detail::runs_of(keys, same));
}
/// The same into existing vectors, a target for each array; see copy_if_into.
template <class... T, array_list K, array_list... V>
void unique_by_key_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const K& keys,
                        const V&... values) {
    detail::keep_runs_into("unique_by_key_into", into, count, detail::parts_of_runs(keys, values...),
                           detail::runs_of_equal(keys));
}

}  // namespace balm

#pragma once
// Reductions of runs of equal neighbouring keys.
//
//     auto [k, totals] = balm::reduce_by_key(keys, x);
//     auto [k, low, high] = balm::reduce_by_key(keys, balm::min_of(x), balm::max_of(x));
//     auto [values, lengths] = balm::run_length_encode(x);

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "balm/compaction.hpp"
#include "balm/scan.hpp"

namespace balm {

namespace detail {

template <class V>
using as_reduction_type = decltype(as_reduction(std::declval<V>()));
template <class V>
using reduced_vector = vector<typename as_reduction_type<V>::result_type>;

/// Keys, and the reductions of their runs.
template <class K, class... V>
compaction_parts parts_by_key(const K& keys, V&&... values) {
    compaction_parts parts = parts_of_runs(keys);
    (parts.reduce(as_reduction(static_cast<V&&>(values))), ...);
    return parts;
}

/// Values, and the number of elements of each run.
template <class A>
compaction_parts parts_of_lengths(const A& values) {
    return parts_by_key(values, lazy_reduction<std::int64_t>(constant(true).tape(),
                                                             {array::reduction_kind::count, scalar::i64}));
}

}  // namespace detail

/// Reduces each run of equal neighbouring keys. Returns a tuple of the first key of each run and, for each of
/// the values, the reduction of each run. Keys are one array, or several: then the first member of the tuple
/// is a tuple of vectors. Values are arrays, whose elements are summed, or lazy reductions (sum_of(x),
/// max_of(x), fold_of(x, identity, function) …); the function of a fold must be associative, but need not
/// commute. Sums and products may be of complex numbers and short vectors, folds of any elements. All have
/// the same number of elements. To combine all equal keys, not only neighbours, sort first.
///
/// Blocks until the number of runs is known, which is the size of the results. The same device returns the
/// same bits every time. Keys are computed twice; vectors are read once, on CPUs twice. For vectors over
/// several devices, the results are on the first one. Throws usage_error if the numbers of elements differ.
///
///     auto [k, totals] = balm::reduce_by_key(keys, x);
///     auto [cells, mass, count] = balm::reduce_by_key(std::tie(i, j), m, balm::count_of(m > 0));
template <array_list K, scannable... V>
requires(sizeof...(V) > 0) auto reduce_by_key(const K& keys, V&&... values) {
    using result = std::tuple<detail::kept_vectors_of<K>, detail::reduced_vector<V>...>;
    return detail::all_kept_runs<result>("reduce_by_key",
                                         detail::parts_by_key(keys, static_cast<V&&>(values)...),
                                         detail::runs_of_equal(keys));
}
/// The same with a function that decides whether neighbours belong to one run: `same(a, b)`, or for two
/// arrays of keys `same(a, c, b, d)` with the keys (a, c) and (b, d). The keys of an element are compared
/// with those before it. They may be of any type, also structures.
///
///     auto same_day = balm::function("same_day", [](Long a, Long b) { return a / 86400 == b / 86400; });
///     auto [first, sales] = balm::reduce_by_key(seconds, same_day, amounts);
template <array_list K, class... P, scannable... V>
requires(sizeof...(V) > 0) auto reduce_by_key(const K& keys, const device_function<dsl::Bool, P...>& same,
                                              V&&... values) {
    using result = std::tuple<detail::kept_vectors_of<K>, detail::reduced_vector<V>...>;
    return detail::all_kept_runs<result>("reduce_by_key",
                                         detail::parts_by_key(keys, static_cast<V&&>(values)...),
                                         detail::runs_of(keys, same));
}

/// The same into existing vectors of the same size on the same device, without blocking: a target for each
/// array of keys, then one for each of the values, of the type of its result. The number of runs is stored in
/// a vector of one element. Target elements beyond the results are unchanged. Runs that do not fit are
/// dropped, but counted. Throws usage_error if the call also reads a target, or if the sizes of targets
/// differ.
///
///     balm::reduce_by_key_into(std::tie(k, totals), count, keys, x);
template <class... T, array_list K, scannable... V>
requires(sizeof...(V) > 0) void reduce_by_key_into(std::tuple<vector<T>&...> into,
                                                   vector<std::int64_t>& count, const K& keys,
                                                   V&&... values) {
    detail::keep_runs_into("reduce_by_key_into", into, count,
                           detail::parts_by_key(keys, static_cast<V&&>(values)...),
                           detail::runs_of_equal(keys));
}
template <class... T, array_list K, class... P, scannable... V>
requires(sizeof...(V) > 0) void reduce_by_key_into(std::tuple<vector<T>&...> into,
                                                   vector<std::int64_t>& count, const K& keys,
                                                   const device_function<dsl::Bool, P...>& same,
                                                   V&&... values) {
    detail::keep_runs_into("reduce_by_key_into", into, count,
                           detail::parts_by_key(keys, static_cast<V&&>(values)...),
                           detail::runs_of(keys, same));
}

/// The runs of equal neighbours: a tuple of their elements and their lengths (64 bits). Everything else is as
/// for reduce_by_key.
///
///     auto [values, lengths] = balm::run_length_encode(x);
template <array_list A>
auto run_length_encode(const A& values) {
    using result = std::tuple<detail::kept_vectors_of<A>, vector<std::int64_t>>;
    return detail::all_kept_runs<result>("run_length_encode", detail::parts_of_lengths(values),
                                         detail::runs_of_equal(values));
}
/// The same with a function that decides whether neighbours belong to one run, as for reduce_by_key. Elements
/// may be of any type.
///
///     auto [points, lengths] = balm::run_length_encode(path, same_place);
template <array_list A, class... P>
auto run_length_encode(const A& values, const device_function<dsl::Bool, P...>& same) {
    using result = std::tuple<detail::kept_vectors_of<A>, vector<std::int64_t>>;
    return detail::all_kept_runs<result>("run_length_encode", detail::parts_of_lengths(values),
                                         detail::runs_of(values, same));
}
/// The same into existing vectors: a target for each array, then one for the lengths, of 32 or 64 bits.
///
///     balm::run_length_encode_into(std::tie(values, lengths), count, x);
template <class... T, array_list A>
void run_length_encode_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values) {
    detail::keep_runs_into("run_length_encode_into", into, count, detail::parts_of_lengths(values),
                           detail::runs_of_equal(values));
}
template <class... T, array_list A, class... P>
void run_length_encode_into(std::tuple<vector<T>&...> into, vector<std::int64_t>& count, const A& values,
                            const device_function<dsl::Bool, P...>& same) {
    detail::keep_runs_into("run_length_encode_into", into, count, detail::parts_of_lengths(values),
                           detail::runs_of(values, same));
}

}  // namespace balm

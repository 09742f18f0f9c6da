#pragma once
// Reductions of runs of neighbours with equal keys.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/reduce_by_key.hpp>

#include "vexcl/scan_by_key.hpp"

namespace vex {
namespace detail {

/// The queue of the results, whose number is known only after the reduction: the first one.
inline queue_list on_first_queue(const queue_list& queues) {
    return queues.size() < 2 ? queues : queue_list(std::vector<command_queue>{queues.queues()[0]});
}
template <class T, class E>
void become(vector<T>& target, const queue_list& queues, const E& elements) {
    balm::vector<balm_element<T>> own(elements);
    vector<T>(queues, std::move(own)).swap(target);
}

}  // namespace detail

/// Combines the values of each run of neighbours with equal keys, as decided by comp(a, b), and stores the
/// first key of each run. Returns the number of runs. Blocks until it is known. The outputs are resized to
/// it, on the first queue of the input. To combine all equal keys, sort first.
///
///     const int count = vex::reduce_by_key(keys, values, distinct, sums);
template <class InKeys, class V, class OutKeys, class Comp, class Oper>
int reduce_by_key(InKeys&& in_keys, const vector<V>& in_values, OutKeys&& out_keys, vector<V>& out_values,
                  Comp comp, Oper oper) {
    const auto keys = detail::vectors_of(in_keys);
    const auto targets = detail::vectors_of(out_keys);
    const detail::on_queues scope(in_values.queues());
    const detail::queue_list where = detail::on_first_queue(in_values.queues());
    detail::with_reductions(oper, in_values, [&](auto... reductions) {
        auto made = balm::reduce_by_key(detail::balm_vectors(keys), detail::same_keys(comp, keys),
                                        std::move(reductions)...);
        [&]<std::size_t... K>(std::index_sequence<K...>) {
            (detail::become(std::get<K>(targets), where, std::move(std::get<K>(std::get<0>(made)))), ...);
        }
        (std::make_index_sequence<std::tuple_size_v<decltype(targets)>>());
        std::apply(
            [&](const auto&, const auto&... results) {
                detail::become(out_values, where, detail::elements_from<V>(results...));
            },
            made);
    });
    return static_cast<int>(out_values.size());
}
template <class K, class V>
int reduce_by_key(const vector<K>& in_keys, const vector<V>& in_values, vector<K>& out_keys,
                  vector<V>& out_values) {
    return reduce_by_key(in_keys, in_values, out_keys, out_values, detail::equal_to<K>(), plus<V>());
}

}  // namespace vex

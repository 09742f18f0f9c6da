#pragma once
// Segmented scans, which restart where the keys of neighbours differ.

#include <tuple>
#include <utility>

#include <balm/scan.hpp>

#include "vexcl/detail/sequences.hpp"
#include "vexcl/scan.hpp"

namespace vex {
namespace detail {

/// Whether two elements have equal keys.
template <class T>
struct equal_to {
    VEX_FUNCTION(bool, device, (T, x)(T, y), return x == y;);
    equal_to() {}
};

/// The predicate on the keys of two neighbours, those of the earlier element first.
template <class Comp, class... T>
const auto& same_keys(const Comp& comp, const std::tuple<vector<T>&...>&) {
    return predicate<balm_element<T>..., balm_element<T>...>(comp);
}
template <class Comp, class... T>
const auto& same_keys(const Comp& comp, const std::tuple<const vector<T>&...>&) {
    return predicate<balm_element<T>..., balm_element<T>...>(comp);
}
/// The vectors' Balm vectors, as a tuple of references.
template <class Tuple>
auto balm_vectors(const Tuple& vectors) {
    return std::apply([](const auto&... each) { return std::tie(each.balm_vector()...); }, vectors);
}

}  // namespace detail

/// Element k of the output combines the elements of its segment up to and including k; the first argument of
/// the functor is the earlier element. A segment is a run of neighbours with equal keys, as decided by
/// comp(a, b), or with two vectors of keys comp(a1, a2, b1, b2). The initial value, the last argument, is
/// ignored. The output may be the input.
///
///     vex::inclusive_scan_by_key(std::tie(year, month), sales, running, same_month, vex::plus<double>());
template <class Keys, class V, class Comp, class Oper>
void inclusive_scan_by_key(Keys&& keys, const vector<V>& input, vector<V>& output, Comp comp, Oper oper,
                           V = V()) {
    const auto vectors = detail::vectors_of(keys);
    detail::scan_into(input, output, oper, [&](auto&& reduction, int) {
        return balm::inclusive_scan_by_key(detail::balm_vectors(vectors), detail::same_keys(comp, vectors),
                                           std::move(reduction));
    });
}
template <class K, class V>
void inclusive_scan_by_key(const vector<K>& keys, const vector<V>& input, vector<V>& output, V init = V()) {
    inclusive_scan_by_key(keys, input, output, detail::equal_to<K>(), plus<V>(), init);
}

/// The same without element k itself; here each segment starts from the initial value.
template <class Keys, class V, class Comp, class Oper>
void exclusive_scan_by_key(Keys&& keys, const vector<V>& input, vector<V>& output, Comp comp, Oper oper,
                           V init = V()) {
    const auto vectors = detail::vectors_of(keys);
    detail::scan_into(input, output, oper, [&](auto&& reduction, int lane) {
        return balm::exclusive_scan_by_key(detail::balm_vectors(vectors), detail::same_keys(comp, vectors),
                                           std::move(reduction), detail::lane_of(init, lane));
    });
}
template <class K, class V>
void exclusive_scan_by_key(const vector<K>& keys, const vector<V>& input, vector<V>& output, V init = V()) {
    exclusive_scan_by_key(keys, input, output, detail::equal_to<K>(), plus<V>(), init);
}

}  // namespace vex

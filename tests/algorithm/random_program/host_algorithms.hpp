#pragma once
// Scans, reductions and merges by the standard library: what random programs of algorithms are compared with.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "algorithm/sort_ways.hpp"

namespace balm::test::random_algorithms {

template <class T>
bool sorts_ahead(T a, T b, sort_order order) {
    return by<T>(order)(a, b);
}
template <class Less>
std::vector<std::size_t> order_of(std::size_t n, Less&& is_less) {
    std::vector<std::size_t> made(n);
    std::iota(made.begin(), made.end(), std::size_t{0});
    std::stable_sort(made.begin(), made.end(), is_less);
    return made;
}
template <class R, class T, class F>
std::vector<R> scanned_on_host(const std::vector<T>& x, bool is_inclusive, R init, F&& combine,
                               const std::vector<std::int32_t>* keys = nullptr) {
    std::vector<R> made;
    made.reserve(x.size());
    R sum = init;
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (keys != nullptr && k > 0 && (*keys)[k] != (*keys)[k - 1]) sum = init;
        if (!is_inclusive) made.push_back(sum);
        sum = combine(sum, static_cast<R>(x[k]));
        if (is_inclusive) made.push_back(sum);
    }
    return made;
}
inline std::vector<std::size_t> run_starts(const std::vector<std::int32_t>& keys) {
    std::vector<std::size_t> made;
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (k == 0 || keys[k] != keys[k - 1]) made.push_back(k);
    return made;
}
/// The latest number but 0: associative, does not commute.
template <class T>
T latest(T a, T b) {
    return b != T(0) ? b : a;
}
template <class R, class T, class F>
std::vector<R> reduced_runs(const std::vector<T>& x, const std::vector<std::size_t>& starts, R init,
                            F&& combine) {
    std::vector<R> made;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const std::size_t end = k + 1 < starts.size() ? starts[k + 1] : x.size();
        R sum = init;
        for (std::size_t i = starts[k]; i < end; ++i) sum = combine(sum, static_cast<R>(x[i]));
        made.push_back(sum);
    }
    return made;
}

}  // namespace balm::test::random_algorithms

#pragma once
// Random sorted arrays, with NaNs of any bits.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "algorithm/sort_ways.hpp"

namespace balm::test {

template <class T>
std::vector<T> sorted_keys(kind how, std::mt19937_64& random, std::size_t n, sort_order order) {
    return sorted_on_host(keys_of<T>(how, random, n), order);
}
/// Two arrays that have elements in common: both are of one collection.
template <class T>
std::pair<std::vector<T>, std::vector<T>> sorted_arrays(kind how, std::mt19937_64& random, std::size_t n,
                                                        std::size_t m, sort_order order) {
    const std::vector<T> all = sorted_keys<T>(how, random, std::max<std::size_t>({n, m, 1}), order);
    const auto some = [&](std::size_t count) {
        std::vector<std::size_t> places(count);
        for (std::size_t& each : places) each = below(random, all.size());
        std::sort(places.begin(), places.end());
        std::vector<T> made;
        for (const std::size_t each : places) made.push_back(all[each]);
        return made;
    };
    return {some(n), some(m)};
}

/// The order in which the elements of two arrays are merged: those of the second are behind the first's.
template <class Ahead>
std::vector<std::size_t> merged_order(std::size_t n, std::size_t m, const Ahead& ahead) {
    std::vector<std::size_t> order(n + m);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::inplace_merge(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), ahead);
    return order;
}
template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace balm::test

#pragma once
// Random sorted arrays, in which NaNs of two kinds are in order, too.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithm/sort_ways.hpp"

namespace balm::test {

template <class T>
T without_payload(T x) {
    if (!is_nan(x)) return x;
    if constexpr (std::is_same_v<T, half>)
        return from_bits<half>(is_negative(x) ? 0xfe00 : 0x7e00);
    else if constexpr (std::is_floating_point_v<T>)
        return std::copysign(std::numeric_limits<T>::quiet_NaN(), std::signbit(x) ? T(-1) : T(1));
    else
        return x;
}
template <class T>
auto in_order(sort_order order) {
    return [order](T a, T b) {
        if (is_nan(a) && is_nan(b))  // as balm::sort has them
            return is_negative(a) != is_negative(b) && is_negative(b) == (order == ascending);
        return is_ahead(a, b, order);
    };
}
template <class T>
std::vector<T> sorted_keys(kind how, std::mt19937_64& random, std::size_t n, sort_order order) {
    std::vector<T> made = keys_of<T>(how, random, n);
    // By copies: vector<bool> has no references.
    for (std::size_t k = 0; k < n; ++k) made[k] = without_payload<T>(made[k]);
    std::stable_sort(made.begin(), made.end(), in_order<T>(order));
    return made;
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

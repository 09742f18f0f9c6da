#pragma once
// What tests of sorted arrays share: the ways that sorts go, keys of many kinds, their order on the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "algorithm/sort/sort_strategy.hpp"
#include "balm/kernel.hpp"
#include "balm/sort.hpp"
#include "support/devices.hpp"
#include "support/vectors.hpp"

namespace balm::test {

using array::forced_sort;
using array::sort_strategy;

/// To be sorted by their mass.
struct particle {
    float mass;
    std::int32_t number;
};
BALM_STRUCT(particle, mass, number)

struct forced_sorts {
    explicit forced_sorts(const forced_sort& asked) : how(asked) { array::force_sorts(&how); }
    forced_sorts(const forced_sorts&) = delete;
    forced_sorts& operator=(const forced_sorts&) = delete;
    ~forced_sorts() { array::force_sorts(nullptr); }
    const forced_sort how;
};

template <class Body>
void with_strategy(const forced_sort& chosen, const char* words, Body&& body) {
    SCOPED_TRACE(words);
    const forced_sorts held(chosen);
    body();
}
/// Runs the body on every context, with the devices' own strategy and with its several launches for inputs
/// that one would sort; on GPUs, with every strategy for them.
template <class Body>
void in_all_sort_strategies(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
        const sort_strategy usual = on_cpu ? sort_strategy::chunk_an_item : sort_strategy::tiles_look_back;
        if (on_cpu || ctx.device(0).info().sub_group_size > 0)
            with_strategy({.strategy = usual, .most_of_one = 0, .chunk = 1000}, "several launches",
                          [&] { body(ctx); });
        if (on_cpu) return;
        with_strategy({.strategy = sort_strategy::chunk_a_group, .most_of_one = 0}, "chunks of groups",
                      [&] { body(ctx); });
        if (ctx.device(0).info().sub_group_size > 0)
            with_strategy({.strategy = usual, .most_of_one = 0, .has_wide_words = true}, "words of 64 bits",
                          [&] { body(ctx); });
    });
}

// ---- the order on the host

template <class T>
bool is_nan(T x) {
    if constexpr (std::is_same_v<T, half>)
        return std::isnan(static_cast<float>(x));
    else if constexpr (std::is_floating_point_v<T>)
        return std::isnan(x);
    else
        return false;
}
template <class T>
bool is_negative(T x) {
    if constexpr (std::is_same_v<T, half>)
        return std::signbit(static_cast<float>(x));
    else if constexpr (std::is_floating_point_v<T>)
        return std::signbit(x);
    else
        return false;
}
template <class T>
bool is_number_less(T a, T b) {
    if constexpr (std::is_same_v<T, half>)
        return static_cast<float>(a) < static_cast<float>(b);
    else
        return a < b;
}
/// -0 < +0; NaNs, all of them equal, are last in either order.
template <class T>
bool is_ahead(T a, T b, sort_order order) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a);
    if (is_number_less(a, b)) return order == ascending;
    if (is_number_less(b, a)) return order == descending;
    return is_negative(a) != is_negative(b) && is_negative(a) == (order == ascending);
}
template <class T>
auto by(sort_order order) {
    return [order](T a, T b) { return !(is_nan(a) && is_nan(b)) && is_ahead(a, b, order); };
}
template <class T>
std::vector<T> sorted_on_host(std::vector<T> x, sort_order order) {
    std::stable_sort(x.begin(), x.end(), by<T>(order));
    return x;
}
template <class T>
std::vector<std::size_t> order_on_host(const std::vector<T>& x, sort_order order) {
    std::vector<std::size_t> made(x.size());
    std::iota(made.begin(), made.end(), std::size_t{0});
    std::stable_sort(made.begin(), made.end(),
                     [&](std::size_t a, std::size_t b) { return by<T>(order)(x[a], x[b]); });
    return made;
}

// ---- keys

enum class kind {
    any_bits,
    equal,
    ascending,
    descending,
    two_values,
    few_values,
    low_bits,
    high_bits,
    special
};
inline constexpr kind all_kinds[] = {kind::any_bits,   kind::equal,      kind::ascending,
                                     kind::descending, kind::two_values, kind::few_values,
                                     kind::low_bits,   kind::high_bits,  kind::special};

template <class T>
T from_bits(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, bool>) {
        return (bits & 1) != 0;
    } else {
        T made;
        std::memcpy(static_cast<void*>(&made), &bits, sizeof made);
        return made;
    }
}
template <class T>
T special_value(std::mt19937_64& random) {
    if constexpr (std::is_floating_point_v<T>) {
        using limits = std::numeric_limits<T>;
        // NaNs of both signs, each with its own bits.
        const T infinite = below(random, 2) == 0 ? limits::infinity() : -limits::infinity();
        std::uint64_t nan = 0;
        std::memcpy(&nan, &infinite, sizeof infinite);
        nan += 1 + below(random, 4);
        const T some[] = {T(0),
                          -T(0),
                          limits::infinity(),
                          -limits::infinity(),
                          limits::max(),
                          limits::lowest(),
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::min(),
                          limits::quiet_NaN(),
                          -limits::quiet_NaN(),
                          from_bits<T>(nan),
                          T(1)};
        return some[below(random, std::size(some))];
    } else if constexpr (std::is_same_v<T, half>) {
        const std::uint64_t some[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7bff, 0xfbff,
                                      1, 0x8001, 0x7e00, 0xfe00, 0xffff};
        return from_bits<T>(some[below(random, std::size(some))]);
    } else {
        const std::uint64_t ends[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << (8 * sizeof(T) - 1),
                                      (std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1};
        return from_bits<T>(ends[below(random, std::size(ends))]);
    }
}
template <class T>
std::vector<T> keys_of(kind how, std::mt19937_64& random, std::size_t n) {
    std::vector<T> made;
    const T one = from_bits<T>(random()), other = from_bits<T>(random());
    for (std::size_t k = 0; k < n; ++k) switch (how) {
            case kind::equal: made.push_back(one); break;
            case kind::two_values: made.push_back(below(random, 2) == 0 ? one : other); break;
            case kind::few_values: made.push_back(from_bits<T>(below(random, 10) << 13)); break;
            case kind::low_bits: made.push_back(from_bits<T>(random() & 0x3ff)); break;
            case kind::high_bits:
                made.push_back(from_bits<T>(random() & ~std::uint64_t{0} << (8 * sizeof(T) - 5)));
                break;
            case kind::special: made.push_back(special_value<T>(random)); break;
            default: made.push_back(from_bits<T>(random())); break;
        }
    if (how == kind::ascending || how == kind::descending)
        made = sorted_on_host(made, how == kind::ascending ? ascending : descending);
    return made;
}
/// With one NaN for all of them in halves, which expressions compute in 32 bits: this changes the bits of
/// NaNs.
template <class T>
std::vector<T> as_expressions_store(std::vector<T> x) {
    if constexpr (std::is_same_v<T, half>)
        for (half& each : x)
            if (is_nan(each)) each = from_bits<half>(0x7e00);
    return x;
}
inline kind any_kind(std::mt19937_64& random) { return all_kinds[below(random, std::size(all_kinds))]; }
inline sort_order any_order(std::mt19937_64& random) {
    return below(random, 2) == 0 ? ascending : descending;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& x, const std::vector<std::size_t>& order) {
    std::vector<T> made;
    for (const std::size_t k : order) made.push_back(x[k]);
    return made;
}

}  // namespace balm::test

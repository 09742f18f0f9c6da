// Sorts over several devices against std::stable_sort: parts of all weights, keys that lie on other devices
// than they belong on.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/sort/spread_sort.hpp"
#include "array/vector_state.hpp"
#include "balm/balm.hpp"
#include "sort_ways.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace spread_sort_test {

struct body {
    float mass;
    std::int32_t number;
};
BALM_STRUCT(body, mass, number)

}  // namespace spread_sort_test

namespace {

using namespace balm::dsl;
using spread_sort_test::body;

/// Runs the body on a context of all devices, in the process that has several.
template <class Body>
void on_several_devices(Body&& body) {
    if (!devices_are_together()) GTEST_SKIP() << "one device: over_three_devices runs it";
    body(context(present_devices()));
}

/// Devices without elements, and of very different weights, among them.
context weighted(const context& ctx, std::mt19937_64& random) {
    constexpr double some[] = {0, 0.02, 1, 1, 3, 40};
    std::vector<double> weights(ctx.size());
    for (double& each : weights) each = some[below(random, std::size(some))];
    weights[below(random, weights.size())] += 1;
    return ctx.weighted(weights);
}

enum class layout { mixed, equal, in_order, reversed, least_ones_last, one_device_last };
constexpr layout layouts[] = {layout::mixed,    layout::equal,           layout::in_order,
                              layout::reversed, layout::least_ones_last, layout::one_device_last};
/// Keys in an order that asks much of the exchange.
template <class T>
std::vector<T> laid_out(layout how, std::mt19937_64& random, std::size_t n) {
    std::vector<T> x = keys_of<T>(how == layout::equal ? kind::equal : any_kind(random), random, n);
    if (how == layout::in_order || how == layout::reversed)
        x = sorted_on_host(x, how == layout::in_order ? ascending : descending);
    if (how == layout::least_ones_last) {
        x = sorted_on_host(x, ascending);
        std::rotate(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n / 3), x.end());
    }
    if (how == layout::one_device_last && n > 0) {
        const T last = x[below(random, n)];
        for (std::size_t k = n - n / 4; k < n; ++k) x[k] = last;
    }
    return x;
}
layout any_layout(std::mt19937_64& random) { return layouts[below(random, std::size(layouts))]; }
std::size_t any_size(std::mt19937_64& random) {
    switch (below(random, 4)) {
        case 0: return below(random, 300);
        case 1: return 64 * below(random, 100);
        default: return below(random, 40000);
    }
}

template <class T>
void sorts_over_devices(const context& ctx, std::mt19937_64& random, layout how, std::size_t n) {
    const sort_order way = any_order(random);
    SCOPED_TRACE(std::to_string(n) + (way == ascending ? " ascending" : " descending") + ", laid out as " +
                 std::to_string(static_cast<int>(how)));
    const std::vector<T> x = laid_out<T>(how, random, n);
    vector<T> alone(ctx, x.begin(), x.end()), keys(ctx, x.begin(), x.end());
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
    vector<std::uint32_t> values(ctx, numbers);
    sort(alone, way);
    expect_same(on_host(alone), sorted_on_host(x, way));
    sort_by_key(keys, values, way);
    const std::vector<std::size_t> order = order_on_host(x, way);
    expect_same(on_host(keys), sorted_on_host(x, way));
    expect_same(values, std::vector<std::uint32_t>(order.begin(), order.end()));
}

template <class T>
class V15_spread_sort_types : public testing::Test {};
using spread_key_types = testing::Types<std::int32_t, half>;
TYPED_TEST_SUITE(V15_spread_sort_types, spread_key_types);

TYPED_TEST(V15_spread_sort_types, keys_of_all_layouts) {
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (const layout how : layouts)
            sorts_over_devices<TypeParam>(weighted(ctx, random), random, how, any_size(random));
        for (int turn = 0; turn < 4; ++turn)
            sorts_over_devices<TypeParam>(weighted(ctx, random), random, any_layout(random),
                                          any_size(random));
        sorts_over_devices<TypeParam>(ctx, random, layout::mixed, 100000 + below(random, 100000));
    });
}

TEST(V15_spread_sort, positions_of_both_sizes_and_expressions) {
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (int turn = 0; turn < 4; ++turn) {
            const std::size_t n = any_size(random);
            SCOPED_TRACE(n);
            const sort_order way = any_order(random);
            const std::vector<std::int32_t> x = laid_out<std::int32_t>(any_layout(random), random, n);
            const std::vector<std::size_t> order = order_on_host(x, way);
            const context where = weighted(ctx, random);
            const vector<std::int32_t> v(where, x);
            expect_same(vector<std::uint32_t>(argsort(v, way)),
                        std::vector<std::uint32_t>(order.begin(), order.end()));
            expect_same(vector<std::int64_t>(argsort<std::int64_t>(v, way)),
                        std::vector<std::int64_t>(order.begin(), order.end()));
            expect_same(vector<std::int32_t>(v[argsort(v, way)]), permuted(x, order));
            expect_same(vector<std::int32_t>(sorted(v, way) + 1 - 1), permuted(x, order));
            expect_same(v, x);
        }
    });
}

TEST(V15_spread_sort, several_keys_and_values) {
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (int turn = 0; turn < 4; ++turn) {
            const std::size_t n = any_size(random);
            SCOPED_TRACE(n);
            const sort_order way = any_order(random);
            const auto a = laid_out<bool>(any_layout(random), random, n);
            const auto b = keys_of<float>(kind::few_values, random, n);
            const auto c = keys_of<double>(kind::any_bits, random, n);
            std::vector<body> d(n);
            for (std::size_t k = 0; k < n; ++k) d[k] = {0.5f, static_cast<std::int32_t>(k)};
            std::vector<std::size_t> order(n);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
                const auto key = [&](std::size_t k) { return std::tuple(bool(a[k]), b[k]); };
                return way == ascending ? key(i) < key(j) : key(j) < key(i);
            });
            // Vectors of other partitions are sorted along.
            vector<bool> first(weighted(ctx, random), a.begin(), a.end());
            vector<float> second(weighted(ctx, random), b);
            vector<double> third(weighted(ctx, random), c);
            vector<body> fourth(weighted(ctx, random), d);
            sort_by_key(tie(first, second), third, fourth, way);
            expect_same(first, permuted(a, order));
            expect_same(second, permuted(b, order));
            expect_same(third, permuted(c, order));
            expect_same(fourth, permuted(d, order));
        }
    });
}

TEST(V15_spread_sort, comparisons) {
    const auto lighter =
        function("lighter(a, b)", [](Var<body> a, Var<body> b) { return Bool(a.mass < b.mass); });
    const auto never = function("never(a, b)", [](Var<body>, Var<body>) { return Bool(false); });
    const auto always = function("always(a, b)", [](Var<body>, Var<body>) { return Bool(true); });
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (int turn = 0; turn < 4; ++turn) {
            const std::size_t n = any_size(random);
            SCOPED_TRACE(n);
            const auto masses = laid_out<std::uint8_t>(any_layout(random), random, n);
            std::vector<body> x(n);
            for (std::size_t k = 0; k < n; ++k)
                x[k] = {static_cast<float>(masses[k]), static_cast<std::int32_t>(k)};
            std::vector<std::int64_t> numbers(n);
            std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
            const context where = weighted(ctx, random);
            vector<body> bodies(where, x);
            vector<std::int64_t> values(where, numbers);
            sort_by_key(bodies, values, never);
            expect_same(bodies, x);
            sort_by_key(bodies, values, lighter);
            const std::vector<std::size_t> order = order_on_host(masses, ascending);
            expect_same(bodies, permuted(x, order));
            expect_same(values, permuted(numbers, order));
            sort_by_key(bodies, values, always);  // no order: any elements, and an end
        }
    });
}

TEST(V15_spread_sort, rows_and_segments) {
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (const std::size_t columns :
             {std::size_t{1}, 1 + below(random, 200), 3000 + below(random, 9000)}) {
            const std::size_t rows = 1 + below(random, 20000 / columns);
            SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
            const sort_order way = any_order(random);
            const auto x = laid_out<std::int32_t>(any_layout(random), random, rows * columns);
            std::vector<std::int32_t> wanted = x;
            std::vector<std::int64_t> offsets{0};
            for (std::size_t r = 0; r < rows; ++r) {
                const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(r * columns);
                std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(columns), by<std::int32_t>(way));
                offsets.push_back(static_cast<std::int64_t>((r + 1) * columns));
            }
            const context where = weighted(ctx, random);
            vector<std::int32_t> v(where, x), segments(where, x);
            const vector<std::int64_t> at(where, offsets);
            sort_segments(segments, at, way);
            expect_same(segments, wanted);
            v = sorted(view(v, {rows, columns}), along(1), way);
            expect_same(v, wanted);
        }
    });
}

TEST(V15_spread_sort, parts_get_exactly_their_elements) {
    auto random = seeded_random();
    on_several_devices([&](const context& ctx) {
        for (int turn = 0; turn < 12; ++turn) {
            const auto x = laid_out<std::uint8_t>(any_layout(random), random, any_size(random));
            const vector<std::uint8_t> v(weighted(ctx, random), x);
            if (!v.state()->is_spread()) continue;
            std::vector<array::device_arrays> parts;
            std::vector<std::vector<std::uint8_t>> on_parts;
            for (const auto& each : v.state()->parts()) {
                if (each.elements->size() == 0) continue;
                parts.push_back({each.elements});
                const auto begin = x.begin() + static_cast<std::ptrdiff_t>(each.first);
                on_parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(each.elements->size()));
                std::sort(on_parts.back().begin(), on_parts.back().end());
                array::write(*each.elements, 0, on_parts.back().data(), on_parts.back().size());
            }
            if (parts.empty()) continue;
            std::vector<std::size_t> ranks{0};
            for (int k = 0; k < 3; ++k) ranks.push_back(below(random, x.size() + 1));
            ranks.push_back(x.size());
            std::sort(ranks.begin(), ranks.end());
            const auto splits = array::splits_of(parts, 1, {}, ranks);
            std::vector<std::uint8_t> all = x;
            std::sort(all.begin(), all.end());
            for (std::size_t j = 0; j < ranks.size(); ++j) {
                std::vector<std::uint8_t> ahead;
                for (std::size_t d = 0; d < parts.size(); ++d)
                    ahead.insert(ahead.end(), on_parts[d].begin(),
                                 on_parts[d].begin() + static_cast<std::ptrdiff_t>(splits[j][d]));
                std::sort(ahead.begin(), ahead.end());
                ASSERT_EQ(ahead.size(), ranks[j]);
                EXPECT_TRUE(std::equal(ahead.begin(), ahead.end(), all.begin()));
                // Of equal elements those of earlier parts come first.
                if (ranks[j] == 0 || ranks[j] == all.size() || all[ranks[j] - 1] != all[ranks[j]]) continue;
                bool is_cut = false;
                for (std::size_t d = 0; d < parts.size(); ++d) {
                    const auto [low, high] =
                        std::equal_range(on_parts[d].begin(), on_parts[d].end(), all[ranks[j]]);
                    const auto taken = on_parts[d].begin() + static_cast<std::ptrdiff_t>(splits[j][d]);
                    EXPECT_TRUE(is_cut ? taken == low : taken >= low && taken <= high);
                    is_cut = is_cut || taken != high;
                }
            }
        }
    });
}

TEST(V15_spread_sort, over_three_devices) { run_on_three_devices("test_algorithm", "V15_spread_sort*"); }

}  // namespace

}  // namespace balm::test

// Reductions by key and run lengths against loops on the host.

#include "balm/reduce_by_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/compaction_ways.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

template <class K, class R>
struct reduced_runs {
    std::vector<K> keys;
    std::vector<R> results;
    std::vector<std::int64_t> lengths;
};
template <class K, class T, class R, class F>
reduced_runs<K, R> reduced(const std::vector<K>& keys, const std::vector<T>& x, R identity, F&& combine) {
    reduced_runs<K, R> made;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        if (k == 0 || keys[k] != keys[k - 1]) {
            made.keys.push_back(keys[k]);
            made.results.push_back(identity);
            made.lengths.push_back(0);
        }
        made.results.back() = combine(made.results.back(), static_cast<R>(x[k]));
        ++made.lengths.back();
    }
    return made;
}

/// Where the right number of bits is no matter of the run's length.
const std::vector<std::size_t>& run_lengths() {
    static const std::vector<std::size_t> made{1, 2, 100, 1000000};
    return made;
}

template <class T>
class V15_reduce_by_key_types : public testing::Test {};
TYPED_TEST_SUITE(V15_reduce_by_key_types, number_types);

TYPED_TEST(V15_reduce_by_key_types, sums_and_lengths) {
    using T = TypeParam;
    using R = decltype(sum(vector<T>()));
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{65536},
                                    std::size_t{65537}, 1 + below(random, 300000)}) {
            const std::size_t length = run_lengths()[below(random, 4)];
            SCOPED_TRACE(std::to_string(n) + " elements in runs of " + std::to_string(length));
            const std::vector<T> keys = numbers_in_runs<T>(random, n, length, 3);
            const std::vector<T> x = small_numbers<T>(random, n);
            const reduced_runs<T, R> wanted = reduced(keys, x, R(0), plus<R>());
            const vector<T> on_device(ctx, keys);
            const auto [k, sums] = reduce_by_key(on_device, vector<T>(ctx, x));
            expect_same(k, wanted.keys);
            expect_same(sums, wanted.results);
            const auto [values, lengths] = run_length_encode(on_device);
            expect_same(values, wanted.keys);
            expect_same(lengths, wanted.lengths);
        }
    });
}

TEST(V15_reduce_by_key, vectors_of_every_small_size) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 70 ? 1 : 1 + below(random, 200)) {
            SCOPED_TRACE(n);
            const std::vector<int> keys = numbers_in_runs<int>(random, n, 1 + below(random, 9), 4);
            const std::vector<int> x = small_numbers<int>(random, n);
            const reduced_runs<int, int> wanted = reduced(keys, x, 0, plus<int>());
            const auto [k, sums] = reduce_by_key(vector<int>(ctx, keys), vector<int>(ctx, x));
            expect_same(k, wanted.keys);
            expect_same(sums, wanted.results);
        }
    });
}

TEST(V15_reduce_by_key, millions_of_elements_in_runs_of_1_100_and_1000000) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 4000000 + below(random, 10000);
        const std::vector<unsigned> x = small_numbers<unsigned>(random, n);
        const vector<unsigned> values(ctx, x);
        for (const std::size_t length : {std::size_t{1}, std::size_t{100}, std::size_t{1000000}}) {
            SCOPED_TRACE(length);
            std::vector<unsigned> keys(n);
            for (std::size_t k = 0; k < n; ++k) keys[k] = static_cast<unsigned>(k / length);
            const reduced_runs<unsigned, unsigned> wanted = reduced(keys, x, 0u, plus<unsigned>());
            const auto [k, sums] = reduce_by_key(vector<unsigned>(ctx, keys), values);
            expect_same(k, wanted.keys);
            expect_same(sums, wanted.results);
        }
    });
}

TEST(V15_reduce_by_key, every_reduction_at_once) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000);
        SCOPED_TRACE(n);
        const std::vector<int> keys = numbers_in_runs<int>(random, n, 1 + below(random, 20), 4);
        std::vector<int> x(n);
        for (int& each : x) each = static_cast<int>(below(random, 2001)) - 1000;
        std::vector<std::uint64_t> maps(n);
        for (std::uint64_t& each : maps) each = random();
        const vector<int> k(ctx, keys), v(ctx, x);
        const vector<std::uint64_t> f(ctx, maps);
        const auto [distinct, low, high, odd, positive, some, every_one, maps_of_runs, same_maps] =
            reduce_by_key(k, min_of(v), max_of(v), product_of(v | 1), count_of(v > 0), any_of(v > 900),
                          all_of(v > -900), fold_of(f, unchanged, composition()), fold_of(f, composition()));
        const auto of = [&](auto identity, auto&& combine, auto&& entering) {
            std::vector<decltype(identity)> list;
            for (const int each : x) list.push_back(entering(each));
            return reduced(keys, list, identity, combine).results;
        };
        const auto same = [](int a) { return a; };
        expect_same(low,
                    of(
                        std::numeric_limits<int>::max(), [](int a, int b) { return std::min(a, b); }, same));
        expect_same(
            high, of(
                      std::numeric_limits<int>::lowest(), [](int a, int b) { return std::max(a, b); }, same));
        expect_same(odd, of(
                             1,
                             [](int a, int b) {
                                 return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
                             },
                             [](int a) { return a | 1; }));
        expect_same(positive,
                    of(std::int64_t{0}, plus<std::int64_t>(), [](int a) { return std::int64_t{a > 0}; }));
        expect_same(maps_of_runs, reduced(keys, maps, unchanged, composed_maps).results);
        expect_same(same_maps, reduced(keys, maps, unchanged, composed_maps).results);
        const auto counts = of(0, plus<int>(), [](int a) { return a > 900 ? 1 : 0; });
        const auto misses = of(0, plus<int>(), [](int a) { return a > -900 ? 0 : 1; });
        const auto any_got = some.to_host(), all_got = every_one.to_host();
        ASSERT_EQ(any_got.size(), counts.size());
        for (std::size_t i = 0; i < counts.size(); ++i) {
            ASSERT_EQ(any_got.begin()[i], counts[i] > 0);
            ASSERT_EQ(all_got.begin()[i], misses[i] == 0);
        }
        EXPECT_EQ(distinct.size(), counts.size());
    });
}

TEST(V15_reduce_by_key, several_keys_and_functions_that_compare_them) {
    auto random = seeded_random();
    const auto in_one_block = function("in_one_block(a, b)", [](Int a, Int b) { return a / 2 == b / 2; });
    const auto both = function("both(a, c, b, d)",
                               [](Int a, Double c, Int b, Double d) { return a == b && fabs(c - d) < 1.5; });
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 150000);
        SCOPED_TRACE(n);
        const std::vector<int> i = numbers_in_runs<int>(random, n, 1 + below(random, 20), 4);
        const std::vector<double> j = numbers_in_runs<double>(random, n, 1 + below(random, 20), 4);
        const std::vector<int> x = small_numbers<int>(random, n);
        const vector<int> a(ctx, i), v(ctx, x);
        const vector<double> b(ctx, j);
        const auto sums_of = [&](auto&& begins) {
            std::vector<int> made;
            for (std::size_t k = 0; k < n; ++k) {
                if (k == 0 || begins(k)) made.push_back(0);
                made.back() += x[k];
            }
            return made;
        };
        const auto [keys, sums] = reduce_by_key(std::tie(a, b), v);
        expect_same(sums, sums_of([&](std::size_t k) { return i[k] != i[k - 1] || j[k] != j[k - 1]; }));
        EXPECT_EQ(std::get<0>(keys).size(), sums.size());
        EXPECT_EQ(std::get<1>(keys).size(), sums.size());
        const auto [doubled, of_tie] = reduce_by_key(std::tuple(2 * a, b + 1.0), v);
        expect_same(of_tie, sums_of([&](std::size_t k) { return i[k] != i[k - 1] || j[k] != j[k - 1]; }));
        EXPECT_TRUE(all(std::get<0>(doubled) == 2 * std::get<0>(keys)));
        EXPECT_TRUE(all(std::get<1>(doubled) == std::get<1>(keys) + 1.0));

        const auto [first, blocks] = reduce_by_key(a, in_one_block, v);
        expect_same(blocks, sums_of([&](std::size_t k) { return i[k] / 2 != i[k - 1] / 2; }));
        std::vector<int> first_keys;
        for (std::size_t k = 0; k < n; ++k)
            if (k == 0 || i[k] / 2 != i[k - 1] / 2) first_keys.push_back(i[k]);
        expect_same(first, first_keys);
        const auto [near, near_sums] = reduce_by_key(balm::tie(a, b), both, v);
        expect_same(near_sums, sums_of([&](std::size_t k) {
                        return i[k] != i[k - 1] || std::fabs(j[k] - j[k - 1]) >= 1.5;
                    }));
        EXPECT_EQ(std::get<0>(near).size(), near_sums.size());
    });
}

TEST(V15_reduce_by_key, sums_of_floats_are_within_their_bounds_and_the_same_in_every_run) {
    auto random = seeded_random();
    std::uniform_real_distribution<float> number(-1, 1);
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 300000), length = run_lengths()[below(random, 4)];
        SCOPED_TRACE(std::to_string(n) + " elements in runs of " + std::to_string(length));
        const std::vector<int> keys = numbers_in_runs<int>(random, n, length, 100);
        std::vector<float> x(n);
        for (float& each : x) each = number(random);
        const vector<int> k(ctx, keys);
        const vector<float> v(ctx, x);
        const auto [first, sums, compensated] = reduce_by_key(k, sum_of(v), sum_compensated_of(v));
        const reduced_runs<int, double> exact = reduced(keys, x, 0.0, plus<double>());
        const reduced_runs<int, double> magnitudes =
            reduced(keys, x, 0.0, [](double a, double b) { return a + std::fabs(b); });
        const auto got = sums.to_host(), better = compensated.to_host();
        ASSERT_EQ(got.size(), exact.results.size());
        constexpr double unit = std::numeric_limits<float>::epsilon() / 2;
        for (std::size_t r = 0; r < got.size(); ++r) {
            const auto count = static_cast<double>(exact.lengths[r]);
            ASSERT_NEAR(got.begin()[r], exact.results[r], count * unit * magnitudes.results[r] + 1e-30) << r;
            ASSERT_NEAR(better.begin()[r], exact.results[r],
                        unit * std::fabs(exact.results[r]) +
                            count * count * unit * unit * magnitudes.results[r] + 1e-12)
                << r;
        }
        // Alone they may be shared out differently, and be other floats, but in each run the same.
        const auto alone = [&] { return std::get<1>(reduce_by_key(k, sum_of(v))).to_host(); };
        const auto once = alone();
        for (int again = 0; again < 3; ++again)
            EXPECT_EQ(std::memcmp(alone().data(), once.data(), once.size() * sizeof(float)), 0);
    });
}

TEST(V15_reduce_by_key, into_vectors_with_more_and_less_room) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        if (ctx.size() > 1) return;  // targets lie on one device
        for (const std::size_t n : {1 + below(random, 1000), 70000 + below(random, 200000)}) {
            SCOPED_TRACE(n);
            const std::vector<int> keys = numbers_in_runs<int>(random, n, 3, 10),
                                   x = small_numbers<int>(random, n);
            const reduced_runs<int, int> wanted = reduced(keys, x, 0, plus<int>());
            const std::vector<int> lengths(wanted.lengths.begin(), wanted.lengths.end());
            const vector<int> k(ctx, keys), v(ctx, x);
            vector<std::int64_t> count(ctx, 1);
            for (const std::size_t room : {n, n + 5, wanted.keys.size(), wanted.keys.size() - 1,
                                           wanted.keys.size() / 2, std::size_t{0}}) {
                SCOPED_TRACE(room);
                vector<int> first(ctx, room, -1), sums(ctx, room, -1);
                reduce_by_key_into(std::tie(first, sums), count, k, v);
                EXPECT_EQ(count[0], static_cast<std::int64_t>(wanted.keys.size()));
                expect_begins(first, wanted.keys, -1);
                expect_begins(sums, wanted.results, -1);
                first = sums = -1;
                run_length_encode_into(std::tie(first, sums), count, k);
                EXPECT_EQ(count[0], static_cast<std::int64_t>(wanted.keys.size()));
                expect_begins(first, wanted.keys, -1);
                expect_begins(sums, lengths, -1);
            }
        }
    });
}

// ---- the strategies of GPUs

TEST(V15_reduce_by_key, strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 30000);
        for (const std::size_t length : {1, 40, 100000}) {
            SCOPED_TRACE(std::to_string(n) + " elements in runs of " + std::to_string(length));
            const std::vector<int> keys = numbers_in_runs<int>(random, n, length, 4),
                                   x = small_numbers<int>(random, n);
            const reduced_runs<int, int> wanted = reduced(keys, x, 0, plus<int>());
            const vector<int> k(ctx, keys), v(ctx, x);
            const auto [first, sums] = reduce_by_key(k, v);
            expect_same(first, wanted.keys);
            expect_same(sums, wanted.results);
            const auto [encoded, of_runs] = run_length_encode(k);
            expect_same(encoded, wanted.keys);
            expect_same(of_runs, wanted.lengths);
            std::vector<std::uint64_t> maps(n);
            for (std::uint64_t& each : maps) each = random();
            const auto [same_first, composed_runs, lengths] = reduce_by_key(
                k, fold_of(vector<std::uint64_t>(ctx, maps), unchanged, composition()), count_of(k >= 0));
            expect_same(composed_runs, reduced(keys, maps, unchanged, composed_maps).results);
            expect_same(lengths, wanted.lengths);
            expect_same(same_first, wanted.keys);
        }
    });
}

/// Runs the kernel in groups of 256, each of which has a tile. Returns keys and results.
std::pair<std::vector<int>, std::vector<int>> interpreted_reduction(const ir::function& kernel,
                                                                    std::vector<int> keys, std::vector<int> x,
                                                                    std::size_t tile) {
    const std::size_t n = x.size(), tiles = (n + tile - 1) / tile;
    EXPECT_LT(array::announcements(tiles, {scalar::i32, scalar::i32}, 31).words, 2 * tiles + 1)
        << "a state of 63 bits has room in a word";
    std::vector<int> first(n), results(n);
    std::vector<std::int64_t> count(1);
    interpret_tiles(kernel, n, tile, {scalar::i32, scalar::i32}, 31,
                    {{"kept", memory_of(first)},
                     {"result", memory_of(results)},
                     {"count", memory_of(count)},
                     {"a", memory_of(keys)},
                     {"b", memory_of(x)}});
    first.resize(std::min(n, static_cast<std::size_t>(count[0])));
    results.resize(first.size());
    return {first, results};
}

TEST(V15_reduce_by_key, tiles_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    for (const auto& [elements, tile] : {std::pair(100000u, 2048u), std::pair(1u << 23, 4096u)}) {
        const vector<int> any(ctx, elements, 1), other(ctx, elements, 1);
        const ir::function kernel = kernel_with_sub_groups([&] { return reduce_by_key(any, max_of(other)); });
        for (const std::size_t n : {std::size_t{1}, std::size_t{tile}, 1 + below(random, 100000)}) {
            for (const std::size_t length : {1, 100, 1000000}) {
                SCOPED_TRACE(std::to_string(n) + " elements in runs of " + std::to_string(length) +
                             " in tiles of " + std::to_string(tile));
                const std::vector<int> keys = numbers_in_runs<int>(random, n, length, 4);
                std::vector<int> x(n);
                for (int& each : x) each = static_cast<int>(below(random, 1000000));
                const reduced_runs<int, int> wanted = reduced(keys, x, std::numeric_limits<int>::lowest(),
                                                              [](int a, int b) { return std::max(a, b); });
                const auto [first, most] = interpreted_reduction(kernel, keys, x, tile);
                EXPECT_EQ(first, wanted.keys);
                EXPECT_EQ(most, wanted.results);
            }
        }
    }
}

TEST(V15_reduce_by_key, lengths_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    const vector<int> any(ctx, 100000, 1);
    const ir::function kernel = kernel_with_sub_groups([&] { return run_length_encode(any); });
    for (const std::size_t n : {std::size_t{1}, std::size_t{2048}, 1 + below(random, 100000)}) {
        for (const std::size_t length : {1, 100, 1000000}) {
            SCOPED_TRACE(std::to_string(n) + " elements in runs of " + std::to_string(length));
            std::vector<int> keys = numbers_in_runs<int>(random, n, length, 4), first(n);
            std::vector<std::int64_t> lengths(n), count(1);
            interpret_tiles(kernel, n, 2048, {scalar::i32, scalar::i32}, 31,
                            {{"kept", memory_of(first)},
                             {"result", memory_of(lengths)},
                             {"count", memory_of(count)},
                             {"a", memory_of(keys)}});
            const reduced_runs<int, int> wanted = reduced(keys, keys, 0, plus<int>());
            first.resize(static_cast<std::size_t>(count[0]));
            lengths.resize(first.size());
            EXPECT_EQ(first, wanted.keys);
            EXPECT_EQ(lengths, wanted.lengths);
        }
    }
}

// ---- 64 bits

TEST(V15_reduce_by_key, more_elements_than_32_bits_count) {
    on_all_devices([](const device& on) {
        if (on.info().type == device_type::cpu || on.info().global_memory < std::uint64_t{64} << 30) return;
        const std::size_t n = (std::size_t{1} << 32) + 12345;
        vector<std::uint8_t> keys(context({on}), n);
        keys = cast<std::uint8_t>(element_index() / 1000 % 251);
        const auto [distinct, lengths] = run_length_encode(keys);
        EXPECT_EQ(lengths.size(), (n + 999) / 1000);
        EXPECT_EQ(sum(lengths), static_cast<std::int64_t>(n));
        EXPECT_EQ(sum(lengths == 1000), static_cast<std::int64_t>(n / 1000));
        EXPECT_TRUE(all(distinct == cast<std::uint8_t>(element_index() % 251)));
    });
}

// ---- errors

TEST(V15_reduce_by_key, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3, 4, 5}), keys(ctx, {1, 1, 2});
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key(keys, x); }), HasSubstr("5"));
        if (ctx.size() > 1) return;
        vector<int> k(ctx, 5), sums(ctx, 5), few(ctx, 3);
        vector<float> floats(ctx, 5);
        vector<std::int64_t> count(ctx, 1);
        const vector<float> f(ctx, {1.f, 2.f, 3.f, 4.f, 5.f});
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key_into(std::tie(k, few), count, x, x); }),
                    HasSubstr("targets of 5 and 3 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key_into(std::tie(k, sums), count, x, f); }),
                    HasSubstr("cannot store elements of type f32 in a target of type i32"));
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key_into(std::tie(k, k), count, x, x); }),
                    HasSubstr("the same target twice"));
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key_into(std::tie(k, sums), count, k, x); }),
                    HasSubstr("has a target that it also reads"));
        EXPECT_THAT(message_of<usage_error>([&] { reduce_by_key_into(std::tie(k), count, x, x); }),
                    HasSubstr("makes 2 vectors, but has 1"));
    });
}

TEST(V15_reduce_by_key, new_sizes_compile_nothing) {
    in_all_scan_strategies([](const context& ctx) {
        const auto reduce_some = [&](std::size_t n) {
            vector<int> x(ctx, n);
            x = cast<int>(element_index());
            EXPECT_EQ(std::get<1>(reduce_by_key(x / 3, x)).size(), (n + 2) / 3);
        };
        reduce_some(3);
        reduce_some(150000);
        EXPECT_EQ(compilations_of([&] {
                      reduce_some(7);
                      reduce_some(170001);
                  }),
                  0);
    });
}

TEST(V15_reduce_by_key_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm",
                         "V15_reduce_by_key.*-*with_sub_groups*:*on_cpus*:*compile_nothing");
}

}  // namespace

}  // namespace balm::test

// Selections against those of the standard library on the host.

#include "balm/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
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

/// How often the elements to be selected come: never, seldom, mostly, always …
const std::vector<std::size_t>& shares_of_100() {
    static const std::vector<std::size_t> made{0, 1, 50, 99, 100};
    return made;
}
template <class T>
std::vector<T> percentages(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = static_cast<T>(below(random, 100));
    return made;
}
template <class T, class F>
std::vector<T> copied_if(const std::vector<T>& x, F&& is_selected) {
    std::vector<T> made;
    std::copy_if(x.begin(), x.end(), std::back_inserter(made), is_selected);
    return made;
}
template <class T>
std::vector<T> made_unique(std::vector<T> x) {
    x.erase(std::unique(x.begin(), x.end()), x.end());
    return x;
}

template <class T>
class V15_select_types : public testing::Test {};
TYPED_TEST_SUITE(V15_select_types, number_types);

TYPED_TEST(V15_select_types, copy_if_partition_and_unique) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{65536},
                                    std::size_t{65537}, 1 + below(random, 200000)}) {
            SCOPED_TRACE(n);
            const std::vector<T> x = percentages<T>(random, n);
            const vector<T> v(ctx, x);
            const T limit = static_cast<T>(shares_of_100()[below(random, 5)]);
            SCOPED_TRACE(+limit);
            const auto is_less = [&](T each) { return each < limit; };
            expect_same(copy_if(v, v < limit), copied_if(x, is_less));

            std::vector<T> parted = x;
            const auto middle = std::stable_partition(parted.begin(), parted.end(), is_less);
            const auto [on_device, count] = partition(v, v < limit);
            expect_same(on_device, parted);
            EXPECT_EQ(count, static_cast<std::size_t>(middle - parted.begin()));

            const std::vector<T> runs = numbers_in_runs<T>(random, n, 1 + below(random, 30), 3);
            expect_same(unique(vector<T>(ctx, runs)), made_unique(runs));
        }
    });
}

TEST(V15_select, vectors_of_every_small_size) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 70 ? 1 : 1 + below(random, 200)) {
            SCOPED_TRACE(n);
            const std::vector<int> x = percentages<int>(random, n);
            const vector<int> v(ctx, x);
            const int limit = static_cast<int>(shares_of_100()[below(random, 5)]);
            expect_same(copy_if(v, v < limit), copied_if(x, [&](int each) { return each < limit; }));
            expect_same(unique(v / 20), made_unique([&] {
                            std::vector<int> made;
                            for (const int each : x) made.push_back(each / 20);
                            return made;
                        }()));
        }
    });
}

TEST(V15_select, millions_of_elements) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 5000000 + below(random, 10000);
        const std::vector<unsigned> x = percentages<unsigned>(random, n);
        const vector<unsigned> v(ctx, x);
        expect_same(copy_if(v, v % 3u == 0u), copied_if(x, [](unsigned each) { return each % 3 == 0; }));
        expect_same(unique(v / 50u), made_unique([&] {
                        std::vector<unsigned> made(n);
                        std::transform(x.begin(), x.end(), made.begin(), [](unsigned a) { return a / 50; });
                        return made;
                    }()));
        const auto [parted, count] = partition(v, v < 30u);
        std::vector<unsigned> wanted = x;
        std::stable_partition(wanted.begin(), wanted.end(), [](unsigned each) { return each < 30; });
        expect_same(parted, wanted);
    });
}

TEST(V15_select, several_arrays_expressions_and_positions) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 100000);
        SCOPED_TRACE(n);
        const std::vector<int> x = percentages<int>(random, n), y = percentages<int>(random, n);
        const vector<int> a(ctx, x), b(ctx, y);
        std::vector<std::int64_t> where;
        std::vector<int> sums;
        std::vector<std::uint8_t> bytes;
        for (std::size_t k = 0; k < n; ++k) {
            if (x[k] <= y[k]) continue;
            where.push_back(static_cast<std::int64_t>(k));
            sums.push_back(x[k] + y[k]);
            bytes.push_back(static_cast<std::uint8_t>(x[k]));
        }
        const auto [positions, total, small] =
            copy_if(std::tuple(element_index(), a + b, cast<std::uint8_t>(a)), a > b);
        expect_same(positions, where);
        expect_same(total, sums);
        expect_same(small, bytes);
        expect_same(copy_if(element_index(), a > b), where);
        const auto [first, second] = copy_if(std::tie(a, b), a - b);  // numbers are true unless they are zero
        std::vector<int> different;
        for (std::size_t k = 0; k < n; ++k)
            if (x[k] != y[k]) different.push_back(y[k]);
        expect_same(second, different);
        EXPECT_EQ(first.size(), different.size());
        expect_same(copy_if(view(a, {n})(reversed), view(b, {n})(reversed) < 50), [&] {
            std::vector<int> made;
            for (std::size_t k = n; k-- > 0;)
                if (y[k] < 50) made.push_back(x[k]);
            return made;
        }());
    });
}

TEST(V15_select, elements_that_are_more_than_numbers) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000);
        std::vector<float4> x(n);
        std::vector<std::complex<float>> z(n);
        std::vector<int> chosen(n);
        std::vector<float4> wanted;
        std::vector<std::complex<float>> wanted_complex;
        for (std::size_t k = 0; k < n; ++k) {
            const auto value = static_cast<float>(k);
            x[k] = float4{value, value + 1, value + 2, value + 3};
            z[k] = {value, -value};
            chosen[k] = static_cast<int>(below(random, 2));
            if (chosen[k] == 0) continue;
            wanted.push_back(x[k]);
            wanted_complex.push_back(z[k]);
        }
        const auto [vectors, numbers] =
            copy_if(std::tuple(vector<float4>(ctx, x), vector<std::complex<float>>(ctx, z)),
                    vector<int>(ctx, chosen));
        const auto got = vectors.to_host();
        ASSERT_EQ(got.size(), wanted.size());
        EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(float4)), 0);
        const auto complex = numbers.to_host();
        ASSERT_EQ(complex.size(), wanted.size());
        EXPECT_TRUE(std::equal(complex.begin(), complex.end(), wanted_complex.begin()));
    });
}

TEST(V15_select, into_vectors_with_more_and_less_room) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        if (ctx.size() > 1) return;  // targets lie on one device
        for (const std::size_t n : {1 + below(random, 1000), 70000 + below(random, 200000)}) {
            SCOPED_TRACE(n);
            std::vector<int> x = percentages<int>(random, n);
            x.back() = 99;  // nothing that is not selected may be stored behind the results
            if (n > 1) x[n - 2] = 99;
            const std::vector<int> wanted = copied_if(x, [](int each) { return each < 70; });
            const std::vector<int> distinct = made_unique(x);
            const vector<int> v(ctx, x);
            vector<std::int64_t> count(ctx, 1);
            for (const std::size_t room : {n, n + 5, wanted.size(), wanted.size() / 2, std::size_t{0}}) {
                SCOPED_TRACE(room);
                vector<int> into(ctx, room, -1);
                copy_if_into(into, count, v, v < 70);
                EXPECT_EQ(count[0], static_cast<std::int64_t>(wanted.size()));
                expect_begins(into, wanted, -1);
                into = -1;
                unique_into(into, count, v);
                EXPECT_EQ(count[0], static_cast<std::int64_t>(distinct.size()));
                expect_begins(into, distinct, -1);
            }
            vector<int> whole(ctx, n), other(ctx, n);
            partition_into(std::tie(whole, other), count, std::tuple(v, 2 * v), v < 70);
            EXPECT_EQ(count[0], static_cast<std::int64_t>(wanted.size()));
            std::vector<int> parted = x;
            std::stable_partition(parted.begin(), parted.end(), [](int each) { return each < 70; });
            expect_same(whole, parted);
            EXPECT_TRUE(all(other == 2 * whole));
            vector<double> wide(ctx, n, -1.0);
            copy_if_into(wide, count, v, v < 70);
            expect_begins(wide, std::vector<double>(wanted.begin(), wanted.end()), -1.0);
        }
    });
}

TEST(V15_select, unique_by_key_and_functions_that_compare) {
    auto random = seeded_random();
    const auto is_near = function("is_near(a, b)", [](Int a, Int b) { return abs(a - b) <= 1; });
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000);
        SCOPED_TRACE(n);
        const std::vector<int> keys = numbers_in_runs<int>(random, n, 1 + below(random, 10), 5);
        const std::vector<float> x = percentages<float>(random, n);
        std::vector<int> first_keys, near;
        std::vector<float> first;
        for (std::size_t k = 0; k < n; ++k) {
            if (k == 0 || std::abs(keys[k] - keys[k - 1]) > 1) near.push_back(keys[k]);
            if (k > 0 && keys[k] == keys[k - 1]) continue;
            first_keys.push_back(keys[k]);
            first.push_back(x[k]);
        }
        const vector<int> on_device(ctx, keys);
        const vector<float> values(ctx, x);
        const auto [k, v] = unique_by_key(on_device, values);
        expect_same(k, first_keys);
        expect_same(v, first);
        expect_same(unique(on_device, is_near), near);
        const auto [pair, again] = unique_by_key(std::tie(on_device, values), on_device);
        std::vector<int> of_pairs;
        for (std::size_t i = 0; i < n; ++i)
            if (i == 0 || keys[i] != keys[i - 1] || x[i] != x[i - 1]) of_pairs.push_back(keys[i]);
        expect_same(std::get<0>(pair), of_pairs);
        expect_same(again, of_pairs);
    });
}

TEST(V15_select, nan_equals_nothing_and_zeros_are_equal) {
    on_all_contexts([](const context& ctx) {
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const vector<float> x(ctx, {nan, nan, 0.f, -0.f, 1e-45f, 1e-45f, nan});
        const host_array<float> got = unique(x).to_host();
        ASSERT_EQ(got.size(), 5u);
        EXPECT_TRUE(std::isnan(got.begin()[0]) && std::isnan(got.begin()[1]) && std::isnan(got.begin()[4]));
        EXPECT_FALSE(std::signbit(got.begin()[2]));
        EXPECT_EQ(got.begin()[3], 1e-45f);
    });
}

// ---- the strategies of GPUs

TEST(V15_select, strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 30000);
        SCOPED_TRACE(n);
        const std::vector<int> x = percentages<int>(random, n);
        const vector<int> v(ctx, x);
        const auto is_less = [](int each) { return each < 40; };
        expect_same(copy_if(v, v < 40), copied_if(x, is_less));
        const auto [parted, count] = partition(v, v < 40);
        std::vector<int> wanted = x;
        std::stable_partition(wanted.begin(), wanted.end(), is_less);
        expect_same(parted, wanted);
        const std::vector<int> runs = numbers_in_runs<int>(random, n, 7, 3);
        expect_same(unique(vector<int>(ctx, runs)), made_unique(runs));
        vector<int> into(ctx, n / 3, -1);
        vector<std::int64_t> found(ctx, 1);
        copy_if_into(into, found, v, v < 40);
        expect_begins(into, copied_if(x, is_less), -1);
        EXPECT_EQ(found[0], static_cast<std::int64_t>(copied_if(x, is_less).size()));
    });
}

/// Runs the kernel in groups of 256, each of which has a tile.
std::vector<int> interpreted_selection(const ir::function& kernel, std::vector<int> x, std::size_t tile) {
    std::vector<int> out(x.size());
    std::vector<std::int64_t> count(1);
    interpret_tiles(kernel, x.size(), tile, {scalar::i32}, 31,
                    {{"kept", memory_of(out)},
                     {"count", memory_of(count)},
                     {"a", memory_of(x)},
                     {"s", value_of(std::int32_t{40})}});
    out.resize(std::min(x.size(), static_cast<std::size_t>(count[0])));
    return out;
}

TEST(V15_select, tiles_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    for (const auto& [elements, tile] : {std::pair(100000u, 4096u), std::pair(1u << 23, 8192u)}) {
        const vector<int> any(ctx, elements, 1);
        const ir::function selection = kernel_with_sub_groups([&] { return copy_if(any, any < 40); });
        const ir::function distinct = kernel_with_sub_groups([&] { return unique(any); });
        for (const std::size_t n : {std::size_t{1}, std::size_t{tile}, 1 + below(random, 200000)}) {
            SCOPED_TRACE(std::to_string(n) + " elements in tiles of " + std::to_string(tile));
            const std::vector<int> x = percentages<int>(random, n),
                                   runs = numbers_in_runs<int>(random, n, 5, 3);
            EXPECT_EQ(interpreted_selection(selection, x, tile),
                      copied_if(x, [](int each) { return each < 40; }));
            EXPECT_EQ(interpreted_selection(distinct, runs, tile), made_unique(runs));
        }
    }
}

// ---- 64 bits

TEST(V15_select, more_elements_than_32_bits_count) {
    on_all_devices([](const device& on) {
        constexpr std::uint64_t wanted_memory = std::uint64_t{64} << 30;
        if (on.info().type == device_type::cpu || on.info().global_memory < wanted_memory) return;
        const std::size_t n = (std::size_t{1} << 32) + 12345;
        vector<std::uint8_t> x(context({on}), n);
        x = cast<std::uint8_t>(element_index() % 251);
        const auto chosen = copy_if(x, x == 7);
        EXPECT_EQ(chosen.size(), (n - 7 + 250) / 251);
        EXPECT_TRUE(all(chosen == 7));
        const auto positions = copy_if(element_index(), x == 7);
        EXPECT_EQ(positions.size(), chosen.size());
        EXPECT_TRUE(all(positions == 251 * element_index() + 7));
        EXPECT_TRUE(all(unique(x) == x));
        const auto [parted, count] = partition(x, x < 100);
        EXPECT_TRUE(all((parted < 100) == (element_index() < static_cast<std::int64_t>(count))));
    });
}

// ---- errors

TEST(V15_select, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3, 4, 5}), y(ctx, {1, 2, 3});
        EXPECT_THAT(message_of<usage_error>([&] { copy_if(x, y > 1); }), HasSubstr("5"));
        EXPECT_THAT(message_of<usage_error>([&] { unique(element_index()); }),
                    HasSubstr("the size of an expression is unknown"));
        if (ctx.size() > 1) return;
        vector<int> into(ctx, 5), other(ctx, 4), none;
        vector<std::int64_t> count(ctx, 1), counts(ctx, 2);
        EXPECT_THAT(message_of<usage_error>([&] { copy_if_into(into, counts, x, x > 1); }),
                    HasSubstr("the target for the count of copy_if_into has 2 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { copy_if_into(none, count, x, x > 1); }),
                    HasSubstr("a target that has no device"));
        EXPECT_THAT(message_of<usage_error>([&] { copy_if_into(into, count, into, into > 1); }),
                    HasSubstr("has a target that it also reads"));
        EXPECT_THAT(message_of<usage_error>(
                        [&] { copy_if_into(std::tie(into, other), count, std::tie(x, x), x > 1); }),
                    HasSubstr("targets of 5 and 4 elements"));
        EXPECT_THAT(message_of<usage_error>(
                        [&] { copy_if_into(std::tie(into, into), count, std::tie(x, x), x > 1); }),
                    HasSubstr("the same target twice"));
        EXPECT_THAT(message_of<usage_error>([&] { partition_into(other, count, x, x > 1); }),
                    HasSubstr("partition_into of 5 elements has a target of 4"));
        const vector<float> f(ctx, {1.f, 2.f, 3.f, 4.f, 5.f});
        EXPECT_THAT(message_of<usage_error>([&] { copy_if_into(into, count, f, f > 1); }),
                    HasSubstr("cannot store elements of type f32 in a target of type i32"));
    });
}

TEST(V15_select, new_values_and_sizes_compile_nothing) {
    in_all_scan_strategies([](const context& ctx) {
        const auto select_some = [&](int limit, std::size_t n) {
            vector<int> x(ctx, n);
            x = cast<int>(element_index());
            EXPECT_EQ(copy_if(x, x < limit).size(), std::min(n, static_cast<std::size_t>(limit)));
            EXPECT_EQ(unique(x / 2).size(), (n + 1) / 2);
        };
        select_some(1, 3);
        select_some(100, 150000);
        EXPECT_EQ(compilations_of([&] {
                      select_some(2, 7);
                      select_some(5000, 170001);
                  }),
                  0);
    });
}

TEST(V15_select, parts_of_all_weights) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        constexpr double some[] = {0, 0.05, 1, 1, 4};
        for (int turn = 0; turn < 6; ++turn) {
            std::vector<double> weights(ctx.size());
            for (double& each : weights) each = some[below(random, std::size(some))];
            weights[below(random, weights.size())] += 1;
            const std::vector<std::int32_t> x = percentages<std::int32_t>(random, below(random, 9000));
            SCOPED_TRACE(x.size());
            const vector<std::int32_t> v(ctx.weighted(weights), x);
            const auto is_less = [](std::int32_t each) { return each < 50; };
            expect_same(copy_if(v, v < 50), copied_if(x, is_less));
            std::vector<std::int32_t> parted = x;
            const auto middle = std::stable_partition(parted.begin(), parted.end(), is_less);
            const auto [on_device, count] = partition(v, v < 50);
            expect_same(on_device, parted);
            EXPECT_EQ(count, static_cast<std::size_t>(middle - parted.begin()));
        }
    });
}

TEST(V15_select_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm", "V15_select.*-*with_sub_groups*:*on_cpus*:*compile_nothing");
}

}  // namespace

}  // namespace balm::test

// Scans into vectors: several in one pass, and streams in pieces, against those of the standard library.

#include "balm/scan_into.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "algorithm/scan_ways.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

int greatest(int a, int b) { return std::max(a, b); }
constexpr int lowest = std::numeric_limits<int>::lowest();

void expect_several(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE(n);
    const std::vector<int> x = random_ints(random, n), y = random_ints(random, n);
    const std::vector<double> z(y.begin(), y.end());
    vector<int> a(ctx, x);
    const vector<int> b(ctx, y);
    const vector<double> c(ctx, z);
    vector<int> sums, highest(ctx, n);
    vector<double> totals(ctx, n);
    inclusive_scan_into(std::tie(sums, highest, totals), sum_of(a), max_of(b), sum_of(c));
    expect_equal(sums, inclusive(x, std::plus<>(), 0));
    expect_equal(highest, inclusive(y, greatest, lowest));
    expect_equal(totals, inclusive(z, std::plus<>(), 0.0));
    exclusive_scan_into(std::tie(a, highest), a, max_of(a));  // in place
    expect_equal(a, exclusive(x, std::plus<>(), 0));
    expect_equal(highest, exclusive(x, greatest, lowest));
}

TEST(V15_scan_into, several_in_one_pass) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 1 + below(random, 200000)})
            expect_several(ctx, random, n);
    });
}

/// Pieces of a stream, whose scans are those of the whole.
void expect_stream(const context& ctx, std::mt19937_64& random, std::size_t most) {
    vector<int> sum(ctx, 1, 5), high(ctx, 1, lowest);
    std::vector<int> all{5}, peaks{lowest};  // ahead of each element
    for (int k = 0; k < 4; ++k) {
        const std::size_t n = k == 1 ? 0 : 1 + below(random, most);
        SCOPED_TRACE(n);
        const std::vector<int> x = random_ints(random, n);
        const vector<int> v(ctx, x);
        vector<int> sums(ctx, n), highest(ctx, n);
        inclusive_scan_into(std::tie(sums, highest), std::tie(sum, high), sum_of(v), max_of(v));
        const std::vector<int> wanted = inclusive(x, std::plus<>(), all.back()),
                               wanted_peaks = inclusive(x, greatest, peaks.back());
        expect_equal(sums, wanted);
        expect_equal(highest, wanted_peaks);
        if (n > 0) {
            all.push_back(wanted.back());
            peaks.push_back(wanted_peaks.back());
        }
        EXPECT_EQ(sum[0], all.back());
        EXPECT_EQ(high[0], peaks.back());
    }
}

void expect_exclusive_stream(const context& ctx, std::mt19937_64& random, std::size_t most) {
    vector<int> total(ctx, 1, 5);
    int wanted_total = 5;
    for (int k = 0; k < 3; ++k) {
        const std::vector<int> x = random_ints(random, 1 + below(random, most));
        SCOPED_TRACE(x.size());
        vector<int> v(ctx, x);
        exclusive_scan_into(v, total, v);  // in place
        expect_equal(v, exclusive(x, std::plus<>(), wanted_total));
        wanted_total = std::accumulate(x.begin(), x.end(), wanted_total);
        EXPECT_EQ(total[0], wanted_total);
    }
}

TEST(V15_scan_into, a_stream_in_pieces) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        expect_stream(ctx, random, 200000);
        expect_exclusive_stream(ctx, random, 200000);
    });
}

TEST(V15_scan_into, strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) { expect_stream(ctx, random, 9000); });
}

TEST(V15_scan_into, what_is_read_elsewhere_is_read_first) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 100000);
        SCOPED_TRACE(n);
        const std::vector<int> x = random_ints(random, n);
        const std::vector<int> reversed(x.rbegin(), x.rend());
        vector<int> v(ctx, x);
        inclusive_scan_into(v, v[static_cast<std::int64_t>(n) - 1 - element_index(0, n)]);
        expect_equal(v, inclusive(reversed, std::plus<>(), 0));
    });
}

TEST(V15_scan_into, several_with_sub_groups) {
    auto random = seeded_random();
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    const vector<unsigned> any(ctx, 5000);
    const ir::function both = kernel_with_sub_groups([&] {
        vector<unsigned> sums, highest, carry(ctx, 2, 0u);
        vector<unsigned> first(ctx, 1, 0u), second(ctx, 1, 0u);
        inclusive_scan_into(std::tie(sums, highest), std::tie(first, second), sum_of(any), max_of(any));
    });
    const std::size_t n = 1 + below(random, 100000);
    SCOPED_TRACE(n);
    std::vector<unsigned> x(n), sums(n), highest(n), first{3}, second{9}, total{0}, peak{0};
    for (unsigned& each : x) each = static_cast<unsigned>(random());
    interpret_tiles(both, n, 2048, {scalar::u32, scalar::u32}, 0,
                    {{"out", memory_of(sums)},
                     {"out1", memory_of(highest)},
                     {"carry", memory_of(first)},
                     {"carry1", memory_of(second)},
                     {"carried", memory_of(total)},
                     {"carried1", memory_of(peak)},
                     {"a", memory_of(x)}});
    EXPECT_EQ(sums, inclusive(x, std::plus<>(), 3u));
    EXPECT_EQ(highest, inclusive(
                           x, [](unsigned a, unsigned b) { return std::max(a, b); }, 9u));
    EXPECT_EQ(total[0], sums.back());
    EXPECT_EQ(peak[0], highest.back());
}

TEST(V15_scan_into, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3});
        vector<int> other(ctx, 2), y(ctx, 3), carry(ctx, 1, 0), wide(ctx, 2, 0), nothing;
        EXPECT_THAT(message_of<usage_error>([&] { inclusive_scan_into(other, x); }),
                    HasSubstr("of 3 elements has a target of 2"));
        EXPECT_THAT(message_of<usage_error>([&] { inclusive_scan_into(std::tie(y, y), x, x); }),
                    HasSubstr("the same vector twice"));
        EXPECT_THAT(message_of<usage_error>([&] { inclusive_scan_into(y, wide, x); }),
                    HasSubstr("has 2 elements; it must be a vector of one element"));
        EXPECT_THAT(message_of<usage_error>([&] { inclusive_scan_into(y, nothing, x); }),
                    HasSubstr("has 0 elements"));
        EXPECT_THAT(
            message_of<usage_error>([&] { exclusive_scan_into(y, carry, x + carry[element_index() * 0]); }),
            HasSubstr("also reads its carry"));
    });
}

TEST(V15_scan_into, over_three_devices) {
    run_on_three_devices("test_algorithm", "V15_scan_into.*-*sub_groups*");
}

}  // namespace

}  // namespace balm::test

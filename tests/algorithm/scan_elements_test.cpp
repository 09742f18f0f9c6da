// Scans, reductions by key and of segments, runs and bins of complex numbers, short vectors and structures,
// in every strategy; and sums of small integers in 64 bits.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "algorithm/scan_ways.hpp"
#include "balm/balm.hpp"
#include "balm/scan_along.hpp"
#include "balm/scan_into.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace dsl;
using complex = std::complex<float>;

/// x -> scale x + shift, modulo 2^32, with a part that makes it wider than groups usually share.
struct scaling {
    std::uint32_t scale, shift;
};
BALM_STRUCT(scaling, scale, shift)
struct wide_scaling {
    std::uint32_t scale, shift, rest[60];
};
BALM_STRUCT(wide_scaling, scale, shift, rest)

scaling then(const scaling& f, const scaling& g) { return {g.scale * f.scale, g.scale * f.shift + g.shift}; }
const auto& then_on_device() {
    static const auto made = function("then", [](Var<scaling> f, Var<scaling> g) {
        Var<scaling> both;
        both.scale = g.scale * f.scale;
        both.shift = g.scale * f.shift + g.shift;
        return both;
    });
    return made;
}
wide_scaling then(const wide_scaling& f, const wide_scaling& g) {
    wide_scaling made{g.scale * f.scale, g.scale * f.shift + g.shift, {}};
    for (int k = 0; k < 60; ++k) made.rest[k] = f.rest[k] ^ g.rest[k];
    return made;
}
const auto& wide_then_on_device() {
    static const auto made = function("wide_then", [](Var<wide_scaling> f, Var<wide_scaling> g) {
        Var<wide_scaling> both;
        both.scale = g.scale * f.scale;
        both.shift = g.scale * f.shift + g.shift;
        for (Int k : range(60)) both.rest[k] = f.rest[k] ^ g.rest[k];
        return both;
    });
    return made;
}

std::vector<scaling> drawn_scalings(std::mt19937_64& random, std::size_t n) {
    std::vector<scaling> made(n);
    for (scaling& each : made)
        each = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    return made;
}
std::vector<complex> drawn_complex(std::mt19937_64& random, std::size_t n) {
    std::vector<complex> made(n);
    for (complex& each : made)
        each = {static_cast<float>(below(random, 9)) - 4, static_cast<float>(below(random, 9)) - 4};
    return made;
}
/// In runs of three.
std::vector<int> keys_of_runs(std::size_t n) {
    std::vector<int> made(n);
    for (std::size_t k = 0; k < n; ++k) made[k] = static_cast<int>(k / 3);
    return made;
}

template <class V, class T>
void expect_bytes(const vector<V>& got, const std::vector<T>& wanted) {
    static_assert(sizeof(V) == sizeof(T));
    const host_array<V> host = got.to_host();
    ASSERT_EQ(host.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
        ASSERT_EQ(std::memcmp(&host.begin()[k], &wanted[k], sizeof(T)), 0) << "element " << k;
}
/// Zeros of any sign.
template <class V>
void expect_numbers(const vector<V>& got, const std::vector<complex>& wanted) {
    const host_array<V> host = got.to_host();
    ASSERT_EQ(host.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
        ASSERT_EQ(complex(host.begin()[k].real(), host.begin()[k].imag()), wanted[k]) << "element " << k;
}

template <class T>
std::vector<T> scan_of(const std::vector<T>& x, bool is_inclusive, T init, std::size_t segment) {
    std::vector<T> made;
    T sum = init;
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (k % segment == 0) sum = init;
        const T next = then(sum, x[k]);
        made.push_back(is_inclusive ? next : sum);
        sum = next;
    }
    return made;
}

void scans_structures(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE(n);
    const scaling unit{1, 0}, init{3, 5};
    const std::vector<scaling> x = drawn_scalings(random, n);
    const vector<scaling> v(ctx, x);
    const vector<int> keys(ctx, keys_of_runs(n));
    const auto all = fold_of(v, unit, then_on_device());
    expect_bytes(vector<scaling>(inclusive_scan(fold_of(v, then_on_device()))), scan_of(x, true, unit, n));
    expect_bytes(vector<scaling>(exclusive_scan(all)), scan_of(x, false, unit, n));
    expect_bytes(vector<scaling>(exclusive_scan_by_key(keys, all, init)), scan_of(x, false, init, 3));
    std::vector<scaling> totals = scan_of(x, true, unit, 3), wanted;
    for (std::size_t k = 0; k < n; ++k)
        if (k % 3 == 2 || k + 1 == n) wanted.push_back(totals[k]);
    expect_bytes(std::get<1>(reduce_by_key(keys, all)), wanted);
}
void scans_complex_numbers(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE(n);
    const std::vector<complex> x = drawn_complex(random, n);
    const vector<complex> v(ctx, x);
    std::vector<complex> wanted;
    complex sum(0, 0);
    for (const complex& each : x) wanted.push_back(sum += each);
    expect_numbers(vector<complex>(inclusive_scan(v)), wanted);
    vector<complex> into(ctx, n), carry(ctx, 1, complex(0, 0));
    inclusive_scan_into(into, carry, v);
    expect_numbers(into, wanted);
    expect_numbers(carry, {sum});
}
void scans_wide_structures(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE(n);
    std::vector<wide_scaling> x(n);
    for (wide_scaling& each : x) {
        each = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()), {}};
        for (std::uint32_t& one : each.rest) one = static_cast<std::uint32_t>(random());
    }
    const vector<wide_scaling> v(ctx, x);
    const wide_scaling unit{1, 0, {}};
    const auto all = fold_of(v, unit, wide_then_on_device());
    expect_bytes(vector<wide_scaling>(exclusive_scan(all)), scan_of(x, false, unit, n));
    const std::vector<wide_scaling> totals = scan_of(x, true, unit, 3);
    std::vector<wide_scaling> wanted;
    for (std::size_t k = 0; k < n; ++k)
        if (k % 3 == 2 || k + 1 == n) wanted.push_back(totals[k]);
    const vector<int> keys(ctx, keys_of_runs(n));
    expect_bytes(std::get<1>(reduce_by_key(keys, all)), wanted);
}

TEST(V15_scans_of_elements, combine_structures_complex_numbers_and_short_vectors) {
    auto random = seeded_random();
    in_all_scan_strategies([&](const context& ctx) {
        for (const std::size_t n : {1u, 1000u, 140001u}) {
            scans_structures(ctx, random, n);
            scans_complex_numbers(ctx, random, n);
        }
        scans_wide_structures(ctx, random, 3000);
    });
}
TEST(V15_scans_of_elements, take_the_strategies_of_gpus_on_cpus) {
    auto random = seeded_random();
    in_strategies_of_gpus_on_cpu([&](const context& ctx) {
        scans_structures(ctx, random, 1700);
        scans_complex_numbers(ctx, random, 2500);
        scans_wide_structures(ctx, random, 300);
    });
}
TEST(V15_scans_of_elements, run_along_dimensions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t rows = 30, columns = 70;
        const std::vector<scaling> x = drawn_scalings(random, rows * columns);
        const vector<scaling> v(ctx, x);
        const auto all = fold_of(expr<scaling>(view(v, {rows, columns})), scaling{1, 0}, then_on_device());
        expect_bytes(vector<scaling>(exclusive_scan(all, scaling{3, 5}, along(1))),
                     scan_of(x, false, {3, 5}, columns));
        std::vector<scaling> wanted = x;
        for (std::size_t k = columns; k < x.size(); ++k) wanted[k] = then(wanted[k - columns], x[k]);
        expect_bytes(vector<scaling>(inclusive_scan(all, along(0))), wanted);
    });
}
TEST(V15_scans_of_elements, begin_with_what_combines_no_elements) {
    on_all_contexts([&](const context& ctx) {
        const vector<complex> z(ctx, std::vector<complex>{{2, 1}, {0, 3}});
        expect_numbers(vector<complex>(exclusive_scan(z)), {{0, 0}, {2, 1}});
        expect_numbers(vector<complex>(exclusive_scan(product_of(z))), {{1, 0}, {2, 1}});
        expect_numbers(vector<complex>(inclusive_scan(product_of(z), complex(0, 1))), {{-1, 2}, {-6, -3}});
        const vector<scaling> v(ctx, std::vector<scaling>{{2, 1}, {5, 3}});
        expect_bytes(vector<scaling>(exclusive_scan(fold_of(v, then_on_device()))),
                     std::vector<scaling>{{0, 0}, {2, 1}});
        const vector<int> offsets(ctx, {0, 0, 2, 2});
        expect_bytes(reduce_segments(offsets, fold_of(v, scaling{7, 9}, then_on_device())),
                     std::vector<scaling>{{7, 9}, {10, 8}, {7, 9}});
        expect_numbers(reduce_segments(offsets, product_of(z)), {{1, 0}, {-3, 6}, {1, 0}});
        vector<scaling> into(ctx, 2);
        exclusive_scan_into(into, fold_of(v, scaling{7, 9}, then_on_device()));
        expect_bytes(into, std::vector<scaling>{{7, 9}, {2, 1}});
        expect_bytes(vector<scaling>(exclusive_scan(
                         fold_of(expr<scaling>(view(v, {2, 1})), scaling{7, 9}, then_on_device()), along(0))),
                     std::vector<scaling>{{7, 9}, {2, 1}});
    });
}
TEST(V15_runs_of_structures, are_delimited_by_a_function) {
    on_all_contexts([&](const context& ctx) {
        const auto is_same = function("is_same", [](Var<scaling> a, Var<scaling> b) {
            return Bool(a.scale == b.scale && a.shift == b.shift);
        });
        const auto is_ahead =
            function("is_ahead", [](Var<scaling> a, Var<scaling> b) { return Bool(a.scale < b.scale); });
        const vector<scaling> v(ctx, std::vector<scaling>{{1, 1}, {1, 1}, {1, 2}, {3, 2}, {3, 2}});
        const std::vector<scaling> distinct{{1, 1}, {1, 2}, {3, 2}};
        expect_bytes(unique(v, is_same), distinct);
        const auto [first, lengths] = run_length_encode(v, is_same);
        expect_bytes(first, distinct);
        expect_same(lengths, {2, 1, 2});
        const vector<int> ones(ctx, 5, 1);
        const auto [keys, sums] = reduce_by_key(v, is_same, ones);
        expect_bytes(keys, distinct);
        expect_same(sums, {2, 1, 2});
        expect_same(vector<int>(inclusive_scan_by_key(v, is_same, ones)), {1, 2, 1, 1, 2});
        vector<scaling> into(ctx, 2, scaling{0, 0});
        vector<std::int64_t> count(ctx, 1);
        if (ctx.size() == 1) {
            unique_into(into, count, v, is_same);
            expect_bytes(into, std::vector<scaling>{{1, 1}, {1, 2}});
            expect_same(count, {3});
        }
        const vector<scaling> other(ctx, std::vector<scaling>{{1, 7}, {2, 7}});
        expect_bytes(set_union(v, other, is_ahead),
                     std::vector<scaling>{{1, 1}, {1, 1}, {1, 2}, {2, 7}, {3, 2}, {3, 2}});
    });
}
TEST(V15_sums_of_small_integers, have_64_bits) {
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t n = 70000;
        const vector<std::int16_t> low(ctx, n, std::int16_t{-32768});
        const vector<std::uint8_t> high(ctx, n, std::uint8_t{255});
        const vector<int> key(ctx, n, 0);
        constexpr std::int64_t total = -32768 * static_cast<std::int64_t>(n);
        static_assert(total < -2147483648ll);
        const vector<std::int64_t> scanned = inclusive_scan(low);
        EXPECT_EQ(scanned[n - 1], total);
        EXPECT_EQ(vector<std::int64_t>(inclusive_scan_by_key(key, low))[n - 1], total);
        EXPECT_EQ(vector<std::int64_t>(inclusive_scan(view(low, {1, n}), along(1)))[n - 1], total);
        EXPECT_EQ(vector<std::int64_t>(inclusive_scan(view(low, {n, 1}), along(0)))[n - 1], total);
        expect_same(std::get<1>(reduce_by_key(key, low)), {total});
        expect_same(reduce_segments(vector<int>(ctx, {0, static_cast<int>(n)}), low), {total});
        expect_same(vector<std::int64_t>(bincount(key, 1, low)), {total});
        static_assert(std::is_same_v<decltype(inclusive_scan(high)), expr<std::uint64_t>>);
        static_assert(std::is_same_v<decltype(bincount(key, 1, high)), expr<std::uint64_t>>);
        static_assert(std::is_same_v<decltype(inclusive_scan(key)), expr<int>>);
        const vector<std::uint64_t> products =
            inclusive_scan(product_of(vector<std::uint8_t>(ctx, 8, std::uint8_t{255})));
        EXPECT_EQ(products[7], 17878103347812890625ull);
    });
}
TEST(V15_bincount, adds_complex_weights_and_lanes) {
    on_all_contexts([&](const context& ctx) {
        const vector<int> bin(ctx, {0, 2, 0, 5, -1});
        const vector<complex> z(ctx, std::vector<complex>{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 9}});
        expect_numbers(vector<complex>(bincount(bin, 3, z)), {{6, 8}, {0, 0}, {3, 4}});
        const vector<char2> pairs(ctx, 5, char2{100, -100});
        const vector<vec<std::int64_t, 2>> sums = bincount(bin, 3, pairs);
        EXPECT_EQ((vec<std::int64_t, 2>(sums[0])[0]), 200);
        EXPECT_EQ((vec<std::int64_t, 2>(sums[0])[1]), -200);
    });
}

}  // namespace

}  // namespace balm::test

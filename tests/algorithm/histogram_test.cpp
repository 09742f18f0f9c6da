// Histograms against loops on the host.

#include "balm/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/exact_numbers.hpp"
#include "algorithm/histogram/histogram_strategy.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using counts = std::vector<std::int64_t>;

/// Runs the body on every context, and on a CPU with tables as GPUs have them.
template <class Body>
void in_all_histograms(Body&& body) {
    on_all_contexts([&](const context& ctx) { body(ctx); });
    if (devices_are_together() || !has_cpu()) return;
    SCOPED_TRACE("tables of groups");
    struct of_gpus {
        of_gpus() { array::force_histograms_of_gpus(true); }
        of_gpus(const of_gpus&) = delete;
        ~of_gpus() { array::force_histograms_of_gpus(false); }
    } const held;
    body(context{filter::cpu});
}

template <class T, class F>
counts counted(const std::vector<T>& x, std::size_t bins, F&& bin_of) {
    counts made(bins);
    for (const T& each : x) {
        const std::int64_t bin = bin_of(each);
        if (bin >= 0 && bin < static_cast<std::int64_t>(bins)) ++made[static_cast<std::size_t>(bin)];
    }
    return made;
}

template <class T>
class V15_histogram_types : public testing::Test {};
TYPED_TEST_SUITE(V15_histogram_types, number_types);

TYPED_TEST(V15_histogram_types, even_bins_and_edges) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_histograms([&](const context& ctx) {
        for (const std::size_t n :
             {std::size_t{0}, std::size_t{1}, std::size_t{65537}, 1 + below(random, 300000)}) {
            std::vector<T> x(n);
            for (T& each : x)
                each = static_cast<T>(static_cast<int>(below(random, 128)) - (T(-1) < T(0) ? 64 : 0));
            const int low = static_cast<int>(below(random, 30)),
                      high = low + 1 + static_cast<int>(below(random, 90));
            const std::size_t bins = 1 + below(random, 100);
            SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(bins) + " bins from " +
                         std::to_string(low) + " to " + std::to_string(high));
            const vector<T> v(ctx, x);
            const auto even = [&](T each) -> std::int64_t {
                if constexpr (std::floating_point<T>)
                    return exact_bin(each, bins, static_cast<T>(low), static_cast<T>(high));
                else
                    return exact_bin(each, bins, low, high);
            };
            EXPECT_EQ(values_of<std::int64_t>(histogram(v, bins, low, high)), counted(x, bins, even));

            std::vector<T> edges{static_cast<T>(low), static_cast<T>(low + 3), static_cast<T>(low + 4),
                                 static_cast<T>(high + 5)};
            const auto between = [&](T each) {
                return std::upper_bound(edges.begin(), edges.end(), each) - edges.begin() - 1;
            };
            std::sort(edges.begin(), edges.end());
            EXPECT_EQ(values_of<std::int64_t>(histogram(v, vector<T>(ctx, edges))), counted(x, 3, between));
        }
    });
}

TEST(V15_histogram, of_few_and_many_bins_and_all_in_one) {
    auto random = seeded_random();
    in_all_histograms([&](const context& ctx) {
        const std::size_t n = 100000 + below(random, 300000);
        for (const std::size_t bins : {1, 2, 255, 256, 1000, 4097, 20000}) {
            SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(bins) + " bins");
            std::vector<int> x(n);
            for (int& each : x) each = static_cast<int>(below(random, bins + 10)) - 5;
            const auto itself = [](int each) { return std::int64_t{each}; };
            EXPECT_EQ(values_of<std::int64_t>(bincount(vector<int>(ctx, x), bins)), counted(x, bins, itself));
            const int same = static_cast<int>(below(random, bins));
            counts wanted(bins);
            wanted[static_cast<std::size_t>(same)] = static_cast<std::int64_t>(n);
            EXPECT_EQ(values_of<std::int64_t>(bincount(vector<int>(ctx, n, same), bins)), wanted);
        }
    });
}

TEST(V15_histogram, labels_beyond_32_bits_are_no_bins) {
    on_all_contexts([](const context& ctx) {
        const vector<std::int64_t> x(ctx, {0, 1, std::int64_t{1} << 32, -(std::int64_t{1} << 32), -1,
                                           std::numeric_limits<std::int64_t>::max(), 1});
        EXPECT_EQ(values_of<std::int64_t>(bincount(x, 3)), (counts{1, 2, 0}));
        const vector<std::uint64_t> u(ctx, {0u, ~std::uint64_t{0}, std::uint64_t{1} << 63, 7u});
        const vector<std::uint8_t> bytes(ctx, {0, 255, 254, 255});
        counts of_bytes(300);
        of_bytes[0] = of_bytes[254] = 1;
        of_bytes[255] = 2;
        EXPECT_EQ(values_of<std::int64_t>(bincount(bytes, 300)), of_bytes);
        EXPECT_EQ(values_of<std::int64_t>(bincount(bytes, 256)),
                  counts(of_bytes.begin(), of_bytes.begin() + 256));
        EXPECT_EQ(values_of<std::int64_t>(bincount(bytes, 255)),
                  counts(of_bytes.begin(), of_bytes.begin() + 255));
        EXPECT_EQ(values_of<std::int64_t>(bincount(u, 8)), (counts{1, 0, 0, 0, 0, 0, 0, 1}));
        EXPECT_EQ(values_of<std::int64_t>(histogram(u, 2, std::uint64_t{0}, ~std::uint64_t{0})),
                  (counts{2, 1}));
        const std::int64_t quarter = std::int64_t{1} << 62;
        const vector<std::int64_t> wide(ctx, {std::numeric_limits<std::int64_t>::min(), -quarter, quarter, 5,
                                              std::numeric_limits<std::int64_t>::max()});
        EXPECT_EQ(values_of<std::int64_t>(histogram(wide, 2, std::numeric_limits<std::int64_t>::min(),
                                                    std::numeric_limits<std::int64_t>::max())),
                  (counts{2, 2}));
    });
}

/// The numbers around all edges, in a range that is scaled by a power of two.
template <class T>
void counts_numbers_at_edges(const context& ctx, std::mt19937_64& random, T low, T high, std::size_t bins) {
    SCOPED_TRACE(testing::Message() << bins << " bins from " << low << " to " << high);
    std::vector<T> x{low,
                     high,
                     std::nextafter(low, high),
                     std::nextafter(high, low),
                     0,
                     -T(0),
                     std::numeric_limits<T>::denorm_min(),
                     -std::numeric_limits<T>::denorm_min()};
    for (int k = 0; k < 3000; ++k) {
        const auto part = static_cast<T>(below(random, bins + 1)) / static_cast<T>(bins);
        T edge = low * (1 - part) + high * part;
        for (std::size_t steps = below(random, 3); steps > 0; --steps)
            edge = std::nextafter(edge, below(random, 2) == 0 ? low : high);
        x.push_back(edge);
    }
    EXPECT_EQ(values_of<std::int64_t>(histogram(vector<T>(ctx, x), bins, low, high)),
              counted(x, bins, [&](T each) { return exact_bin(each, bins, low, high); }));
}
template <class T>
void counts_in_all_ranges(const context& ctx, std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    const T least = limits::denorm_min();
    const auto any = [&] { return static_cast<T>(static_cast<int>(below(random, 2001)) - 1000) / T(8); };
    for (const std::size_t bins : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10},
                                   1 + below(random, 1000), std::size_t{1} << 20}) {
        const T a = any();
        const std::vector<std::pair<T, T>> ranges{{limits::lowest(), limits::max()},
                                                  {limits::lowest(), -least},
                                                  {least, limits::max()},
                                                  {-least, limits::max() / 2},
                                                  {0, least},
                                                  {0, 10 * least},
                                                  {-1000 * least, 24 * least},
                                                  {limits::min(), 3 * limits::min()},
                                                  {-1, 1},
                                                  {0, 1},
                                                  {T(0.1), T(0.7)},
                                                  {T(1000000), T(1000001)},
                                                  {T(-3), T(-3) + 64 * limits::epsilon()},
                                                  {a, a + static_cast<T>(1 + below(random, 300)) / T(8)}};
        for (const auto& [low, high] : ranges) counts_numbers_at_edges<T>(ctx, random, low, high, bins);
    }
}
TEST(V15_histogram, even_bins_of_floats_have_exact_edges) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        counts_in_all_ranges<float>(ctx, random);
        if (ctx.device(0).info().has_double) counts_in_all_ranges<double>(ctx, random);
        // Halves are computed in 32 bits.
        const vector<half> x(ctx, {half(-65504.f), half(65504.f), half(0.f), half(-0.5f)});
        EXPECT_EQ(values_of<std::int64_t>(histogram(x, 2, -65504, 65504)), (counts{2, 1}));
    });
}

template <class T, class L, class H>
void counts_integers(const context& ctx, std::mt19937_64& random, L low, H high, std::size_t bins) {
    SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, " << bins << " bins from " << +low << " to "
                                    << +high);
    using limits = std::numeric_limits<T>;
    std::vector<T> x{limits::min(),
                     limits::max(),
                     static_cast<T>(low),
                     static_cast<T>(high),
                     static_cast<T>(static_cast<std::uint64_t>(low) - 1),
                     static_cast<T>(static_cast<std::uint64_t>(high) - 1),
                     T(0),
                     static_cast<T>(-1)};
    for (int k = 0; k < 3000; ++k) {
        // Around an edge, modulo 2^64.
        __extension__ using wide = __int128;
        const wide part =
            (wide{high} - wide{low}) * static_cast<wide>(below(random, bins + 1)) / static_cast<wide>(bins);
        x.push_back(static_cast<T>(wide{low} + part + static_cast<wide>(below(random, 3)) - 1));
        x.push_back(static_cast<T>(random()));
    }
    EXPECT_EQ(values_of<std::int64_t>(histogram(vector<T>(ctx, x), bins, low, high)),
              counted(x, bins, [&](T each) { return exact_bin(each, bins, low, high); }));
}
TEST(V15_histogram, even_bins_of_integers_have_exact_edges) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        using i32 = std::numeric_limits<std::int32_t>;
        using i64 = std::numeric_limits<std::int64_t>;
        using u64 = std::numeric_limits<std::uint64_t>;
        for (const std::size_t bins :
             {std::size_t{1}, std::size_t{3}, std::size_t{1000}, 1 + below(random, 100000)}) {
            counts_integers<std::int32_t>(ctx, random, i32::min(), i32::max(), bins);
            counts_integers<std::int32_t>(ctx, random, -5, 10u, bins);  // not -5 as an unsigned number
            counts_integers<std::int32_t>(ctx, random, i32::max() - 7, u64::max(), bins);
            counts_integers<std::int64_t>(ctx, random, i64::min(), i64::max(), bins);
            counts_integers<std::int64_t>(ctx, random, i64::min() + 1, std::uint64_t{1} << 62, bins);
            counts_integers<std::int64_t>(ctx, random, static_cast<std::int64_t>(random() >> 2), u64::max(),
                                          bins);
            counts_integers<std::uint64_t>(ctx, random, 0, u64::max(), bins);
            counts_integers<std::uint64_t>(ctx, random, -3, 12, bins);
            counts_integers<std::uint64_t>(ctx, random, random() >> 1, u64::max() - (random() >> 2), bins);
            counts_integers<std::uint8_t>(ctx, random, -100, 1000, bins);
            counts_integers<std::int16_t>(ctx, random, 40000, 50000, bins);
        }
        const vector<std::int64_t> x(ctx, {1, 2});
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(x, 4, -1, u64::max())); }),
                    HasSubstr("below 2^64"));
        const vector<float> f(ctx, {1.f});
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(f, 4, 0.0, 1e300)); }),
                    HasSubstr("both must be finite"));
    });
}

TEST(V15_histogram, more_elements_than_32_bits_count) {
    on_all_devices([](const device& on) {
        if (on.info().type == device_type::cpu || on.info().global_memory < std::uint64_t{16} << 30) return;
        const std::size_t n = (std::size_t{1} << 32) + 12345;
        vector<std::uint8_t> x(context({on}), n, std::uint8_t{3});
        counts wanted(5);
        wanted[3] = static_cast<std::int64_t>(n);
        EXPECT_EQ(values_of<std::int64_t>(bincount(x, 5)), wanted);
    });
}

TEST(V15_histogram, nan_and_infinity_are_in_no_bin) {
    on_all_contexts([](const context& ctx) {
        const float nan = std::numeric_limits<float>::quiet_NaN(),
                    inf = std::numeric_limits<float>::infinity();
        const vector<float> x(ctx, {nan, inf, -inf, 0.f, -0.f, 1.f, std::nextafter(1.f, 0.f), 1e-45f});
        EXPECT_EQ(values_of<std::int64_t>(histogram(x, 3, 0.0, 1.0)), (counts{3, 0, 1}));
        EXPECT_EQ(values_of<std::int64_t>(histogram(x, vector<float>(ctx, {0.f, 0.5f, 1.f}))),
                  (counts{3, 1}));
        EXPECT_EQ(values_of<std::int64_t>(histogram(x, vector<float>(ctx, {-inf, 0.f, inf}))),
                  (counts{1, 5}));
    });
}

TEST(V15_histogram, weights) {
    auto random = seeded_random();
    in_all_histograms([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 200000), bins = 1 + below(random, 300);
        SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(bins) + " bins");
        std::vector<int> x(n), w(n);
        std::vector<double> f(n);
        std::vector<int> sums(bins);
        std::vector<double> float_sums(bins), magnitudes(bins);
        std::uniform_real_distribution<double> number(-1, 1);
        for (std::size_t k = 0; k < n; ++k) {
            x[k] = static_cast<int>(below(random, bins + 2)) - 1;
            w[k] = static_cast<int>(below(random, 1000)) - 500;
            f[k] = number(random);
            if (x[k] < 0 || x[k] >= static_cast<int>(bins)) continue;
            const auto bin = static_cast<std::size_t>(x[k]);
            sums[bin] += w[k];
            float_sums[bin] += f[k];
            magnitudes[bin] += std::fabs(f[k]);
        }
        const vector<int> labels(ctx, x);
        EXPECT_EQ(values_of<int>(bincount(labels, bins, vector<int>(ctx, w))), sums);
        const std::vector<double> got = values_of<double>(bincount(labels, bins, vector<double>(ctx, f)));
        for (std::size_t k = 0; k < bins; ++k)
            EXPECT_NEAR(got[k], float_sums[k],
                        static_cast<double>(n) * std::numeric_limits<double>::epsilon() * magnitudes[k]);
        EXPECT_EQ(values_of<int>(histogram(labels, bins, 0, static_cast<int>(bins), vector<int>(ctx, w))),
                  sums);
    });
}

TEST(V15_histogram, channels_and_expressions) {
    auto random = seeded_random();
    in_all_histograms([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 100000);
        std::vector<uchar4> pixels(n);
        counts wanted(3 * 256);
        for (uchar4& each : pixels) {
            for (int c = 0; c < 4; ++c) each[c] = static_cast<std::uint8_t>(below(random, 256));
            for (int c = 0; c < 3; ++c) ++wanted[static_cast<std::size_t>(c) * 256 + each[c]];
        }
        const vector<uchar4> p(ctx, pixels);
        const auto channels = std::tuple(lane<0>(p), lane<1>(p), lane<2>(p));
        EXPECT_EQ(values_of<std::int64_t>(bincount(channels, 256)), wanted);
        const auto all_of_them = bincount(channels, 256);
        const vector<std::int64_t> green = view(all_of_them, {3, 256})(1, all);
        EXPECT_EQ(values_of<std::int64_t>(green), counts(wanted.begin() + 256, wanted.begin() + 512));

        vector<int> x(ctx, n);
        x = cast<int>(element_index() % 10);
        vector<std::int64_t> into(ctx, 5);
        into = 2 * bincount(x / 2, 5) + element_index();
        counts doubled(5);
        for (std::size_t k = 0; k < n; ++k) doubled[k % 10 / 2] += 2;
        for (std::size_t k = 0; k < 5; ++k) doubled[k] += static_cast<std::int64_t>(k);
        EXPECT_EQ(values_of<std::int64_t>(into), doubled);
        EXPECT_EQ(sum(bincount(x, 10)), static_cast<std::int64_t>(n));
    });
}

TEST(V15_histogram, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3}), y(ctx, {1, 2, 3, 4, 5});
        const vector<float> f(ctx, {1.f, 2.f, 3.f});
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(bincount(x, 0)); }),
                    HasSubstr("a histogram cannot have 0 bins"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(x, 0, 1, 5)); }),
                    HasSubstr("a histogram cannot have 0 bins"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(f, 4, 1.0, 1.0)); }),
                    HasSubstr("a histogram cannot have bins from 1 to 1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(f, 4, 0.0, std::nan(""))); }),
                    HasSubstr("both must be finite"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(histogram(x, 4, 5, 1)); }),
                    HasSubstr("from 5 to 1"));
        EXPECT_THAT(
            message_of<usage_error>([&] { static_cast<void>(histogram(f, vector<float>(ctx, {1.f}))); }),
            HasSubstr("a histogram cannot have 1 edges"));
        EXPECT_THAT(message_of<usage_error>([&] { vector<int> v = bincount(x, 4, y); }), HasSubstr("5"));
    });
}

TEST(V15_histogram, new_bins_and_sizes_compile_nothing) {
    on_all_contexts([](const context& ctx) {
        const auto count_some = [&](std::size_t bins, std::size_t n) {
            vector<float> x(ctx, n);
            x = cast<float>(element_index() % 10);
            EXPECT_EQ(sum(histogram(x, bins, 0.0, static_cast<double>(bins))),
                      std::min<std::int64_t>(static_cast<std::int64_t>(n), static_cast<std::int64_t>(bins)));
        };
        count_some(2, 3);
        count_some(10, 10);
        EXPECT_EQ(compilations_of([&] { count_some(9, 9); }), 0);  // room for 16 bins on GPUs, too
    });
}

TEST(V15_histogram_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm", "V15_histogram.*-*compile_nothing");
}

}  // namespace

}  // namespace balm::test

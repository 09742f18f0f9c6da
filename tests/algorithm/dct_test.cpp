// Cosine and sine transforms against sums in long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/host_fft.hpp"
#include "balm/error.hpp"
#include "balm/spectral.hpp"
#include "balm/vector.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using wide_reals = std::vector<long double>;

constexpr long double pi = 3.14159265358979323846264338327950288L;

/// cos(π numerator / denominator), with the angle reduced in integers.
long double cosine(std::uint64_t numerator, std::uint64_t denominator) {
    return std::cos(pi * static_cast<long double>(numerator % (2 * denominator)) /
                    static_cast<long double>(denominator));
}
long double sine(std::uint64_t numerator, std::uint64_t denominator) {
    return std::sin(pi * static_cast<long double>(numerator % (2 * denominator)) /
                    static_cast<long double>(denominator));
}

/// By the definitions of docs/fft.md.
wide_reals dct_on_host(const wide_reals& x, bool is_sine, int type) {
    const std::size_t n = x.size();
    wide_reals y(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) {
            const bool is_end =
                type == 1 ? !is_sine && (j == 0 || j == n - 1) : type == 3 && j == (is_sine ? n - 1 : 0);
            const long double factor = is_end ? 1 : 2;
            long double wave = 0;
            if (type == 1) wave = is_sine ? sine((k + 1) * (j + 1), n + 1) : cosine(k * j, n - 1);
            if (type == 2)
                wave = is_sine ? sine((k + 1) * (2 * j + 1), 2 * n) : cosine(k * (2 * j + 1), 2 * n);
            if (type == 3)
                wave = is_sine ? sine((2 * k + 1) * (j + 1), 2 * n) : cosine((2 * k + 1) * j, 2 * n);
            if (type == 4) wave = (is_sine ? sine : cosine)((2 * k + 1) * (2 * j + 1), 4 * n);
            y[k] += factor * x[j] * wave;
        }
    return y;
}
void dct_lines_on_host(wide_reals& x, std::size_t n, std::size_t inner, bool is_sine, int type) {
    for (std::size_t first = 0; first < x.size(); ++first) {
        if (first / inner % n != 0) continue;
        wide_reals line(n);
        for (std::size_t k = 0; k < n; ++k) line[k] = x[first + k * inner];
        line = dct_on_host(line, is_sine, type);
        for (std::size_t k = 0; k < n; ++k) x[first + k * inner] = line[k];
    }
}

template <class R>
wide_reals widened_reals(const R& x) {
    return {x.begin(), x.end()};
}

/// The L2 error in terms of the result, over the type's epsilon and the square root of the levels, is below
/// that of Fourier transforms and of one pass more.
template <class T, class R>
void expect_near_reals(const R& got, const wide_reals& wanted, long double most = 2) {
    ASSERT_EQ(got.size(), wanted.size());
    long double error = 0, size = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const long double difference = static_cast<long double>(got[k]) - wanted[k];
        error += difference * difference;
        size += wanted[k] * wanted[k];
    }
    const auto levels = std::log2(static_cast<long double>(std::max<std::size_t>(wanted.size(), 2)));
    EXPECT_LT(std::sqrt(error / size / levels) / std::numeric_limits<T>::epsilon(), most);
}

template <class T>
void transforms_of_type(const context& ctx, std::mt19937_64& random, std::size_t n, int type, bool is_sine) {
    SCOPED_TRACE((is_sine ? "sine, type " : "cosine, type ") + std::to_string(type) + ", of " +
                 std::to_string(n));
    const auto x = random_reals<T>(random, n);
    vector<T> y(ctx, x);
    y = is_sine ? dst(y, type) : dct(y, type);
    expect_near_reals<T>(y.to_host(), dct_on_host(widened_reals(x), is_sine, type));
    const vector<T> back = is_sine ? idst(y, type) : idct(y, type);
    expect_near_reals<T>(back.to_host(), widened_reals(x), 4);
}
TEST(V13_dct, of_all_types) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        // All of them take complex transforms of 8 or 9 numbers.
        for (int type = 2; type <= 4; ++type)
            for (const bool is_sine : {false, true})
                for (const std::size_t n : {9u, 16u})
                    transforms_of_type<float>(ctx, random, n, type, is_sine);
        transforms_of_type<float>(ctx, random, 9, 1, false);
        transforms_of_type<float>(ctx, random, 7, 1, true);
        transforms_of_type<float>(ctx, random, 8, 1, true);
    });
}

TEST(V13_dct, of_any_size) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const bool is_sine : {false, true}) transforms_of_type<double>(ctx, random, 1, 2, is_sine);
        transforms_of_type<double>(ctx, random, 2, 1, false);
        for (std::size_t k = 0; k < case_count(1); ++k)
            transforms_of_type<double>(ctx, random, 3 + random() % 68, 1 + static_cast<int>(random() % 4),
                                       random() % 2 == 1);
    });
}

TEST(V13_dct, of_large_sizes_by_several_passes) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const array::forced_fft few{ctx.device(0).info().type == device_type::cpu
                                        ? array::fft_shape::lines_an_item
                                        : array::fft_shape::tile_a_group,
                                    {64, 64, 16}};
        array::force_ffts(&few);
        for (const bool is_sine : {false, true}) transforms_of_type<double>(ctx, random, 2048, 2, is_sine);
        array::force_ffts(nullptr);
    });
}

TEST(V13_dct, along_dimensions_and_of_expressions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t planes = 3, rows = 9, columns = 16;
        const auto x = random_reals<float>(random, planes * rows * columns);
        const vector<float> v(ctx, x);
        const shape box(planes, rows, columns);
        vector<float> y(ctx, v.size());
        wide_reals wanted = widened_reals(x);
        for (long double& each : wanted) each *= 2;
        dct_lines_on_host(wanted, columns, 1, false, 2);
        y = 0.5f * dct(2.0f * view(v, box), 2, along(1, 2)) + 0.0f;
        dct_lines_on_host(wanted, rows, columns, false, 2);
        for (long double& each : wanted) each /= 2;
        expect_near_reals<float>(y.to_host(), wanted);
        y = idct(view(y, box), 2, along(1, 2));
        expect_near_reals<float>(y.to_host(), widened_reals(x), 4);
        // Columns, of an even number and turned around.
        const auto turned = view(v, {planes * rows, columns}).transpose();
        const vector<float> z = dst(turned, 4, along(0));
        wide_reals columns_of = widened_reals(vector<float>(turned).to_host());
        dct_lines_on_host(columns_of, columns, planes * rows, true, 4);
        expect_near_reals<float>(z.to_host(), columns_of);
    });
}

TEST(V13_dct, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<float> x(ctx, 12), one(ctx, 1), none(ctx, 0);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(dct(x, 5)); }),
                    HasSubstr("there is no cosine transform of type 5; types are 1 to 4"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(dst(x, 0)); }),
                    HasSubstr("no sine transform of type 0"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(dct(one, 1)); }),
                    HasSubstr("at least 2 elements"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(dct(view(x, {3, 4}), 2, along(2)));
                    }),
                    HasSubstr("along dimension 2 of 3 x 4"));
        const vector<float> y = dct(none);
        EXPECT_EQ(y.size(), 0u);
    });
}

TEST(V13_dct, of_three_devices) { run_on_three_devices("test_algorithm", "V13_dct.along_dimensions*"); }

}  // namespace

}  // namespace balm::test

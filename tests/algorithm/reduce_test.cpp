// sum, min and max against the host in higher precision.

#include "balm/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

template <class T>
class V10_reductions : public testing::Test {};
using all_types = testing::Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                 std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(V10_reductions, all_types);

TYPED_TEST(V10_reductions, agree_with_the_host_at_all_sizes) {
    using T = TypeParam;
    using S = decltype(sum(vector<T>()));
    static_assert(
        std::same_as<
            S, std::conditional_t<std::same_as<T, bool>, std::int64_t, canonical<decltype(T{} + T{})>>>);
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {1u, 15u, 255u, 256u, 257u, 32769u, 1000003u}) {
            // Sums of small integers stay within 32 bits.
            const auto x = [&] {
                if constexpr (sizeof(T) < 8 && std::integral<T> && !std::same_as<T, bool>)
                    return random_values<T>(random, n, T(std::signed_integral<T> ? -100 : 0), T(100));
                else if constexpr (std::floating_point<T>)
                    return random_values<T>(random, n, T(-1), T(3));
                else if constexpr (std::same_as<T, std::int64_t>)
                    return random_values<T>(random, n, -T(1e12), T(1e12));
                else
                    return random_values<T>(random, n);
            }();
            const vector<T> X(ctx, std::span<const T>(x));
            if constexpr (std::floating_point<T>) {
                long double exact = 0, magnitude = 0;
                for (const T value : x) {
                    exact += value;
                    magnitude += std::abs(value);
                }
                // Blocked summation: the error grows with the elements of a chunk and accumulator, 32768
                // / 16.
                const long double bound = 2048 * std::numeric_limits<T>::epsilon() * magnitude;
                EXPECT_NEAR(static_cast<double>(sum(X)), static_cast<double>(exact),
                            static_cast<double>(bound))
                    << n;
            } else {
                S exact = 0;
                for (const T value : x) exact = static_cast<S>(exact + static_cast<S>(value));
                EXPECT_EQ(sum(X), exact) << n;
            }
            EXPECT_EQ(min(X), *std::min_element(x.begin(), x.end())) << n;
            EXPECT_EQ(max(X), *std::max_element(x.begin(), x.end())) << n;
        }
    });
}

TEST(V10_reductions_of_expressions, count_dot_and_extremes) {
    auto random = seeded_random();
    const std::size_t n = 100003;
    const auto x = random_values<double>(random, n, -1.0, 1.0),
               y = random_values<double>(random, n, -1.0, 1.0);
    on_all_contexts([&](const context& ctx) {
        const vector<double> X(ctx, std::span<const double>(x)), Y(ctx, std::span<const double>(y));
        long double dot = 0;
        std::int64_t inside = 0;
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            dot += static_cast<long double>(x[i]) * y[i];
            inside += std::fma(x[i], x[i], y[i] * y[i]) < 1;
            largest = std::max(largest, std::abs(x[i]));
        }
        EXPECT_NEAR(sum(X * Y), static_cast<double>(dot), 1e-10);
        EXPECT_EQ(sum(X * X + Y * Y < 1.0), inside);
        EXPECT_EQ(max(abs(X)), largest);
        EXPECT_EQ(sum(X * 0 + 2), 2.0 * static_cast<double>(n));
        EXPECT_EQ(sum(element_index(0, n) + cast<long>(X * 0)), static_cast<std::int64_t>(n * (n - 1) / 2));
    });
}

TEST(V10_reductions_of_special_values, pass_over_nan_and_keep_infinities) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    on_all_contexts([&](const context& ctx) {
        const vector<double> X(ctx, {nan, 3.0, nan, -7.0, nan});
        EXPECT_EQ(min(X), -7);
        EXPECT_EQ(max(X), 3);
        EXPECT_TRUE(std::isnan(sum(X)));
        const vector<double> Y(ctx, {1.0, inf, -inf});
        EXPECT_EQ(min(Y), -inf);
        EXPECT_EQ(max(Y), inf);
        EXPECT_TRUE(std::isnan(sum(Y)));
        const vector<float> Z(ctx, {-5.f, -2.f});
        EXPECT_EQ(max(Z), -2.f);
    });
}

TEST(V10_reductions_of_special_values, of_nothing_but_nan_are_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, {nan, nan});
        EXPECT_TRUE(std::isnan(min(X)));
        EXPECT_TRUE(std::isnan(max(X)));
    });
}

TEST(V10_reductions_of_nothing, are_zero_or_refused) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, 0);
        EXPECT_EQ(sum(X), 0.f);
        EXPECT_EQ(sum(X < 1), 0);
        EXPECT_THAT(message_of<usage_error>([&] { min(X); }), testing::HasSubstr("no elements"));
        EXPECT_THAT(message_of<usage_error>([&] { max(X + 1); }), testing::HasSubstr("no elements"));
    });
}

}  // namespace
}  // namespace balm::test

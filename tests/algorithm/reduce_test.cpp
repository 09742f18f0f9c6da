// Reductions of vectors and expressions against the host in higher precision, shared out in every way.

#include "balm/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithm/reduce_ways.hpp"
#include "balm/balm.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

template <class T>
void agree_with_the_host_at_all_sizes() {
    using S = decltype(sum(vector<T>()));
    using widest =
        std::conditional_t<std::unsigned_integral<T> && !std::same_as<T, bool>, std::uint64_t, std::int64_t>;
    static_assert(std::same_as<S, std::conditional_t<sizeof(T) <= 2, widest, T>>);
    auto random = seeded_random();
    in_all_ways([&](const context& ctx, policy how) {
        for (const std::size_t n : {1u, 15u, 255u, 256u, 257u, 32769u, 1000003u}) {
            // Sums of 32 bits stay within them.
            const auto x = [&] {
                if constexpr (sizeof(T) == 4 && std::integral<T>)
                    return random_values<T>(random, n, T(std::signed_integral<T> ? -100 : 0), T(100));
                else if constexpr (std::floating_point<T>)
                    return random_values<T>(random, n, T(-1), T(3));
                else if constexpr (std::same_as<T, std::int64_t>)
                    return random_values<T>(random, n, -T(1e12), T(1e12));
                else
                    return random_values<T>(random, n);
            }();
            const vector<T> X(ctx, std::span<const T>(x));
            const auto [total, least, most, first_least, first_most, true_ones, is_any, are_all] =
                reduce(how, sum_of(X), min_of(X), max_of(X), arg_min_of(X), arg_max_of(X), count_of(X),
                       any_of(X), all_of(X));
            if constexpr (std::floating_point<T>) {
                long double exact = 0, magnitude = 0;
                for (const T value : x) {
                    exact += value;
                    magnitude += std::abs(value);
                }
                // At most 64 terms one after the other, on two levels, and trees of 32 lanes and 4,096 parts.
                const long double bound = 150 * std::numeric_limits<T>::epsilon() * magnitude;
                EXPECT_NEAR(static_cast<double>(total), static_cast<double>(exact),
                            static_cast<double>(bound))
                    << n;
            } else {
                S exact = 0;
                for (const T value : x) exact = static_cast<S>(exact + static_cast<S>(value));
                EXPECT_EQ(total, exact) << n;
            }
            const auto lowest = std::min_element(x.begin(), x.end());
            const auto highest = std::max_element(x.begin(), x.end());
            const auto at = [&](auto found) { return static_cast<std::size_t>(found - x.begin()); };
            EXPECT_EQ(least, *lowest) << n;
            EXPECT_EQ(most, *highest) << n;
            EXPECT_EQ(first_least, (extreme<T>{*lowest, at(lowest)})) << n;
            EXPECT_EQ(first_most, (extreme<T>{*highest, at(highest)})) << n;
            const auto expected_count =
                std::count_if(x.begin(), x.end(), [](T value) { return value != T{}; });
            EXPECT_EQ(true_ones, expected_count) << n;
            EXPECT_EQ(is_any, expected_count > 0) << n;
            EXPECT_EQ(are_all, static_cast<std::size_t>(expected_count) == n) << n;
        }
    });
}

template <class T>
class V10_reductions : public testing::Test {};
using some_types = testing::Types<bool, std::int32_t, float, double>;
TYPED_TEST_SUITE(V10_reductions, some_types);

TYPED_TEST(V10_reductions, agree_with_the_host_at_all_sizes) {
    agree_with_the_host_at_all_sizes<TypeParam>();
}

template <class T>
class V10_reductions_types : public testing::Test {};
using other_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t,
                                   std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(V10_reductions_types, other_types);

TYPED_TEST(V10_reductions_types, agree_with_the_host_at_all_sizes) {
    agree_with_the_host_at_all_sizes<TypeParam>();
}

TEST(V10_spread_reductions, are_of_what_each_device_found) {
    run_on_three_devices(
        "test_algorithm",
        "V10_reductions/1*:V10_reductions_of_cond*:V10_reductions_of_pos*:V10_folds*:V10_several_reductions*:"
        "B7_portable_reductions_of_f*");
}

template <class T>
class V10_products : public testing::Test {};
using multiplied_types = testing::Types<bool, std::int8_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(V10_products, multiplied_types);

TYPED_TEST(V10_products, wrap_and_round) {
    using T = TypeParam;
    using P = decltype(product(vector<T>()));
    auto random = seeded_random();
    in_all_ways([&](const context& ctx, policy how) {
        for (const std::size_t n : {1u, 33u, 40000u}) {
            const auto x = [&] {
                if constexpr (std::floating_point<T>)
                    return random_values<T>(random, n, T(0.9999), T(1.0001));
                else if constexpr (std::same_as<T, bool>)
                    return random_values<T>(random, n);
                else
                    return random_values<T>(random, n, T(1), T(3));
            }();
            const P got = product(vector<T>(ctx, std::span<const T>(x)), how);
            if constexpr (std::floating_point<T>) {
                long double expected = 1;
                for (const T value : x) expected *= value;
                EXPECT_NEAR(got, static_cast<double>(expected),
                            static_cast<double>(expected * n) * std::numeric_limits<T>::epsilon())
                    << n;
            } else {
                std::make_unsigned_t<P> expected = 1;  // wraps
                for (const T value : x) expected *= static_cast<std::make_unsigned_t<P>>(value);
                EXPECT_EQ(got, static_cast<P>(expected)) << n;
            }
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

TEST(V10_reductions_of_conditions, stop_at_no_type) {
    auto random = seeded_random();
    const std::size_t n = 70001;
    const auto x = random_values<float>(random, n, -1.f, 1.f);
    const auto k = random_values<std::int16_t>(random, n, std::int16_t(-3), std::int16_t(3));
    in_all_ways([&](const context& ctx, policy how) {
        const vector<float> X(ctx, std::span<const float>(x));
        const vector<std::int16_t> K(ctx, std::span<const std::int16_t>(k));
        std::int64_t below = 0, both = 0;
        for (std::size_t i = 0; i < n; ++i) {
            below += x[i] < 0.25f;
            both += x[i] < 0 && k[i] != 0;
        }
        EXPECT_EQ(count(X < 0.25f, how), below);
        EXPECT_EQ(count(X < 0 && K, how), both);
        EXPECT_FALSE(any(X > 1, how));
        EXPECT_TRUE(all(X <= 1));
        EXPECT_EQ(any(K == 3, how), std::find(k.begin(), k.end(), 3) != k.end());
        EXPECT_EQ(reduce(how, all_of(select(K < 0, -K, K) >= 0)), true);
    });
}

TEST(V10_reductions_of_positions, find_the_first_of_several) {
    auto random = seeded_random();
    const std::size_t n = 300007;
    const auto x = random_values<std::int32_t>(random, n, -50, 50);
    auto y = random_values<double>(random, n, -1.0, 1.0);
    for (std::size_t i = 0; i < n; i += 3) y[i] = std::numeric_limits<double>::quiet_NaN();
    const std::size_t place = 1 + random() % (n / 2);
    y[place] = y[place + 7] = y[n - 1] = -5;
    in_all_ways([&](const context& ctx, policy how) {
        const vector<std::int32_t> X(ctx, std::span<const std::int32_t>(x));
        const vector<double> Y(ctx, std::span<const double>(y));
        EXPECT_EQ(arg_min(X, how).position,
                  static_cast<std::size_t>(std::min_element(x.begin(), x.end()) - x.begin()));
        EXPECT_EQ(arg_max(X, how).position,
                  static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin()));
        EXPECT_EQ(arg_min(Y, how), (extreme<double>{-5, place}));
        EXPECT_EQ(arg_max(2 * -Y, how), (extreme<double>{10, place}));
    });
}

template <class T>
class V10_sums_of_small_integers : public testing::Test {};
using small_integers = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>;
TYPED_TEST_SUITE(V10_sums_of_small_integers, small_integers);

TYPED_TEST(V10_sums_of_small_integers, have_64_bits) {
    using T = TypeParam;
    using S = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    // The most extreme number, so often that 32 bits do not hold the sum.
    const T extreme = std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    const std::size_t n = sizeof(T) == 1 ? 17000000 : 70000, columns = n / 1000;
    const S expected = static_cast<S>(n) * static_cast<S>(extreme);
    on_all_contexts([&](const context& ctx) {
        const vector<T> X(ctx, n, extreme);
        EXPECT_EQ(sum(X), expected);
        EXPECT_EQ(sum(X, policy::portable), expected);
        EXPECT_EQ(dot(X, X), expected * static_cast<S>(extreme));
        EXPECT_EQ(dot(X, X > 0 || X < 0), expected);
        EXPECT_EQ(mean(X), static_cast<double>(extreme));
        const auto [total, least] = reduce(sum_of(X), min_of(X));
        EXPECT_EQ(total, expected);
        EXPECT_EQ(least, extreme);
        vector<S> into(ctx, 1);
        sum_into(into, X);
        EXPECT_EQ(S(into[0]), expected);
        into = sum(view(X, {1000, columns}), along(0, 1));
        EXPECT_EQ(S(into[0]), expected);
        into = sum(view(X, {n, 1}), along(0));
        EXPECT_EQ(S(into[0]), expected);
        EXPECT_EQ(product(X(slice(0, 4))), static_cast<S>(extreme) * extreme * extreme * extreme);
    });
}

TEST(V10_sums, of_f32_keep_small_terms) {
    auto random = seeded_random();
    const std::size_t n = (std::size_t{1} << 24) + random() % 1000;
    host_array<float> x{shape(n)};
    long double exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float u = static_cast<float>(random() >> 40) / (1 << 24);
        x[i] = i % 1024 == 7 ? 1000 * u : 1e-4f * u;
        exact += x[i];
        magnitude += std::abs(x[i]);
    }
    in_all_ways([&](const context& ctx, policy how) {
        const vector<float> X(ctx, std::span<const float>(x));
        const long double bound = 100 * std::numeric_limits<float>::epsilon() * magnitude;
        EXPECT_LE(std::abs(sum(X, how) - exact), bound);
        // The small ones together, which a running sum of 8 million would lose.
        EXPECT_LE(std::abs(sum(select(X < 1, X, 0), how) / sum(cast<double>(select(X < 1, X, 0)), how) - 1),
                  1e-5);
        EXPECT_LE(std::abs(sum_compensated(X, how) - exact),
                  2 * std::numeric_limits<float>::epsilon() * exact);
    });
}

template <class T>
class V10_compensated_sums : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(V10_compensated_sums, floating_types);

TYPED_TEST(V10_compensated_sums, survive_cancellation) {
    using T = TypeParam;
    auto random = seeded_random();
    const std::size_t half = 50000 + random() % 1000;
    // Pairs that cancel, of any magnitude, and a rest of their smallest bits.
    std::vector<T> x;
    long double rest = 0;
    for (std::size_t i = 0; i < half; ++i) {
        const T large = std::ldexp(static_cast<T>(1 + static_cast<double>(random() % 1000) / 1000),
                                   static_cast<int>(random() % 20));
        const T small = std::ldexp(static_cast<T>(1), -static_cast<int>(random() % 10));
        x.insert(x.end(), {large, static_cast<T>(-large), small});
        rest += small;
    }
    std::shuffle(x.begin(), x.end(), random);
    in_all_ways([&](const context& ctx, policy how) {
        const vector<T> X(ctx, std::span<const T>(x));
        EXPECT_LE(std::abs(sum_compensated(X, how) - rest), 4 * std::numeric_limits<T>::epsilon() * rest);
        const T inf = std::numeric_limits<T>::infinity();
        EXPECT_EQ(sum_compensated(X + inf, how), inf);
        EXPECT_TRUE(std::isnan(sum_compensated(select(X > 0, inf, -inf), how)));
    });
}
TEST(V10_several_reductions, share_a_pass) {
    auto random = seeded_random();
    for (const std::size_t n : {1u, 1000u, 100003u}) {
        const auto x = random_values<double>(random, n, -1.0, 1.0),
                   y = random_values<double>(random, n, -1.0, 1.0);
        const auto k = random_values<std::int32_t>(random, n, -1000, 1000);
        in_all_ways([&](const context& ctx, policy how) {
            const vector<double> X(ctx, std::span<const double>(x)), Y(ctx, std::span<const double>(y));
            const vector<std::int32_t> K(ctx, std::span<const std::int32_t>(k));
            const auto [dot, least, most, place, total, inside, odd] =
                reduce(how, sum_of(X * Y), min_of(X), max_of(abs(Y)), arg_max_of(K), sum_of(K),
                       count_of(X * X + Y * Y < 1.0), any_of(K % 2 != 0));
            static_assert(std::same_as<decltype(place), const extreme<std::int32_t>>);
            long double exact = 0, magnitude = 0;
            for (std::size_t i = 0; i < n; ++i) {
                exact += static_cast<long double>(x[i]) * y[i];
                magnitude += std::abs(x[i] * y[i]);
            }
            EXPECT_NEAR(dot, static_cast<double>(exact), static_cast<double>(magnitude) * 1e-14);
            EXPECT_EQ(least, *std::min_element(x.begin(), x.end()));
            double largest = 0;
            std::int64_t sum_of_k = 0, within = 0;
            for (std::size_t i = 0; i < n; ++i) {
                largest = std::max(largest, std::abs(y[i]));
                sum_of_k += k[i];
                within += std::fma(x[i], x[i], y[i] * y[i]) < 1;
            }
            EXPECT_EQ(most, largest);
            const auto highest = std::max_element(k.begin(), k.end());
            EXPECT_EQ(place,
                      (extreme<std::int32_t>{*highest, static_cast<std::size_t>(highest - k.begin())}));
            EXPECT_EQ(total, sum_of_k);
            EXPECT_EQ(inside, within);
            EXPECT_EQ(odd, std::any_of(k.begin(), k.end(), [](int value) { return value % 2 != 0; }));
        });
    }
}

TEST(V10_several_reductions, of_different_sizes_are_refused) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, 10, 1.f), Y(ctx, 12, 1.f);
        const std::string fault = message_of<usage_error>([&] { (void)reduce(sum_of(X), max_of(Y)); });
        EXPECT_THAT(fault, testing::AllOf(testing::HasSubstr("10"), testing::HasSubstr("12")));
    });
}

TEST(V10_folds, take_functions_of_two) {
    auto random = seeded_random();
    const std::size_t n = 40961;
    const auto x = random_values<double>(random, n, -9.0, 9.0);
    const auto k = random_values<std::uint32_t>(random, n);
    const auto larger =
        balm::function("larger", [](dsl::Double a, dsl::Double b) { return select(abs(b) > abs(a), b, a); });
    const auto flip = balm::function("flip", [](dsl::UInt a, dsl::UInt b) { return a ^ b; });
    double far = 0;
    for (const double value : x) far = std::abs(value) > std::abs(far) ? value : far;
    std::uint32_t flipped = 0;
    for (const std::uint32_t value : k) flipped ^= value;
    in_all_ways([&](const context& ctx, policy how) {
        const vector<double> X(ctx, std::span<const double>(x));
        const vector<std::uint32_t> K(ctx, std::span<const std::uint32_t>(k));
        EXPECT_EQ(fold(X, 0, larger, how), far);
        EXPECT_EQ(fold(K, 0u, flip, how), flipped);
        const vector<double> nothing(ctx, 0);
        EXPECT_EQ(fold(nothing, 4.5, larger, how), 4.5);
        EXPECT_EQ(fold(X, larger, how), far);
        EXPECT_EQ(fold(nothing, larger, how), 0);
        // -0 is an identity, +0 none: a sum of -0 alone is -0.
        const auto add = balm::function("add", [](dsl::Double a, dsl::Double b) { return a + b; });
        EXPECT_TRUE(std::signbit(fold(vector<double>(ctx, 1000, -0.0), add, how)));
    });
}

TEST(V10_reductions_into_vectors, stay_on_the_device) {
    auto random = seeded_random();
    for (const std::size_t n : {1u, 500u, 200001u}) {
        const auto x = random_values<float>(random, n, -1.f, 1.f);
        in_all_ways([&](const context& ctx, policy how) {
            const vector<float> X(ctx, std::span<const float>(x));
            vector<float> total(ctx, 1), least(ctx, 1), again(ctx, 1);
            vector<std::int64_t> below(ctx, 1);
            vector<bool> whole(ctx, 1);
            sum_into(total, X * 2, how);
            EXPECT_EQ(total[0], sum(X * 2, how));
            reduce_into(how, std::tie(least, below, again), min_of(X), count_of(X < 0), sum_of(X * 2));
            EXPECT_EQ(least[0], min(X));
            EXPECT_EQ(below[0], count(X < 0));
            EXPECT_EQ(again[0], total[0]);
            all_into(whole, X >= -1, how);
            EXPECT_TRUE(whole[0]);
            // Used by an expression with nothing in between.
            const vector<float> scaled = X / total[balm::element_index() * 0];
            EXPECT_EQ(scaled[n - 1], x[n - 1] / total[0]);
        });
    }
}

TEST(V10_reductions_into_vectors, may_read_what_they_write) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, {3.0});
        sum_into(x, x * x);
        EXPECT_EQ(x[0], 9);
        max_into(x, x - 20.0);
        EXPECT_EQ(x[0], -11);
    });
}

TEST(V10_reductions_into_vectors, of_another_size_are_refused) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, 10, 1.f);
        vector<float> two(ctx, 2), none;
        EXPECT_THAT(message_of<usage_error>([&] { sum_into(two, X); }), testing::HasSubstr("has 2 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { max_into(none, X); }), testing::HasSubstr("one element"));
    });
}

TEST(V10_reductions_of_special_values, pass_over_nan_and_keep_infinities) {
    const double nan = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
    in_all_ways([&](const context& ctx, policy how) {
        const vector<double> X(ctx, {nan, 3.0, nan, -7.0, nan});
        EXPECT_EQ(min(X, how), -7);
        EXPECT_EQ(max(X, how), 3);
        EXPECT_EQ(arg_min(X, how), (extreme<double>{-7, 3}));
        EXPECT_EQ(arg_max(X, how), (extreme<double>{3, 1}));
        EXPECT_TRUE(std::isnan(sum(X)));
        const vector<double> Y(ctx, {1.0, inf, -inf});
        EXPECT_EQ(min(Y, how), -inf);
        EXPECT_EQ(max(Y, how), inf);
        // Whole pieces of nothing but NaN, and of nothing but infinities.
        const std::size_t n = 200000;
        const auto i = balm::element_index(0, n);
        EXPECT_EQ(max(select(i == 150001, -4.0, constant(nan)), how), -4);
        EXPECT_EQ(min(select(i < 100000, constant(nan), constant(inf)), how), inf);
        EXPECT_EQ(max(select(i < 100000, constant(nan), constant(-inf)), how), -inf);
        const auto [low, high, total] = reduce(how, min_of(select(i == 7, constant(nan), 2.0)),
                                               max_of(select(i >= 0, constant(nan), 2.0)), sum_of(i));
        EXPECT_EQ(low, 2);
        EXPECT_TRUE(std::isnan(high));
        EXPECT_EQ(total, static_cast<std::int64_t>(n * (n - 1) / 2));
        EXPECT_TRUE(std::isnan(sum(Y)));
        const vector<float> Z(ctx, {-5.f, -2.f});
        EXPECT_EQ(max(Z), -2.f);
    });
}

TEST(V10_reductions_of_special_values, of_nothing_but_nan_are_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    in_all_ways([&](const context& ctx, policy how) {
        const vector<float> X(ctx, {nan, nan});
        EXPECT_TRUE(std::isnan(min(X, how)));
        EXPECT_TRUE(std::isnan(max(X, how)));
        const extreme<float> found = arg_max(X, how);
        EXPECT_TRUE(std::isnan(found.value));
        EXPECT_EQ(found.position, 0u);
    });
}

TEST(V10_reductions_of_positions, multiply_what_the_host_does) {
    on_all_contexts([](const context& ctx) {
        const vector<std::uint64_t> zeros(ctx, 5000, 0);
        std::uint64_t expected = 1;
        for (std::uint64_t k = 0; k < zeros.size(); ++k) expected *= 2 * k + 1;
        for (const bool as_on_gpus : {false, true})
            for (const policy how : {policy::run_to_run, policy::portable}) {
                const shapes_of_gpus chosen(as_on_gpus);
                EXPECT_EQ(product(zeros + 2 * element_index() + 1, how), expected) << as_on_gpus;
            }
    });
}

TEST(V10_reductions_of_nothing, are_zero_or_refused) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, 0);
        EXPECT_EQ(sum(X), 0.f);
        EXPECT_EQ(sum(X < 1), 0);
        EXPECT_THAT(message_of<usage_error>([&] { (void)min(X); }), testing::HasSubstr("no elements"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)max(X + 1); }), testing::HasSubstr("no elements"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)arg_max(X); }), testing::HasSubstr("no elements"));
        EXPECT_EQ(product(X), 1.f);
        EXPECT_EQ(sum_compensated(X), 0.f);
        EXPECT_EQ(count(X), 0);
        EXPECT_FALSE(any(X));
        EXPECT_TRUE(all(X));
        vector<float> one(ctx, 1);
        product_into(one, X);
        EXPECT_EQ(one[0], 1.f);
        EXPECT_THROW(min_into(one, X), usage_error);
    });
}

}  // namespace
}  // namespace balm::test

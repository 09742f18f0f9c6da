// Inner products, norms, means and variances against the host in higher precision.

#include "balm/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> uniform_numbers(std::mt19937_64& random, std::size_t n, double from, double to) {
    std::uniform_real_distribution<double> draw(from, to);
    std::vector<T> x(n);
    for (T& each : x) each = static_cast<T>(draw(random));
    return x;
}

template <class T>
struct V10_statistics : testing::Test {};
using types = testing::Types<float, double, std::int32_t, std::uint8_t>;
TYPED_TEST_SUITE(V10_statistics, types);

TYPED_TEST(V10_statistics, agree_with_the_host) {
    using T = TypeParam;
    using R = std::conditional_t<std::floating_point<T>, T, double>;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{2}, 1 + random() % 70000}) {
            SCOPED_TRACE(n);
            const std::vector<T> x = uniform_numbers<T>(random, n, 1, 100),
                                 y = uniform_numbers<T>(random, n, 1, 100);
            long double inner = 0, squares = 0, total = 0, spread = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const long double a = x[k], b = y[k];
                inner += a * b;
                squares += a * a;
                total += a;
            }
            const long double centre = total / static_cast<long double>(n);
            for (const T each : x) spread += (each - centre) * (each - centre);
            const auto expect_near = [](auto got, long double wanted) {
                const auto near = static_cast<long double>(std::numeric_limits<R>::epsilon()) * 300;
                EXPECT_NEAR(static_cast<double>(got), static_cast<double>(wanted),
                            static_cast<double>(near * (1 + std::abs(wanted))));
            };
            const vector<T> X(ctx, x), Y(ctx, y);
            expect_near(dot(X, Y), inner);
            expect_near(norm2(X), std::sqrt(squares));
            static_assert(std::same_as<decltype(mean(X)), R> && std::same_as<decltype(variance(X)), R>);
            expect_near(mean(X), centre);
            expect_near(mean(2 * cast<R>(X) + 1), 2 * centre + 1);
            expect_near(variance(X), spread / static_cast<long double>(n));
            expect_near(stddev(X), std::sqrt(spread / static_cast<long double>(n)));
            if (n > 1) expect_near(variance(X, 1), spread / static_cast<long double>(n - 1));
        }
    });
}

TEST(V10_statistics_of, complex_numbers) {
    on_all_contexts([&](const context& ctx) {
        using z = std::complex<double>;
        const vector<z> x(ctx, {{1, 2}, {3, -1}}), y(ctx, {{0, 1}, {2, 2}});
        const auto inner = dot(x, y);
        const z wanted = std::conj(z(1, 2)) * z(0, 1) + std::conj(z(3, -1)) * z(2, 2);
        EXPECT_EQ(z(inner.real(), inner.imag()), wanted);
        EXPECT_DOUBLE_EQ(norm2(x), std::sqrt(15.0));
    });
}

TEST(V10_statistics_of, a_complex_vector_and_itself_have_a_real_inner_product) {
    auto random = seeded_random();
    const auto draw = [&]<class T>(T, const context& ctx) {
        using z = std::complex<T>;
        std::vector<z> x(1 + random() % 3000);
        const auto parts = uniform_numbers<T>(random, 2 * x.size(), -1, 1);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = {parts[2 * k], parts[2 * k + 1]};
        const vector<z> X(ctx, x);
        EXPECT_EQ(dot(X, X).imag(), 0);
        EXPECT_GT(dot(X, X).real(), 0);
        // Both products of a part round alike, so factors can be exchanged, and squares of (a, a) are
        // imaginary.
        const vector<z> Y(ctx, std::vector<z>(x.rbegin(), x.rend()));
        const vector<z> P(X * Y), Q(Y * X),
            S(compose<z>(balm::real(X), balm::real(X)) * compose<z>(balm::real(X), balm::real(X)));
        EXPECT_EQ(P.to_host(), Q.to_host());
        EXPECT_FALSE(any(balm::real(S) != 0));
    };
    on_all_contexts([&](const context& ctx) {
        draw(float(), ctx);
        draw(double(), ctx);
    });
}

/// The norm, the mean, the variance and the standard deviation, in a wider range.
struct wide_statistics {
    template <class T>
    explicit wide_statistics(const std::vector<T>& x) {
        std::complex<long double> total = 0;
        for (const T& each : x) {
            total += wide(each);
            norm += std::norm(wide(each));
        }
        const auto n = static_cast<long double>(x.size());
        mean = total / n;
        for (const T& each : x) variance += std::norm(wide(each) - mean) / n;
        norm = std::sqrt(norm);
        stddev = std::sqrt(variance);
    }
    template <std::floating_point T>
    static std::complex<long double> wide(T x) {
        return static_cast<long double>(x);
    }
    template <complex_type T>
    static std::complex<long double> wide(T x) {
        return {x.real(), x.imag()};
    }

    std::complex<long double> mean;
    long double norm = 0, variance = 0, stddev = 0;
};

template <class T>
struct V10_statistics_of_extreme_numbers : testing::Test {};
using extreme_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(V10_statistics_of_extreme_numbers, extreme_types);

TYPED_TEST(V10_statistics_of_extreme_numbers, overflow_and_underflow_only_with_their_results) {
    using E = TypeParam;
    using T = decltype(std::real(E()));
    using limits = std::numeric_limits<T>;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int run = 0; run < 12; ++run) {
            // Numbers of some magnitude, and others that are smaller by up to 2^60.
            const int largest =
                limits::min_exponent - limits::digits + 2 +
                static_cast<int>(random() % (limits::max_exponent - limits::min_exponent + 20));
            const auto draw = [&] {
                const auto digits = static_cast<T>(static_cast<double>(random() % 2000) / 1000 - 1);
                return std::ldexp(digits,
                                  largest - 2 - (random() % 2 == 0 ? 0 : static_cast<int>(random() % 60)));
            };
            std::vector<E> x(1 + random() % 5000);
            for (E& each : x) {
                if constexpr (std::floating_point<E>)
                    each = draw();
                else
                    each = E(draw(), draw());
            }
            SCOPED_TRACE("2^" + std::to_string(largest) + ", " + std::to_string(x.size()) + " numbers");
            const wide_statistics wanted(x);
            const auto expect_near = [&](long double got, long double exact, long double magnitude) {
                // Infinite, subnormal or 0 only if the exact number is.
                if (exact > static_cast<long double>(limits::max()))
                    EXPECT_EQ(got, limits::infinity());
                else
                    EXPECT_LE(std::abs(got - exact),
                              200 * limits::epsilon() * magnitude + limits::denorm_min());
            };
            const vector<E> X(ctx, x);
            for (const policy how : {policy::run_to_run, policy::portable}) {
                expect_near(norm2(X, how), wanted.norm, wanted.norm);
                expect_near(variance(X, 0, how), wanted.variance, wanted.variance);
                expect_near(stddev(X, 0, how), wanted.stddev, wanted.stddev);
            }
            const auto centre = mean(X);
            if constexpr (std::floating_point<E>) {
                expect_near(centre, wanted.mean.real(), wanted.norm);
            } else {
                expect_near(centre.real(), wanted.mean.real(), wanted.norm);
                expect_near(centre.imag(), wanted.mean.imag(), wanted.norm);
            }
        }
        const T inf = limits::infinity(), nan = limits::quiet_NaN(), most = limits::max();
        EXPECT_EQ(norm2(vector<E>(ctx, std::vector<E>{E(3), E(-inf)})), inf);
        EXPECT_TRUE(std::isnan(norm2(vector<E>(ctx, std::vector<E>{E(most), E(nan)}))));
        EXPECT_EQ(norm2(vector<E>(ctx, 100, E(0))), 0);
        EXPECT_EQ(std::real(wide_statistics::wide(mean(vector<E>(ctx, 1000, E(most))))), most);
    });
}

TEST(V10_statistics_of, numbers_that_are_large_beside_their_spread) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        std::vector<float> x(1 + random() % 40000);
        for (float& each : x) each = 1e8f + static_cast<float>(8 * static_cast<int>(random() % 9));
        const wide_statistics wanted(x);
        const auto exact = static_cast<double>(wanted.variance);
        EXPECT_NEAR(variance(vector<float>(ctx, x)), exact, 1e-5 * exact);
        EXPECT_EQ(variance(vector<float>(ctx, 1000, 1e8f)), 0);
    });
}

TEST(V10_statistics_of, short_vectors) {
    on_all_contexts([&](const context& ctx) {
        const vector<float4> x(ctx, {{1, 2, 3, 4}, {3, 2, 1, -4}});
        EXPECT_EQ(mean(x), (float4{2, 2, 2, 0}));
        EXPECT_EQ(variance(x), (float4{1, 0, 1, 16}));
        EXPECT_EQ(variance(x, 1), (float4{2, 0, 2, 32}));
        EXPECT_EQ(stddev(x), (float4{1, 0, 1, 4}));
        const vector<uchar2> pixels(ctx, {{255, 1}, {254, 2}});
        EXPECT_EQ(mean(pixels), (double2{254.5, 1.5}));
        const vector<float2> large(ctx, {{3e38f, 1}, {3e38f, 3}});
        EXPECT_EQ(mean(large), (float2{3e38f, 2}));
    });
}

TEST(V10_statistics_of, no_elements_and_views) {
    on_all_contexts([&](const context& ctx) {
        const vector<double> none(ctx, 0), x(ctx, {1, 2, 3, 6});
        EXPECT_EQ(dot(none, none), 0);
        EXPECT_EQ(norm2(none), 0);
        EXPECT_THAT(message_of<usage_error>([&] { (void)mean(none); }), HasSubstr("no elements"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)variance(x, 4); }),
                    HasSubstr("4 degrees of freedom"));
        EXPECT_EQ(mean(x(slice(0, 3))), 2);
        EXPECT_EQ(mean(x > 2), 0.5);
        EXPECT_EQ(variance(x), 3.5);
        EXPECT_EQ(dot(x(slice(0, 2)), x(slice(2, 4))), 15);
        // Large beside its spread: two passes keep it.
        EXPECT_NEAR(variance(x + 1e9), 3.5, 1e-6);
    });
}

}  // namespace

}  // namespace balm::test

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
            if constexpr (sizeof(T) >= sizeof(int)) expect_near(dot(X, Y), inner);
            expect_near(norm2(X), std::sqrt(squares));
            static_assert(std::same_as<decltype(mean(X)), R> && std::same_as<decltype(variance(X)), R>);
            expect_near(mean(X), centre);
            expect_near(mean(2 * cast<R>(X) + 1), 2 * centre + 1);
            expect_near(variance(X), spread / static_cast<long double>(n));
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

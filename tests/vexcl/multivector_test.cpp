// vex::multivector: components, expressions of them, tuples of expressions, elements.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>
#include <tuple>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

constexpr std::size_t n = 1000;

using pair_of = std::array<double, 2>;

TEST(B9_vexcl_multivector, is_made_of_host_memory_component_by_component) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> host = numbers<double>(random, 2 * n);
        vex::multivector<double, 2> x(ctx, host);
        ASSERT_EQ(x.size(), n);
        EXPECT_EQ(on_host(x(0)), std::vector<double>(host.begin(), host.begin() + n));
        EXPECT_EQ(on_host(x(1)), std::vector<double>(host.begin() + n, host.end()));
        const vex::multivector<double, 2> copy(x);
        x(0) = 0;
        EXPECT_EQ(on_host(copy(0))[17], host[17]);
        std::vector<double> back(2 * n);
        vex::copy(copy, back);
        EXPECT_EQ(back, host);
    });
    const vex::multivector<double, 3> nothing;
    EXPECT_EQ(nothing.size(), 0u);
    EXPECT_EQ(nothing.end() - nothing.begin(), 0);
}

TEST(B9_vexcl_multivector, elements_are_arrays) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> host = numbers<double>(random, 2 * n);
        vex::multivector<double, 2> x(ctx, n);
        vex::copy(host, x);
        for (const std::size_t i : {std::size_t{0}, std::size_t{500}, n - 1}) {
            const pair_of got = x[i];
            EXPECT_EQ(got, (pair_of{host[i], host[n + i]}));
            x[i] = pair_of{{1.0 + static_cast<double>(i), -2.0}};
            EXPECT_EQ(static_cast<double>(x(0)[i]), 1.0 + static_cast<double>(i));
            EXPECT_EQ(static_cast<double>(x(1)[i]), -2.0);
        }
    });
}

TEST(B9_vexcl_multivector, operators_and_functions_work_component_by_component) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> host = numbers<double>(random, 2 * n),
                                  other = numbers<double>(random, 2 * n);
        vex::multivector<double, 2> x(ctx, n), y(ctx, host), z(ctx, other);
        const auto expect = [&](const auto& wanted) {
            const std::vector<double> first = on_host(x(0)), second = on_host(x(1));
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_NEAR(first[i], wanted(0, host[i], other[i]), 1e-12);
                ASSERT_NEAR(second[i], wanted(1, host[n + i], other[n + i]), 1e-12);
            }
        };
        const pair_of v{{6.0, 7.0}};
        x = sin(v * y + 1);
        expect([&](int k, double a, double) { return std::sin(v[static_cast<std::size_t>(k)] * a + 1); });
        x = std::make_tuple(1, 2) * y + z;
        expect([](int k, double a, double b) { return (k + 1) * a + b; });
        x = 0;
        x += 2 * y;
        x -= z / 4;
        expect([](int, double a, double b) { return 2 * a - b / 4; });
        x = v;
        expect([&](int k, double, double) { return v[static_cast<std::size_t>(k)]; });
        x = pow(sin(y), 2.0) + pow(cos(y), 2.0);
        expect([](int, double, double) { return 1.0; });
        x = if_else(y < z, y, -z);
        expect([](int, double a, double b) { return a < b ? a : -b; });
        VEX_FUNCTION(double, blend, (double, a)(double, b), return a + 0.25 * (b - a););
        x = blend(y, z);
        expect([](int, double a, double b) { return a + 0.25 * (b - a); });
        x = 0.5 * vex::element_index();
        EXPECT_EQ(static_cast<double>(x(1)[77]), 38.5);
    });
}

TEST(B9_vexcl_multivector, a_tuple_of_expressions_is_assigned_at_once) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> host = numbers<double>(random, 2 * n);
        vex::multivector<double, 2> x(ctx, host);
        const double c = std::cos(0.3), s = std::sin(0.3);
        x = std::tie(x(0) * c - x(1) * s, x(0) * s + x(1) * c);
        const std::vector<double> first = on_host(x(0)), second = on_host(x(1));
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_NEAR(first[i], host[i] * c - host[n + i] * s, 1e-12);
            ASSERT_NEAR(second[i], host[i] * s + host[n + i] * c, 1e-12);
        }
        x *= std::tie(x(1), sin(x(0)));
        for (const std::size_t i : {std::size_t{3}, n - 2}) {
            const pair_of got = x[i];
            EXPECT_NEAR(got[0], first[i] * second[i], 1e-12);
            EXPECT_NEAR(got[1], second[i] * std::sin(first[i]), 1e-12);
        }
    });
}

TEST(B9_vexcl_multivector, vectors_are_tied) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> x_host = numbers<double>(random, n), y_host = numbers<double>(random, n);
        const vex::vector<double> x(ctx, x_host), y(ctx, y_host);
        vex::vector<double> a(ctx, n), b(ctx, n);
        vex::tie(a, b) = std::tie(x + y, x - y);
        const std::vector<double> sum = on_host(a), difference = on_host(b);
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(sum[i], x_host[i] + y_host[i]);
            ASSERT_EQ(difference[i], x_host[i] - y_host[i]);
        }
        vex::tie(a, b) = std::make_tuple(b, a);  // from the elements as they were
        EXPECT_EQ(on_host(a), difference);
        EXPECT_EQ(on_host(b), sum);
    });
}

TEST(B9_vexcl_multivector, reductions_give_arrays) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> host = numbers<double>(random, 2 * n);
        const vex::multivector<double, 2> x(ctx, host);
        const vex::Reductor<double, vex::SUM> sum(ctx);
        const vex::Reductor<double, vex::MIN> min(ctx);
        const pair_of sums = sum(x), least = min(2 * x);
        const auto middle = host.begin() + n;
        EXPECT_NEAR(sums[0], std::accumulate(host.begin(), middle, 0.0), 1e-9);
        EXPECT_NEAR(sums[1], std::accumulate(middle, host.end(), 0.0), 1e-9);
        EXPECT_EQ(least[0], 2 * *std::min_element(host.begin(), middle));
        EXPECT_EQ(least[1], 2 * *std::min_element(middle, host.end()));
    });
}

TEST(B9_vexcl_multivector, is_printed_element_by_element) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::multivector<int, 2> x(ctx, 2);
        x = std::make_tuple(vex::element_index(), -7);
        std::ostringstream text;
        text << x;
        EXPECT_EQ(text.str(), "{\n     0: (     0,     -7)\n     1: (     1,     -7)\n}\n");
    });
}

}  // namespace

}  // namespace balm::test

// Functions of positions: surfaces through scattered points (vex::mba), and random numbers.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

using point = std::array<double, 2>;

/// The first and the second coordinates of points.
std::array<vex::vector<double>, 2> coordinates(const vex::Context& ctx, const std::vector<point>& at) {
    std::vector<double> first, second;
    for (const point& each : at) {
        first.push_back(each[0]);
        second.push_back(each[1]);
    }
    return {vex::vector<double>(ctx, first), vex::vector<double>(ctx, second)};
}

TEST(B9_vexcl_mba, passes_through_its_points) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<point> at;
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) at.push_back({{0.2 * i, 0.2 * j}});
        const std::vector<double> values = numbers<double>(random, at.size());
        const vex::mba<2> surface(ctx, point{{-0.01, -0.01}}, point{{1.01, 1.01}}, at, values,
                                  std::array<std::size_t, 2>{{2, 2}});
        const auto [x, y] = coordinates(ctx, at);
        vex::vector<double> z(ctx, at.size());
        z = 2 * surface(x, 1.0 * y) + 1;
        const std::vector<double> got = on_host(z);
        for (std::size_t k = 0; k < at.size(); ++k) ASSERT_NEAR(got[k], 2 * values[k] + 1, 1e-6);
    });
}

TEST(B9_vexcl_random, moments_and_ranges) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const std::size_t n = 1 << 18;
        const vex::Reductor<double, vex::SUM> sum(ctx);
        const vex::Reductor<std::size_t, vex::SUM> count(ctx);
        vex::vector<double> x(ctx, n);
        const auto mean = [&](const auto& e) { return sum(e) / static_cast<double>(n); };

        const vex::Random<double> uniform;
        x = uniform(vex::element_index(), 42);
        EXPECT_EQ(count(x > 1), 0u);
        EXPECT_EQ(count(x < 0), 0u);
        EXPECT_NEAR(mean(x), 0.5, 1e-2);
        EXPECT_NEAR(mean(pow(x - 0.5, 2.0)), 1.0 / 12, 1e-2);
        const vex::Random<double, vex::random::threefry> other;
        x = 2 * other(vex::element_index(), 42) - 1;
        EXPECT_NEAR(mean(x), 0, 1e-2);

        const vex::RandomNormal<double> normal;
        x = normal(vex::element_index(), 42);
        EXPECT_NEAR(mean(x), 0, 1e-2);
        EXPECT_NEAR(mean(x * x), 1, 2e-2);
        EXPECT_NEAR(mean(fabs(x)), std::sqrt(2 / std::numbers::pi), 1e-2);

        vex::vector<cl_float4> fours(ctx, 100);
        fours = vex::Random<cl_float4>()(vex::element_index(), 1);
        for (const cl_float4& each : on_host(fours))
            for (const float lane : each.s) EXPECT_TRUE(lane >= 0 && lane <= 1);
        vex::vector<cl_uint> integers(ctx, n);
        integers = vex::Random<cl_int>()(vex::element_index(), 1);
        EXPECT_NEAR(mean(integers / 4294967296.0), 0.5, 1e-2);
    });
}

TEST(B9_vexcl_random, the_same_for_a_seed_and_others_for_another) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const vex::Random<double> number;
        vex::vector<double> x(ctx, 1000), y(ctx, 1000);
        x = number(vex::element_index(), 7);
        y = number(vex::element_index(), 7);
        EXPECT_EQ(on_host(x), on_host(y));
        y = number(vex::element_index(), 8);
        EXPECT_NE(on_host(x), on_host(y));
    });
}

TEST(B9_vexcl_random, pi_in_one_expression) {
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    const std::size_t n = 1 << 18;
    const vex::Random<double, vex::random::threefry> number;
    const vex::Reductor<std::size_t, vex::SUM> count(ctx);
    const auto i = vex::tag<0>(vex::element_index(0, n));
    const auto x = vex::make_temp<1>(number(i, 1));
    const auto y = vex::make_temp<2>(number(i, 2));
    EXPECT_NEAR(4.0 * static_cast<double>(count((x * x + y * y) < 1)) / n, std::numbers::pi, 0.03);
}

// The tolerance is relative to the values.
TEST(B9_vexcl_mba, of_small_values_and_of_points_outside) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        std::vector<point> at;
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) at.push_back({{0.2 * i, 0.2 * j}});
        std::vector<double> values = numbers<double>(random, at.size());
        for (double& each : values) each *= 1e-9;
        at.push_back({{5, 0.5}});
        values.push_back(1e9);
        const std::array<std::size_t, 2> grid{{2, 2}};
        const point low{{-0.01, -0.01}}, high{{1.01, 1.01}};
        const vex::mba<2> surface(ctx, low, high, at, values, grid);
        const auto [x, y] = coordinates(ctx, at);
        vex::vector<double> z(ctx, at.size());
        z = surface(x, y);
        const std::vector<double> got = on_host(z);
        for (std::size_t k = 0; k + 1 < at.size(); ++k) ASSERT_NEAR(got[k], values[k], 1e-12);

        const vex::mba<2> none(ctx, low, high, std::vector<point>{{{7, 7}}}, std::vector<double>{1}, grid);
        z = none(x, y);
        EXPECT_EQ(z[3], 0);
    });
}

}  // namespace

}  // namespace balm::test

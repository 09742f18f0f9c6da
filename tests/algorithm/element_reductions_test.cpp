// Reductions of elements that are more than numbers: complex numbers, short vectors and structures.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "balm/balm.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

/// A range with its first position: merging ranges is associative, and commutes.
struct bounds {
    float low, high;
    double2 sum;
    std::int16_t count;
};
BALM_STRUCT(bounds, low, high, sum, count)

const auto& both_bounds() {
    static const auto made = function("both_bounds", [](Var<bounds> a, Var<bounds> b) {
        Var<bounds> both = a;
        both.low = min(Float(a.low), Float(b.low));
        both.high = max(Float(a.high), Float(b.high));
        both.sum = Double2(a.sum) + Double2(b.sum);
        both.count = cast<std::int16_t>(Int(a.count) + Int(b.count));
        return both;
    });
    return made;
}
bounds both_on_host(const bounds& a, const bounds& b) {
    return {std::min(a.low, b.low),
            std::max(a.high, b.high),
            {a.sum.x + b.sum.x, a.sum.y + b.sum.y},
            static_cast<std::int16_t>(a.count + b.count)};
}
std::vector<bounds> any_bounds(std::mt19937_64& random, std::size_t n) {
    std::vector<bounds> made(n);
    for (bounds& each : made) {
        each.low = static_cast<float>(random() % 10000);
        each.high = each.low + static_cast<float>(random() % 100);
        each.sum = {static_cast<double>(random() % 100), each.low};
        each.count = 1;
    }
    return made;
}
void expect_same(const bounds& got, const bounds& wanted) {
    EXPECT_EQ(got.low, wanted.low);
    EXPECT_EQ(got.high, wanted.high);
    EXPECT_EQ(got.sum, wanted.sum);
    EXPECT_EQ(got.count, wanted.count);
}

TEST(V10_folds_of_elements, take_structures) {
    auto random = seeded_random();
    in_all_ways([&](const context& ctx, policy how) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{300}, 1 + random() % 30000}) {
            SCOPED_TRACE(n);
            const auto x = any_bounds(random, n);
            bounds wanted = x[0];
            for (std::size_t k = 1; k < n; ++k) wanted = both_on_host(wanted, x[k]);
            const vector<bounds> X(ctx, x);
            expect_same(fold(X, both_bounds(), how), wanted);
            const bounds nothing{9, -9, {0, 0}, 0};
            const auto [all, most] =
                reduce(how, fold_of(X, nothing, both_bounds()), max_of(field<&bounds::high>(X)));
            expect_same(all, wanted);
            EXPECT_EQ(most, wanted.high);
            vector<bounds> into(ctx, 1);
            reduce_into(into, fold_of(X, both_bounds()), how);
            expect_same(into.to_host()[0], wanted);
        }
        const bounds nothing{9, -9, {1, 2}, 7};
        expect_same(fold(vector<bounds>(ctx, 0), nothing, both_bounds(), how), nothing);
        expect_same(fold(vector<bounds>(ctx, 0), both_bounds(), how), bounds{});
    });
}

TEST(V10_folds_of_elements, take_structures_along_dimensions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const bool as_on_gpus : {false, true}) {
            const shapes_of_gpus chosen(as_on_gpus && ctx.device(0).info().type == device_type::cpu);
            const std::size_t rows = 1 + random() % 40, columns = 1 + random() % 90;
            const auto x = any_bounds(random, rows * columns);
            const vector<bounds> X(ctx, x);
            const auto M = view(X, {rows, columns});
            const auto of_rows = vector<bounds>(fold(M, bounds{}, both_bounds(), along(1))).to_host();
            const auto of_columns = vector<bounds>(fold(M, bounds{}, both_bounds(), along(0))).to_host();
            for (std::size_t i = 0; i < rows; ++i) {
                bounds wanted = x[i * columns];
                for (std::size_t j = 1; j < columns; ++j) wanted = both_on_host(wanted, x[i * columns + j]);
                expect_same(of_rows[i], wanted);
            }
            for (std::size_t j = 0; j < columns; ++j) {
                bounds wanted = x[j];
                for (std::size_t i = 1; i < rows; ++i) wanted = both_on_host(wanted, x[i * columns + j]);
                expect_same(of_columns[j], wanted);
            }
        }
    });
}

TEST(V10_folds_of_elements, take_short_vectors_and_complex_numbers) {
    auto random = seeded_random();
    const auto longer = function("longer", [](Float3 a, Float3 b) {
        Float3 result = a;
        IF (dot(b, b) > dot(a, a)) {
            result = b;
        }
        return result;
    });
    const auto times = function("times", [](CFloat a, CFloat b) { return CFloat(a * b); });
    in_all_ways([&](const context& ctx, policy how) {
        std::vector<float3> x(1 + random() % 20000);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = {1, static_cast<float>(random() % 7), 2};
        const std::size_t place = random() % x.size();
        x[place] = {100, -200, 300};
        EXPECT_EQ(fold(vector<float3>(ctx, x), longer, how), x[place]);
        EXPECT_EQ(fold(vector<float3>(ctx, x), float3{0, 0, 0}, longer, how), x[place]);
        EXPECT_EQ(fold(vector<float3>(ctx, 0), float3{3, 2, 1}, longer, how), (float3{3, 2, 1}));

        using C = std::complex<float>;
        std::vector<C> z(1 + random() % 5000);
        C wanted = 1;
        for (C& each : z) wanted *= each = C(0, random() % 2 == 0 ? 1.f : -1.f);
        const auto got = fold(vector<C>(ctx, z), C(1), times, how);
        EXPECT_EQ(C(got.real(), got.imag()), wanted);
        const auto product_of_all = product(vector<C>(ctx, z), how);
        EXPECT_EQ(C(product_of_all.real(), product_of_all.imag()), wanted);
    });
}

TEST(V10_element_reductions, pass_over_nan_in_each_lane) {
    in_all_ways([&](const context& ctx, policy how) {
        const float nan = std::numeric_limits<float>::quiet_NaN(),
                    inf = std::numeric_limits<float>::infinity();
        std::vector<float4> x(3000, float4{nan, nan, 1, -inf});
        x[1234] = {-5, nan, nan, 2};
        const vector<float4> X(ctx, x);
        const float4 least = min(X, how), most = max(X, how);
        EXPECT_EQ(least.x, -5);
        EXPECT_TRUE(std::isnan(least.y));
        EXPECT_EQ(least.z, 1);
        EXPECT_EQ(least.w, -inf);
        EXPECT_EQ(most.x, -5);
        EXPECT_TRUE(std::isnan(most.y));
        EXPECT_EQ(most.z, 1);
        EXPECT_EQ(most.w, 2);
        EXPECT_EQ(sum_compensated(vector<float2>(ctx, 4000, float2{0.1f, 3}), how),
                  (float2{static_cast<float>(4000 * static_cast<double>(0.1f)), 12000}));
    });
}

TEST(V10_element_reductions, of_nothing_are_zero_or_one_in_each_part) {
    on_all_contexts([&](const context& ctx) {
        const vector<float3> none(ctx, 0);
        const vector<std::complex<double>> no_numbers(ctx, 0);
        EXPECT_EQ(sum(none), (float3{0, 0, 0}));
        EXPECT_EQ(product(none), (float3{1, 1, 1}));
        EXPECT_EQ(sum(no_numbers), (complex_value<double>{0, 0}));
        EXPECT_EQ(product(no_numbers), (complex_value<double>{1, 0}));
        EXPECT_THAT(message_of<usage_error>([&] { (void)min(none); }), HasSubstr("min of no elements"));
        vector<std::complex<double>> into(ctx, 1, {5, 5}), along_nothing(ctx, 2, {5, 5});
        product_into(into, no_numbers);
        EXPECT_EQ(into.to_host()[0], std::complex<double>(1, 0));
        along_nothing = product(view(no_numbers, {2, 0}), along(1));
        EXPECT_EQ(along_nothing.to_host()[1], std::complex<double>(1, 0));
    });
}

template <class T>
struct V10_statistics_along : testing::Test {};
using averaged_types = testing::Types<float, double, std::uint8_t, std::int32_t>;
TYPED_TEST_SUITE(V10_statistics_along, averaged_types);

TYPED_TEST(V10_statistics_along, are_those_of_each_row_and_column) {
    using T = TypeParam;
    using R = std::conditional_t<std::floating_point<T>, T, double>;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t rows = 2 + random() % 30, columns = 2 + random() % 80;
        std::vector<T> x(rows * columns);
        for (T& each : x) each = static_cast<T>(100 + random() % 100);
        const vector<T> X(ctx, x);
        const auto M = view(X, {rows, columns});
        const auto expect_near = [](const auto& got, std::size_t k, double wanted) {
            EXPECT_NEAR(
                static_cast<double>(got[k]), wanted,
                100 * static_cast<double>(std::numeric_limits<R>::epsilon()) * (1 + std::abs(wanted)));
        };
        const auto means = vector<R>(mean(M, along(1))).to_host();
        const auto spreads = vector<R>(variance(M, along(1), 1)).to_host();
        const auto deviations = vector<R>(stddev(M, along(0))).to_host();
        const auto middles = vector<R>(median(M, along(1))).to_host();
        const auto tenths = vector<R>(quantile(M, 0.1, along(1))).to_host();
        const auto moments = [&](std::size_t first, std::size_t stride, std::size_t count) {
            double total = 0, spread = 0;
            for (std::size_t k = 0; k < count; ++k) total += x[first + k * stride];
            const double centre = total / static_cast<double>(count);
            for (std::size_t k = 0; k < count; ++k)
                spread += (x[first + k * stride] - centre) * (x[first + k * stride] - centre);
            return std::pair(centre, spread);
        };
        const auto at_share = [&](std::vector<double> row, double q) {
            std::sort(row.begin(), row.end());
            const double place = q * static_cast<double>(row.size() - 1);
            const auto below = static_cast<std::size_t>(place);
            const double above = row[std::min(below + 1, row.size() - 1)];
            return row[below] + (above - row[below]) * (place - static_cast<double>(below));
        };
        for (std::size_t i = 0; i < rows; ++i) {
            const auto [centre, spread] = moments(i * columns, 1, columns);
            expect_near(means, i, centre);
            expect_near(spreads, i, spread / static_cast<double>(columns - 1));
            const auto first = x.begin() + static_cast<std::ptrdiff_t>(i * columns);
            const std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(columns));
            expect_near(middles, i, at_share(row, 0.5));
            expect_near(tenths, i, at_share(row, 0.1));
        }
        for (std::size_t j = 0; j < columns; ++j)
            expect_near(deviations, j,
                        std::sqrt(moments(j, columns, rows).second / static_cast<double>(rows)));
        const std::vector<double> all(x.begin(), x.end());
        const auto expect_quantile = [&](R got, double q) {
            EXPECT_NEAR(static_cast<double>(got), at_share(all, q), 1e-4);
        };
        expect_quantile(median(X), 0.5);
        expect_quantile(quantile(M, 0.731), 0.731);
        const auto [low, high, most] = quantiles(X, 0.05, 0.95, 1);
        expect_quantile(low, 0.05);
        expect_quantile(high, 0.95);
        expect_quantile(most, 1);
    });
}

TEST(V10_statistics_of_elements, along_dimensions) {
    on_all_contexts([&](const context& ctx) {
        using C = std::complex<float>;
        const vector<C> z(ctx, {{1, 2}, {3, 4}, {5, 6}, {5, 2}});
        const auto Z = view(z, {2, 2});
        EXPECT_EQ(vector<C>(mean(Z, along(1))).to_host(), (host_array<C>{{2, 3}, {5, 4}}));
        EXPECT_EQ(vector<float>(variance(Z, along(1))).to_host(), (host_array<float>{2, 4}));
        const vector<float2> v(ctx, {{1, 2}, {3, 4}, {5, 6}, {9, 2}});
        const auto V = view(v, {2, 2});
        EXPECT_EQ(vector<float2>(mean(V, along(0))).to_host(), (host_array<float2>{{3, 4}, {6, 3}}));
        EXPECT_EQ(vector<float2>(variance(V, along(1))).to_host(), (host_array<float2>{{1, 1}, {4, 4}}));
        EXPECT_EQ(vector<float2>(stddev(V, along(1))).to_host(), (host_array<float2>{{1, 1}, {2, 2}}));
    });
}

TEST(V10_statistics_of_elements, are_refused_for_nothing) {
    on_all_contexts([&](const context& ctx) {
        const vector<float> none(ctx, 0), x(ctx, {1, 2, 3});
        EXPECT_THAT(message_of<usage_error>([&] {
                        (void)mean(view(none, {2, 0}), along(1));
                    }),
                    HasSubstr("combines 0 elements"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        (void)variance(view(x, {3, 1}), along(1), 1);
                    }),
                    HasSubstr("needs more than 1"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)median(none); }), HasSubstr("no elements"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)quantile(x, 1.5); }), HasSubstr("from 0 to 1"));
        EXPECT_EQ(median(vector<float>(ctx, {std::numeric_limits<float>::infinity(), 1, 2, -1})), 1.5f);
    });
}

}  // namespace

}  // namespace balm::test

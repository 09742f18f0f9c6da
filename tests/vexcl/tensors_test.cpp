// vex::tensordot and vex::multi_array against loops on the host.

#include <cmath>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

using vex::_;
using vex::extents;
using vex::indices;
using vex::range;

TEST(B9_vexcl_tensors, contractions) {
    const auto axes = vex::axes_pairs(1, 2, 3, 4);
    EXPECT_EQ(axes[0][0], 1u);
    EXPECT_EQ(axes[1][1], 4u);
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t m = 5, k = 7, n = 6;
        const std::vector<double> a = numbers<double>(random, m * k), b = numbers<double>(random, k * n);
        const vex::vector<double> x(ctx, a), y(ctx, b);
        const vex::slicer<2> of_a(extents[m][k]), of_b(extents[k][n]);
        vex::vector<double> product(ctx, m * n), outer(ctx, m * n);
        product = 2 * vex::tensordot(of_a[_](x), of_b[_](y), vex::axes_pairs(1, 0));
        const std::vector<double> got = on_host(product);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
                ASSERT_NEAR(got[i * n + j], 2 * sum, 1e-12);
            }

        // Both axes, the second operand sliced: one number.
        vex::vector<double> one(ctx, 1);
        one = vex::tensordot(of_a[range(0, m)][range(0, 6)](x), of_b[range(0, m)][_](y),
                             vex::axes_pairs(0, 0, 1, 1));
        double all = 0;
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j) all += a[i * k + j] * b[i * n + j];
        EXPECT_NEAR(static_cast<double>(one[0]), all, 1e-12);
    });
}

TEST(B9_vexcl_tensors, arrays_of_several_dimensions) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::multi_array<double, 3> x(ctx, extents[8][8][8]), y(ctx, extents[8][8][8]);
        EXPECT_EQ(x.size<0>(), 8u);
        for (std::size_t i = 0; i < x.size<0>(); ++i) x(indices[i][_][_]).vec() = static_cast<double>(i);
        for (std::size_t i = 0; i < x.size<0>(); ++i) y(indices[_][_][i]).vec() = x(indices[i][_][_]).vec();
        const std::vector<double> got = on_host(y.vec());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<double>(i % 8));
        const auto view = x(indices[5][range(0, 3)][_]);
        EXPECT_EQ(view.size<0>(), 3u);
        EXPECT_EQ(view.size<1>(), 8u);

        vex::vector<double> sums(ctx, 64);
        sums = vex::reduce<vex::SUM>(y, 2);
        EXPECT_EQ(on_host(sums), std::vector<double>(64, 28.0));
    });
}

}  // namespace

}  // namespace balm::test

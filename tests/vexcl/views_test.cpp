// Slices, permutations, reshapes, reductions.

#include <algorithm>
#include <numeric>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

TEST(B9_vexcl_slices, read_and_assign_elements_of_arrays) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t rows = 37, columns = 53;
        std::vector<double> a = numbers<double>(random, rows * columns);
        vex::vector<double> x(ctx, a);
        const auto at = [&](std::size_t i, std::size_t j) -> double& { return a[i * columns + j]; };
        const vex::slicer<2> slice(vex::extents[rows][columns]);
        vex::vector<double> row(ctx, columns), column(ctx, rows), block(ctx, 5 * 4);
        row = slice[3](x);
        column = slice[vex::_][7](2 * x + 1);
        block = slice[vex::range(2, 2, 11)][vex::range(4, 2, 11)](x);
        for (std::size_t j = 0; j < columns; ++j) ASSERT_EQ(row[j], at(3, j));
        for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(column[i], 2 * at(i, 7) + 1);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < 4; ++j) ASSERT_EQ(block[i * 4 + j], at(2 + 2 * i, 4 + 2 * j));
        const std::size_t lengths[] = {3, 2};
        const std::size_t strides[] = {columns, 5};
        const vex::gslice<2> places(columns + 1, lengths, strides);
        EXPECT_EQ(places.size(), 6u);
        vex::vector<double> few(ctx, 6);
        few = places(x) * 2;
        for (std::size_t k = 0; k < 6; ++k) ASSERT_EQ(few[k], 2 * at(1 + k / 2, 1 + k % 2 * 5));
        slice[vex::_][vex::range(1, 2, 5)](x) = 3;
        slice[5](x) += row;
        slice[vex::_][0](x) = column * slice[vex::_][10](x);
        for (std::size_t i = 0; i < rows; ++i) at(i, 1) = at(i, 3) = 3;
        for (std::size_t j = 0; j < columns; ++j) at(5, j) += row[j];
        for (std::size_t i = 0; i < rows; ++i) at(i, 0) = column[i] * at(i, 10);
        EXPECT_EQ(on_host(x), a);
        // As many elements in other extents meet in their order.
        few = places(x) + slice[0][vex::range(0, 6)](x);
        for (std::size_t k = 0; k < 6; ++k) ASSERT_EQ(few[k], at(1 + k / 2, 1 + k % 2 * 5) + at(0, k));
        places(x) = slice[0][vex::range(0, 6)](x) * 1.0;
        const std::vector<double> before = a;
        for (std::size_t k = 0; k < 6; ++k) at(1 + k / 2, 1 + k % 2 * 5) = before[k];
        EXPECT_EQ(on_host(x), a);
        EXPECT_THROW(row = slice[rows](x), vex::error);
    });
}

TEST(B9_vexcl_slices, are_cut_by_indices) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<int> x(ctx, 4 * 5 * 6), y(ctx, 2 * 3);
        x = vex::element_index();
        const vex::slicer<3> slice(vex::extents[4][5][6]);
        y = slice(vex::indices[vex::range(1, 3)][4][vex::range(0, 2, 6)])(x);
        for (int i = 0; i < 2; ++i)
            for (int k = 0; k < 3; ++k) EXPECT_EQ(y[i * 3 + k], ((i + 1) * 5 + 4) * 6 + 2 * k);
    });
}

TEST(B9_vexcl_permutations, read_and_assign_elements_at_positions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 3000;
        const std::vector<double> a = numbers<double>(random, n);
        const vex::vector<double> x(ctx, a);
        vex::vector<double> y(ctx, n);
        const auto reverse = vex::permutation(n - 1 - vex::element_index());
        y = reverse(x) + reverse(2 * x);
        for (const std::size_t i : {0u, 1u, 1500u, 2999u}) EXPECT_EQ(y[i], a[n - 1 - i] + 2 * a[n - 1 - i]);
        y = 0;
        reverse(y) = x;
        std::vector<double> reversed(a.rbegin(), a.rend());
        EXPECT_EQ(on_host(y), reversed);
        std::vector<std::size_t> order(n / 2);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const vex::vector<std::size_t> positions(ctx, order);
        vex::permutation(positions)(y) *= 2;
        for (const std::size_t i : order) reversed[i] *= 2;
        EXPECT_EQ(on_host(y), reversed);
    });
}

TEST(B9_vexcl_reductions, reduce_to_values) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 10007;
        const std::vector<double> a = numbers<double>(random, n);
        const std::vector<int> k = numbers<int>(random, n);
        const vex::vector<double> x(ctx, a);
        const vex::vector<int> i(ctx, k);
        const vex::Reductor<double, vex::SUM> sum(ctx);
        const vex::Reductor<double, vex::SUM_Kahan> kahan(ctx);
        const vex::Reductor<double, vex::MIN> min(ctx);
        const vex::Reductor<double, vex::MAX> max(ctx);
        const vex::Reductor<int, vex::SUM> count(ctx);
        const vex::Reductor<double, vex::MIN_MAX> both(ctx);
        const vex::Reductor<int, vex::CombineReductors<vex::MIN, vex::MAX, vex::SUM>> three(ctx);
        long double exact = 0;
        for (const double each : a) exact += each;
        EXPECT_NEAR(sum(x), double(exact), 1e-9);
        EXPECT_NEAR(kahan(x), double(exact), 1e-11);
        EXPECT_EQ(min(x), *std::min_element(a.begin(), a.end()));
        EXPECT_EQ(max(2 * x), 2 * *std::max_element(a.begin(), a.end()));
        EXPECT_EQ(count(x > 0.5), std::count_if(a.begin(), a.end(), [](double v) { return v > 0.5; }));
        EXPECT_EQ(both(x).s[0], *std::min_element(a.begin(), a.end()));
        EXPECT_EQ(both(x).s[1], *std::max_element(a.begin(), a.end()));
        const cl_int4 all = three(i);
        EXPECT_EQ(all.s[0], *std::min_element(k.begin(), k.end()));
        EXPECT_EQ(all.s[1], *std::max_element(k.begin(), k.end()));
        EXPECT_EQ(all.s[2], std::accumulate(k.begin(), k.end(), 0));
        EXPECT_EQ(sum(vex::element_index(1, 100)), 5050);  // computed on the reductor's devices
        EXPECT_EQ((vex::get_reductor<double, vex::MAX>(ctx)(x)), max(x));
        const vex::any_of any(ctx);
        const vex::all_of every(ctx);
        EXPECT_TRUE(any(x < 1));
        EXPECT_TRUE(every(x < 1));
        EXPECT_FALSE(any(i > 100));
        EXPECT_FALSE(every(i > 50));
        const vex::vector<double> none;
        EXPECT_EQ(sum(none), 0);
        EXPECT_EQ(max(none), std::numeric_limits<double>::lowest());
    });
}

TEST(B9_vexcl_reductions, reduce_along_dimensions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 7, m = 11, k = 13;
        const std::vector<int> a = numbers<int>(random, n * m * k);
        const vex::vector<int> x(ctx, a);
        const vex::slicer<3> slice(vex::extents[n][m][k]);
        vex::vector<int> planes(ctx, n * k), rows(ctx, n * m), last(ctx, k);
        planes = vex::reduce<vex::SUM>(slice[vex::_](x), 1);
        rows = vex::reduce<vex::MAX>(vex::extents[n][m][k], 2 * x, 2) + 1;
        last = vex::reduce<vex::MIN>(slice[vex::_], x, std::array<std::size_t, 2>{0, 1});
        std::vector<int> wanted_planes(n * k), wanted_rows(n * m, -1), wanted_last(k, 1000);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t l = 0; l < k; ++l) {
                    const int each = a[(i * m + j) * k + l];
                    wanted_planes[i * k + l] += each;
                    wanted_rows[i * m + j] = std::max(wanted_rows[i * m + j], 2 * each + 1);
                    wanted_last[l] = std::min(wanted_last[l], each);
                }
        EXPECT_EQ(on_host(planes), wanted_planes);
        EXPECT_EQ(on_host(rows), wanted_rows);
        EXPECT_EQ(on_host(last), wanted_last);
        // Reshaped: repeated along the dimensions that are not named, and transposed.
        vex::vector<int> z(ctx, n * k);
        z = vex::reshape(last, vex::extents[n][k], vex::extents[1]) * planes;
        for (std::size_t i = 0; i < n * k; ++i) ASSERT_EQ(z[i], wanted_last[i % k] * wanted_planes[i]);
        z = vex::reshape(planes, vex::extents[k][n], vex::extents[1][0]);
        for (std::size_t i = 0; i < n * k; ++i) ASSERT_EQ(z[i], wanted_planes[i % n * k + i / n]);
    });
}

}  // namespace

}  // namespace balm::test

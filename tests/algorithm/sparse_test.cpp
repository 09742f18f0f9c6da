// Sparse products against loops on the host. Numbers are small and whole, so that sums are exact.

#include "balm/sparse_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// All that is made of one matrix in one storage.
template <class T, class Index>
void check_products(const context& ctx, const host_matrix<T>& m, storage how, std::mt19937_64& random) {
    const auto x = small_numbers<T>(random, m.columns), f = small_numbers<T>(random, m.rows);
    const std::vector<T> wanted = m.times(x);
    const sparse_matrix<T, Index> A = on_device<T, Index>(ctx, m, how);
    if (how != storage::automatic) {
        EXPECT_EQ(A.stored_as(), how);
    }
    EXPECT_EQ(A.nonzeros(), m.values.size());
    const vector<T> on_x(ctx, x), on_f(ctx, f);
    vector<T> y(ctx, m.rows);
    y = A * on_x;
    const host_array<T> got = y.to_host();
    EXPECT_EQ(std::vector<T>(got.begin(), got.end()), wanted) << describe(A);

    vector<T> r(ctx, m.rows);
    r = on_f - A * on_x;
    std::vector<T> difference(m.rows);
    for (std::size_t k = 0; k < m.rows; ++k) difference[k] = static_cast<T>(f[k] - wanted[k]);
    EXPECT_EQ(values_of<T>(r), difference) << describe(A);
}

template <class P>
class V11_sparse_types : public testing::Test {};
template <class T, class I>
struct types_of {
    using value = T;
    using index = I;
};
using sparse_types =
    testing::Types<types_of<float, std::int32_t>, types_of<double, std::int32_t>,
                   types_of<double, std::int64_t>, types_of<std::int32_t, std::int32_t>,
                   types_of<std::uint32_t, std::int64_t>, types_of<std::int64_t, std::int32_t>,
                   types_of<std::uint64_t, std::int64_t>, types_of<std::complex<float>, std::int64_t>,
                   types_of<std::complex<double>, std::int32_t>>;
TYPED_TEST_SUITE(V11_sparse_types, sparse_types);

TYPED_TEST(V11_sparse_types, products_of_all_kinds_in_all_storages) {
    using T = typename TypeParam::value;
    using Index = typename TypeParam::index;
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
        for (const matrix_kind kind : all_matrix_kinds) {
            if (on_cpu && below(random, 3) != 0) continue;  // widths of slices are kernels to compile
            const std::size_t rows =
                kind == matrix_kind::long_rows ? 1 + below(random, 40) : 1 + below(random, 3000);
            const std::size_t columns = 1 + below(random, kind == matrix_kind::dense_row ? 30000 : 3000);
            const auto m = random_matrix<T>(random, kind, rows, columns);
            for (const storage how : all_storages) {
                if (how == storage::diagonals && has_too_many_diagonals(m)) continue;
                SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " + std::to_string(columns) +
                             ", " + words_of(how));
                check_products<T, Index>(ctx, m, how, random);
            }
        }
    });
}

TEST(V11_sparse, small_shapes_and_no_rows_columns_or_entries) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t rows : {0, 1, 2, 31, 32, 33})
            for (const std::size_t columns : {0, 1, 5})
                for (const matrix_kind kind : {matrix_kind::nothing, matrix_kind::banded,
                                               matrix_kind::dense_row, matrix_kind::ends_empty})
                    for (const storage how : all_storages) {
                        const auto m = random_matrix<double>(random, kind, rows, columns);
                        SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " +
                                     std::to_string(columns) + ", " + words_of(how));
                        check_products<double, std::int32_t>(ctx, m, how, random);
                    }
    });
}

TEST(V11_sparse, rows_across_the_ends_of_tiles) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t length : {1, 15, 16, 17, 4095, 4096, 4097, 8192, 12345}) {
            host_matrix<double> m;
            m.columns = 50;
            for (std::size_t r = 0; m.values.size() < 40000; ++r) {
                for (std::size_t k = 0; k < (r % 3 == 1 ? 1 : length); ++k)
                    m.add(below(random, 50), small_number<double>(random));
                m.end_row();
                if (length == 4096 && r == 2) m.end_row();  // an empty one where a tile begins
            }
            if (length == 16)  // no padding behind the last row
                while (m.values.size() % 4096 != 0) {
                    m.add(1, 1);
                    if (m.values.size() % 4096 == 0) m.end_row();
                }
            SCOPED_TRACE(length);
            check_products<double, std::int32_t>(ctx, m, storage::balanced, random);
        }
    });
}

TEST(V11_sparse, a_row_of_more_tiles_than_one_work_item_adds_up) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        host_matrix<double> m;
        m.columns = 300000 + below(random, 50000);
        for (std::size_t r = 0; r < 1000; ++r) {
            const bool is_dense = r == 3 || r == 4 || r == 998;
            for (std::size_t c = r % 7; c < (is_dense ? m.columns : 20); ++c)
                m.add(c, small_number<double>(random));
            m.end_row();
        }
        check_products<double, std::int32_t>(ctx, m, storage::balanced, random);
        check_products<double, std::int32_t>(ctx, m, storage::automatic, random);
    });
}

TEST(V11_sparse, other_matrices_of_one_storage_compile_nothing) {
    if (devices_are_together()) GTEST_SKIP() << "parts of a matrix differ";
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const storage how : {storage::slices, storage::rows, storage::balanced}) {
            SCOPED_TRACE(words_of(how));
            const auto multiply = [&](std::size_t rows) {
                auto m = random_matrix<double>(random, matrix_kind::scattered, rows, 5000);
                for (int k = 0; k < 3; ++k) m.end_row();
                for (std::size_t c = 0; c < 5000; ++c) m.add(c, 1);
                m.end_row();
                check_products<double, std::int32_t>(ctx, m, how, random);
            };
            multiply(1000);
            EXPECT_EQ(compilations_of([&] { multiply(3000); }), 0);
        }
    });
}

TEST(V11_sparse, expressions_of_products) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const std::size_t n = 2 + below(random, 2000);
        const auto m = random_matrix<double>(random, matrix_kind::scattered, n, n);
        const auto other = random_matrix<double>(random, matrix_kind::power_law, n, n);
        const auto x = small_numbers<double>(random, n), z = small_numbers<double>(random, n);
        std::vector<double> squares(n);
        for (std::size_t k = 0; k < n; ++k) squares[k] = x[k] * x[k];
        const std::vector<double> mx = m.times(x), mxx = m.times(squares), ox = other.times(x),
                                  mox = m.times(ox), omx = other.times(mx);
        for (const storage how : {storage::slices, storage::rows, storage::balanced}) {
            SCOPED_TRACE(words_of(how));
            const auto A = on_device(ctx, m, how);
            const auto B = on_device(ctx, other);
            const vector<double> u(ctx, x), v(ctx, z);
            const auto expect = [&](const auto& got, auto&& wanted) {
                const std::vector<double> list = values_of<double>(got);
                ASSERT_EQ(list.size(), n);
                for (std::size_t k = 0; k < n; ++k)
                    ASSERT_NEAR(list[k], wanted(k), 1e-9 * std::abs(wanted(k)) + 1e-12) << k;
            };
            vector<double> y(ctx, n, 1.0);
            y += 2 * (A * (u * u)) - sin(v);
            expect(y, [&](std::size_t k) { return 1 + 2 * mxx[k] - std::sin(z[k]); });
            expect(A * u + B * u, [&](std::size_t k) { return mx[k] + ox[k]; });
            expect(A * (B * u), [&](std::size_t k) { return mox[k]; });
            expect(B * (A * u) - A * (B * u), [&](std::size_t k) { return omx[k] - mox[k]; });
            expect((A * u) * (A * u), [&](std::size_t k) { return mx[k] * mx[k]; });
            expect(sqrt(abs(A * u)), [&](std::size_t k) { return std::sqrt(std::abs(mx[k])); });
            expect((A * u)[static_cast<std::int64_t>(n) - 1 - element_index(0, n)],
                   [&](std::size_t k) { return mx[n - 1 - k]; });
            expect(A * u[static_cast<std::int64_t>(n) - 1 - element_index(0, n)], [&](std::size_t k) {
                std::vector<double> turned(x.rbegin(), x.rend());
                return m.times(turned)[k];
            });
            expect(A * constant(2.0), [&](std::size_t k) { return m.times(std::vector<double>(n, 2.0))[k]; });
            expect(A * cast<float>(u), [&](std::size_t k) { return mx[k]; });
            double energy = 0;
            for (std::size_t k = 0; k < n; ++k) energy += z[k] * mx[k];
            EXPECT_DOUBLE_EQ(sum(v * (A * u)), energy);
            EXPECT_EQ(max(A * u), *std::max_element(mx.begin(), mx.end()));
            vector<double> p(ctx, n), q(ctx, n);
            tie(p, q) = std::tuple(A * u - v, A * u + v);
            expect(p, [&](std::size_t k) { return mx[k] - z[k]; });
            expect(q, [&](std::size_t k) { return mx[k] + z[k]; });
        }
    });
}

TEST(V11_sparse, a_vector_that_is_multiplied_is_assigned_to) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const std::size_t n = 5000 + below(random, 5000);
        for (const matrix_kind kind : {matrix_kind::banded, matrix_kind::scattered, matrix_kind::power_law})
            for (const storage how : all_storages) {
                const auto m = random_matrix<double>(random, kind, n, n);
                if (how == storage::diagonals && kind != matrix_kind::banded) continue;
                SCOPED_TRACE(words_of(kind) + ", " + words_of(how));
                const auto A = on_device(ctx, m, how);
                const auto x = small_numbers<double>(random, n);
                vector<double> v(ctx, x);
                v = A * v;
                EXPECT_EQ(values_of<double>(v), m.times(x));
                v = vector<double>(ctx, x);
                v += A * v;
                std::vector<double> wanted = m.times(x);
                for (std::size_t k = 0; k < n; ++k) wanted[k] += x[k];
                EXPECT_EQ(values_of<double>(v), wanted);
                v = vector<double>(ctx, x);
                v(slice(0, static_cast<std::int64_t>(n / 2))) =
                    (A * v)[element_index(static_cast<std::int64_t>(n) / 4, n / 2)];
                wanted = x;
                const auto all = m.times(x);
                for (std::size_t k = 0; k < n / 2; ++k) wanted[k] = all[n / 4 + k];
                EXPECT_EQ(values_of<double>(v), wanted);
            }
    });
}

TEST(V11_sparse, sums_of_any_numbers_are_near_and_the_same_in_each_run) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        std::uniform_real_distribution<double> number(-1, 1);
        auto m = random_matrix<double>(random, matrix_kind::power_law, 3000, 2000);
        for (double& each : m.values) each = number(random);
        std::vector<double> x(m.columns);
        for (double& each : x) each = number(random);
        for (const storage how : {storage::automatic, storage::slices, storage::rows, storage::balanced}) {
            SCOPED_TRACE(words_of(how));
            const auto A = on_device(ctx, m, how);
            const vector<double> v(ctx, x);
            const std::vector<double> got = values_of<double>(A * v);
            for (std::size_t r = 0; r < m.rows; ++r) {
                long double wanted = 0, size = 0;
                const auto first = static_cast<std::size_t>(m.pointers[r]),
                           last = static_cast<std::size_t>(m.pointers[r + 1]);
                for (std::size_t k = first; k < last; ++k) {
                    const long double term = static_cast<long double>(m.values[k]) *
                                             x[static_cast<std::size_t>(m.column_indices[k])];
                    wanted += term;
                    size += std::abs(term);
                }
                const long double bound = static_cast<long double>(last - first + 1) *
                                          std::numeric_limits<double>::epsilon() * size;
                ASSERT_LE(std::abs(got[r] - wanted), bound) << r;
            }
            for (int run = 0; run < 3; ++run) EXPECT_EQ(values_of<double>(A * v), got);
        }
    });
}

TEST(V11_sparse, an_element_that_no_entry_multiplies_changes_nothing) {
    with_matrices_of_all_devices([](const context& ctx) {
        const double infinite = std::numeric_limits<double>::infinity();
        // Column 1, whose element is infinite, and column 3, whose element is NaN, have no entries but in
        // row 4; row 2 is empty.
        const std::vector<int> pointers{0, 2, 3, 3, 5, 7}, columns{0, 2, 2, 4, 0, 1, 3};
        const std::vector<double> values{1, 2, 3, 4, 5, 6, 7};
        const vector<double> x(ctx, {1, infinite, 10, std::nan(""), 100});
        for (const storage how : all_storages) {
            SCOPED_TRACE(words_of(how));
            const sparse_matrix<double> A(ctx, 5, 5, pointers, columns, values, how);
            const std::vector<double> got = values_of<double>(A * x);
            EXPECT_EQ(std::vector<double>(got.begin(), got.end() - 1), (std::vector<double>{21, 30, 0, 405}));
            EXPECT_TRUE(std::isnan(got[4]));
        }
    });
}

TEST(V11_sparse, entries_of_one_place_add_up_and_columns_need_no_order) {
    with_matrices_of_all_devices([](const context& ctx) {
        const std::vector<std::uint8_t> pointers{0, 3, 5};
        const std::vector<std::uint64_t> columns{2, 0, 2, 1, 1};
        const std::vector<int> values{5, 7, 11, 1, -1};
        for (const storage how : all_storages) {
            const sparse_matrix<int> A(ctx, 2, 3, pointers, columns, values, how);
            EXPECT_EQ(values_of<int>(A * vector<int>(ctx, {1, 10, 100})), (std::vector<int>{1607, 0}));
        }
    });
}

TEST(V11_sparse, storage_is_chosen_by_looking_at_the_matrix) {
    if (!has_cpu() || devices_are_together()) GTEST_SKIP() << "no CPU of its own";
    auto random = seeded_random();
    const context ctx{filter::cpu};
    host_matrix<double> poisson;
    const std::size_t n = 30;
    poisson.columns = n * n * n;
    for (std::size_t r = 0; r < poisson.columns; ++r) {
        for (const auto& [step, extent] : {std::pair(n * n, n * n * n), {n, n * n}, {std::size_t{1}, n}}) {
            if (r % extent >= step) poisson.add(r - step, -1);
            if (r % extent + step < extent) poisson.add(r + step, -1);
        }
        poisson.add(r, 6);
        poisson.end_row();
    }
    const auto dense = random_matrix<double>(random, matrix_kind::dense_row, 20000, 400000);
    const auto scattered = [&] {
        host_matrix<double> m;
        m.columns = 40000;
        for (std::size_t r = 0; r < 40000; ++r) {
            for (int k = 0; k < 7; ++k) m.add(below(random, m.columns), 1);
            m.end_row();
        }
        return m;
    }();
    const auto A = on_device(ctx, poisson);
    EXPECT_EQ(A.stored_as(), storage::diagonals);
    EXPECT_LT(A.size_bytes(), poisson.values.size() * 9);
    EXPECT_THAT(describe(A), HasSubstr("7 diagonals of 27,000 rows"));
    // Chunks of rows are shared out among few cores, tiles of entries among many.
    const bool has_few_cores = ctx.device(0).info().compute_units <= 2;
    EXPECT_EQ(on_device(ctx, scattered).stored_as(), has_few_cores ? storage::rows : storage::balanced);
    EXPECT_EQ(on_device(ctx, dense).stored_as(), storage::balanced);
    EXPECT_THAT(describe(on_device(ctx, dense)), HasSubstr("400,000 entries"));
    const stored_as_on_gpus held;
    EXPECT_EQ(on_device(ctx, poisson).stored_as(), storage::diagonals);
    EXPECT_EQ(on_device(ctx, scattered).stored_as(), storage::slices);
    EXPECT_THAT(describe(on_device(ctx, scattered)), HasSubstr("slices of 32 rows, 7 entries a row"));
    EXPECT_EQ(on_device(ctx, dense).stored_as(), storage::balanced);
    EXPECT_EQ(describe(sparse_matrix<double>()), "no matrix");
}

TEST(V11_sparse, an_inline_product_is_one_kernel) {
    if (devices_are_together()) GTEST_SKIP() << "products over several devices fill a temporary";
    on_all_devices([](const device& on) {
        const context ctx(std::vector<device>{on});
        const sparse_matrix<double> A(ctx, 2, 2, std::vector{0, 1, 2}, std::vector{0, 1},
                                      std::vector{2.0, 3.0}, storage::rows);
        const vector<double> x(ctx, {1, 2}), f(ctx, {5, 5});
        EXPECT_THAT(generated_source(f - A * x), HasSubstr("row_of_csr"));
        EXPECT_THAT(generated_source(f + 3.0 * (A * (x * x))), HasSubstr("row_of_csr"));
    });
}

TEST(V11_sparse, what_is_no_matrix_is_refused) {
    on_all_contexts([](const context& ctx) {
        const auto refused = [&](std::size_t rows, std::size_t columns, std::vector<std::int64_t> pointers,
                                 std::vector<std::int64_t> indices, std::vector<float> values,
                                 storage how = storage::automatic) {
            return message_of<usage_error>(
                [&] { sparse_matrix<float>(ctx, rows, columns, pointers, indices, values, how); });
        };
        EXPECT_THAT(refused(2, 2, {0, 1}, {0}, {1}), HasSubstr("2 rows got 2 row pointers; CSR needs 3"));
        EXPECT_THAT(refused(2, 2, {0, 1, 2}, {0}, {1, 1}), HasSubstr("1 column indices and 2 values"));
        EXPECT_THAT(refused(2, 2, {1, 2, 3}, {1, 2}, {1, 1}),
                    HasSubstr("begin at 1 instead of 0: subtract 1"));
        EXPECT_THAT(refused(2, 2, {-1, 2, 2}, {0, 1}, {1, 1}), HasSubstr("begin at -1"));
        EXPECT_THAT(refused(2, 2, {0, 2, 1}, {0}, {1}),
                    HasSubstr("row pointer 2 of a sparse matrix is 1, less than the one before it, 2"));
        EXPECT_THAT(refused(2, 2, {0, 1, 1}, {0, 1}, {1, 1}), HasSubstr("end at 1, but it got 2 values"));
        EXPECT_THAT(refused(2, 2, {0, 1, 2}, {0, 2}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix, in row 1, is in column 2, which is out of range: "
                              "its 2 columns"));
        EXPECT_THAT(refused(2, 2, {0, 1, 2}, {0, -1}, {1, 1}), HasSubstr("is in column -1"));
        EXPECT_THAT(
            refused(std::size_t{1} << 40, 2, {0}, {}, {}),
            HasSubstr(
                "1,099,511,627,776 rows: with the index type i32 it can have at most 2,147,483,647; use "
                "sparse_matrix<T, std::int64_t>"));
        EXPECT_THAT(refused(0, std::size_t{1} << 31, {0}, {}, {}), HasSubstr("2,147,483,648 columns"));
        host_matrix<float> many;
        many.columns = 1000;
        for (std::size_t r = 0; r < 1000; ++r) {
            many.add(r * 7 % 1000, 1);
            many.end_row();
        }
        EXPECT_THAT(refused(1000, 1000, many.pointers, many.column_indices, many.values, storage::diagonals),
                    HasSubstr("more than 64 diagonals"));

        const sparse_matrix<float> A(ctx, 2, 3, std::vector{0, 1, 2}, std::vector{0, 2},
                                     std::vector{1.f, 1.f});
        vector<float> x(ctx, 3, 1.f), two(ctx, 2, 1.f), y(ctx, 2);
        EXPECT_THAT(message_of<usage_error>([&] { y = A * two; }),
                    HasSubstr("2 x 3 cannot be multiplied by a vector of 2 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { x = A * x; }), HasSubstr("2 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { y = x - A * x; }), HasSubstr("3 elements with 2"));
        EXPECT_THAT(message_of<usage_error>([&] { y = sparse_matrix<float>() * x; }),
                    HasSubstr("a sparse matrix without elements"));
        EXPECT_THAT(message_of<usage_error>([&] { y = A * vector<float>(); }), HasSubstr("of 0 elements"));
        y = A * x;  // nothing is lost
        EXPECT_EQ(values_of<float>(y), (std::vector<float>{1, 1}));
    });
}

TEST(V11_sparse, a_vector_of_another_device_is_refused) {
    const auto& devices = present_devices();
    if (devices.size() < 2) GTEST_SKIP() << "one device";
    const context first(std::vector{devices[0]}), second(std::vector{devices[1]});
    const sparse_matrix<float> A(first, 1, 1, std::vector{0, 1}, std::vector{0}, std::vector{1.f});
    const vector<float> x(second, 1, 1.f);
    EXPECT_THAT(message_of<usage_error>([&] { vector<float> y(A * x); }),
                HasSubstr("make both with the same context"));
}

TEST(V11_sparse_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm", "V11_sparse.*:V11_sparse_types/1.*:V11_sparse_types/8.*");
}

}  // namespace

}  // namespace balm::test

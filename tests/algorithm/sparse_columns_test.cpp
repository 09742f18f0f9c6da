// Sparse matrices times the columns of a row-major matrix, and their transposes times vectors, against loops
// on the host. Numbers are small and whole, so that sums are exact.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/sparse_blocks.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// Row-major, of `columns` columns.
template <class T>
std::vector<T> times_columns(const host_matrix<T>& m, const std::vector<T>& x, std::size_t columns) {
    std::vector<T> y(m.rows * columns);
    for (std::size_t c = 0; c < columns; ++c) {
        std::vector<T> column(m.columns);
        for (std::size_t k = 0; k < m.columns; ++k) column[k] = x[k * columns + c];
        const std::vector<T> product = m.times(column);
        for (std::size_t r = 0; r < m.rows; ++r) y[r * columns + c] = product[r];
    }
    return y;
}
template <class T>
std::vector<T> times_transposed(const host_matrix<T>& m, const std::vector<T>& x) {
    std::vector<T> y(m.columns);
    for (std::size_t r = 0; r < m.rows; ++r)
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k)
            y[static_cast<std::size_t>(m.column_indices[k])] += static_cast<T>(m.values[k] * x[r]);
    return y;
}

/// A matrix that suits each storage.
host_matrix<double> suited(std::mt19937_64& random, storage how, std::size_t rows, std::size_t columns) {
    const matrix_kind kind = how == storage::diagonals  ? matrix_kind::banded
                             : how == storage::balanced ? matrix_kind::dense_row
                                                        : matrix_kind::scattered;
    return random_matrix<double>(random, kind, rows, columns);
}

TEST(V11_sparse_columns, products_with_any_number_of_columns) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const storage how : all_storages)
            for (const std::size_t columns : {1, 2, 3, 12}) {
                SCOPED_TRACE(words_of(how) + ", " + std::to_string(columns) + " columns");
                const auto m = suited(random, how, 1 + below(random, 600), 1 + below(random, 9000));
                const auto A = on_device(ctx, m, how);
                const auto x = small_numbers<double>(random, m.columns * columns),
                           f = small_numbers<double>(random, m.rows * columns);
                const std::vector<double> wanted = times_columns(m, x, columns);
                const vector<double> on_x(ctx, x), on_f(ctx, f);
                vector<double> y(ctx, m.rows * columns);
                view(y, {m.rows, columns}) = A * view(on_x, {m.columns, columns});
                EXPECT_EQ(values_of<double>(y), wanted) << describe(A);
                if (columns == 3 || columns == 12) {
                    std::vector<double> difference(f);
                    for (std::size_t k = 0; k < f.size(); ++k) difference[k] -= 2 * wanted[k];
                    y = view(on_f, {m.rows, columns}) - 2.0 * (A * view(on_x, {m.columns, columns}));
                    EXPECT_EQ(values_of<double>(y), difference) << describe(A);
                }
            }
    });
}

TEST(V11_sparse_columns, blocks_with_several_columns) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const storage how : {storage::slices, storage::rows, storage::balanced})
            for (const std::size_t columns : {3, 4, 8}) {
                SCOPED_TRACE(words_of(how) + ", " + std::to_string(columns) + " columns");
                const auto blocks = random_blocks<double>(random, 1 + below(random, 200), 100, 4, 4, 300);
                const host_matrix<double> m = blocks.entries();
                const auto A = on_device(ctx, blocks, how);
                const auto x = small_numbers<double>(random, m.columns * columns);
                vector<double> y(ctx, m.rows * columns);
                y = A * view(vector<double>(ctx, x), {m.columns, columns});
                EXPECT_EQ(values_of<double>(y), times_columns(m, x, columns)) << describe(A);
            }
    });
}

TEST(V11_sparse_columns, columns_of_all_types_and_of_expressions) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto check = [&]<class T>(T, std::size_t columns) {
            const auto m = random_matrix<T>(random, matrix_kind::scattered, 500, 300);
            const auto A = on_device<T>(ctx, m);
            const auto x = small_numbers<T>(random, m.columns * columns);
            std::vector<T> sums(x);
            for (T& each : sums) each = static_cast<T>(each + each);
            const vector<T> on_x(ctx, x);
            const auto X = view(on_x, {m.columns, columns});
            EXPECT_EQ(values_of<T>(A * (X + X)), times_columns(m, sums, columns));
        };
        check(float{}, 8);
        check(std::int32_t{}, 2);
        check(std::complex<float>{}, 2);

        // Columns that lie apart, and some of the product's.
        const auto m = random_matrix<double>(random, matrix_kind::scattered, 400, 400);
        const auto A = on_device(ctx, m);
        const auto x = small_numbers<double>(random, 400 * 4);
        const vector<double> on_x(ctx, x);
        vector<double> turned(ctx, 400 * 4);
        view(turned, {4, 400}) = view(on_x, {400, 4}).transpose();
        const std::vector<double> wanted = times_columns(m, x, 4);
        EXPECT_EQ(values_of<double>(A * view(turned, {4, 400}).transpose()), wanted);
        vector<double> z(ctx, 400 * 4);
        z = A * view(on_x, {400, 4});
        z = A * view(z, {400, 4});
        EXPECT_EQ(values_of<double>(z), times_columns(m, wanted, 4));
        // A grid of as many elements as the matrix has columns is one vector.
        const auto grid = small_numbers<double>(random, 400);
        EXPECT_EQ(values_of<double>(A * view(vector<double>(ctx, grid), {20, 20})), m.times(grid));
    });
}

TEST(V11_sparse_columns, no_rows_or_columns) {
    with_matrices_of_all_devices([](const context& ctx) {
        const sparse_matrix<double> none(ctx, 0, 5, std::vector{0}, std::vector<int>{},
                                         std::vector<double>{});
        const vector<double> x(ctx, 20, 1.0);
        EXPECT_EQ(values_of<double>(none * view(x, {5, 4})).size(), 0u);
        const sparse_matrix<double> empty(ctx, 3, 5, std::vector{0, 0, 0, 0}, std::vector<int>{},
                                          std::vector<double>{});
        EXPECT_EQ(values_of<double>(empty * view(x, {5, 4})), std::vector<double>(12));
        vector<double> y(ctx, 5);
        y = transposed(empty) * vector<double>(ctx, 3, 1.0);
        EXPECT_EQ(values_of<double>(y), std::vector<double>(5));
    });
}

TEST(V11_sparse_columns, several_columns_compile_nothing_for_other_matrices) {
    if (devices_are_together()) GTEST_SKIP() << "parts of a matrix differ";
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto multiply = [&](std::size_t rows, std::size_t columns) {
            const auto m = random_matrix<double>(random, matrix_kind::scattered, rows, 700);
            const auto A = on_device(ctx, m, storage::rows);
            const auto x = small_numbers<double>(random, 700 * columns);
            EXPECT_EQ(values_of<double>(A * view(vector<double>(ctx, x), {std::size_t{700}, columns})),
                      times_columns(m, x, columns));
        };
        multiply(100, 20);
        multiply(100, 5);
        EXPECT_EQ(compilations_of([&] {
                      multiply(300, 28);
                      multiply(300, 7);
                  }),
                  0);
    });
}

TEST(V11_sparse_columns, what_is_no_operand_is_refused) {
    on_all_contexts([](const context& ctx) {
        const sparse_matrix<double> A(ctx, 2, 3, std::vector{0, 1, 2}, std::vector{0, 2},
                                      std::vector{1.0, 1.0}, storage::rows);
        const vector<double> six(ctx, 6, 1.0), two(ctx, 2, 1.0), three(ctx, 3, 1.0);
        vector<double> y(ctx, 4);
        EXPECT_THAT(
            message_of<usage_error>([&] {
                y = A * view(six, {2, 3});
            }),
            HasSubstr("2 x 3 cannot be multiplied by a matrix of 2 x 3, which must have one row per column"));
        EXPECT_THAT(
            message_of<usage_error>([&] { y = transposed(A) * three; }),
            HasSubstr(
                "transpose of a sparse matrix of 3 x 2 cannot be multiplied by a vector of 3 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { y = transposed(sparse_matrix<double>()) * two; }),
                    HasSubstr("a sparse matrix without elements"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        view(y, {1, 4}) = A * view(six, {3, 2});
                    }),
                    HasSubstr("an expression of 2 x 2 elements is assigned to a view of 1 x 4"));
        EXPECT_EQ(describe(transposed(sparse_matrix<double>())), "no matrix");
    });
}

TEST(V11_sparse_transposed, products_in_all_storages) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const storage how : all_storages) {
            SCOPED_TRACE(words_of(how));
            const auto m = suited(random, how, 1 + below(random, 900), 1 + below(random, 9000));
            const auto A = on_device(ctx, m, how);
            const auto x = small_numbers<double>(random, m.rows),
                       f = small_numbers<double>(random, m.columns);
            const vector<double> on_x(ctx, x), on_f(ctx, f);
            std::vector<double> wanted = times_transposed(m, x);
            EXPECT_EQ(transposed(A).rows(), m.columns);
            EXPECT_EQ(transposed(A).columns(), m.rows);
            EXPECT_EQ(values_of<double>(transposed(A) * on_x), wanted) << describe(transposed(A));
            EXPECT_EQ(values_of<double>(transposed(transposed(A)) * on_f), m.times(f));
            for (std::size_t k = 0; k < f.size(); ++k) wanted[k] = f[k] - wanted[k];
            EXPECT_EQ(values_of<double>(on_f - transposed(A) * on_x), wanted);
        }
    });
}

TEST(V11_sparse_transposed, of_several_columns_and_blocks) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto blocks = random_blocks<double>(random, 90, 70, 3, 3, 40);
        const auto banded = random_matrix<double>(random, matrix_kind::banded, 700, 500);
        const auto check = [&](const host_matrix<double>& m, const sparse_matrix<double>& A) {
            const auto x = small_numbers<double>(random, m.rows * 4);
            std::vector<double> wanted(m.columns * 4);
            for (std::size_t c = 0; c < 4; ++c) {
                std::vector<double> column(m.rows);
                for (std::size_t k = 0; k < m.rows; ++k) column[k] = x[k * 4 + c];
                const auto product = times_transposed(m, column);
                for (std::size_t k = 0; k < m.columns; ++k) wanted[k * 4 + c] = product[k];
            }
            EXPECT_EQ(
                values_of<double>(transposed(A) * view(vector<double>(ctx, x), {m.rows, std::size_t{4}})),
                wanted)
                << describe(A);
        };
        check(blocks.entries(), on_device(ctx, blocks));
        check(banded, on_device(ctx, banded, storage::diagonals));
    });
}

TEST(V11_sparse_transposed, diagonals_take_no_memory_and_others_are_kept) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto banded = random_matrix<double>(random, matrix_kind::banded, 500, 500);
        const auto scattered = random_matrix<double>(random, matrix_kind::scattered, 500, 500);
        const vector<double> x(ctx, small_numbers<double>(random, 500));
        vector<double> y(ctx, 500);
        const auto D = on_device(ctx, banded, storage::diagonals);
        const std::size_t before = D.size_bytes();
        y = transposed(D) * x;
        if (ctx.size() == 1) {
            EXPECT_EQ(D.size_bytes(), before);
            EXPECT_THAT(describe(transposed(D)), HasSubstr("without a copy"));
        }
        const auto S = on_device(ctx, scattered, storage::rows);
        const std::size_t alone = S.size_bytes();
        EXPECT_THAT(describe(transposed(S)), HasSubstr("its first product makes and keeps"));
        y = transposed(S) * x;
        const std::size_t kept = S.size_bytes();
        EXPECT_GT(kept, alone);
        y = transposed(S) * x;
        EXPECT_EQ(S.size_bytes(), kept);
        EXPECT_THAT(describe(transposed(S)), HasSubstr("a transpose that is kept"));
    });
}

TEST(V11_sparse_transposed, an_element_that_no_entry_multiplies_changes_nothing) {
    with_matrices_of_all_devices([](const context& ctx) {
        const double infinite = std::numeric_limits<double>::infinity();
        const std::vector<int> pointers{0, 1, 1, 3}, columns{1, 0, 3};
        const std::vector<double> values{2, 3, 5};
        const vector<double> x(ctx, {1, infinite, 10});
        for (const storage how : all_storages) {
            const sparse_matrix<double> A(ctx, 3, 4, pointers, columns, values, how);
            EXPECT_EQ(values_of<double>(transposed(A) * x), (std::vector<double>{30, 2, 0, 50}))
                << describe(A);
        }
    });
}

TEST(V11_sparse_transposed, many_threads_make_one_transpose) {
    auto random = seeded_random();
    const context ctx;
    const auto m = random_matrix<double>(random, matrix_kind::scattered, 2000, 1500);
    const auto A = on_device(ctx, m, storage::rows);
    const auto x = small_numbers<double>(random, m.rows);
    const vector<double> on_x(ctx, x);
    const std::vector<double> wanted = times_transposed(m, x);
    std::vector<std::vector<double>> got(4);
    std::vector<std::thread> threads;
    for (auto& each : got) threads.emplace_back([&] { each = values_of<double>(transposed(A) * on_x); });
    for (std::thread& each : threads) each.join();
    for (const auto& each : got) EXPECT_EQ(each, wanted);
}

TEST(V11_sparse_transposed, over_several_devices) {
    run_on_three_devices("test_algorithm",
                         "V11_sparse_columns.*:V11_sparse_transposed.*:-V11_sparse_columns.blocks_*");
}

}  // namespace

}  // namespace balm::test

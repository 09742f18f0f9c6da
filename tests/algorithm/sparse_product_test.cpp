// Products of sparse matrices, against sums in std::map. Numbers are small and whole, so that sums are exact
// in any order.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T, class Index>
csr_matrix<T, Index> product_of(const host_matrix<T>& a, const host_matrix<T>& b) {
    csr_matrix<T, Index> made{a.rows, b.columns, {0}, {}, {}};
    for (std::size_t r = 0; r < a.rows; ++r) {
        std::map<std::int64_t, T> row;
        for (auto k = static_cast<std::size_t>(a.pointers[r]);
             k < static_cast<std::size_t>(a.pointers[r + 1]); ++k) {
            const auto middle = static_cast<std::size_t>(a.column_indices[k]);
            for (auto l = static_cast<std::size_t>(b.pointers[middle]);
                 l < static_cast<std::size_t>(b.pointers[middle + 1]); ++l)
                row[b.column_indices[l]] += static_cast<T>(a.values[k] * b.values[l]);
        }
        for (const auto& [column, value] : row) {
            made.column_indices.push_back(static_cast<Index>(column));
            made.values.push_back(value);
        }
        made.row_pointers.push_back(static_cast<Index>(made.values.size()));
    }
    return made;
}

template <class T, class Index>
csr_matrix<T, Index> without_zeros(const csr_matrix<T, Index>& m) {
    csr_matrix<T, Index> made{m.rows, m.columns, {0}, {}, {}};
    for (std::size_t r = 0; r < m.rows; ++r) {
        for (auto k = static_cast<std::size_t>(m.row_pointers[r]);
             k < static_cast<std::size_t>(m.row_pointers[r + 1]); ++k) {
            if (m.values[k] == T{}) continue;
            made.column_indices.push_back(m.column_indices[k]);
            made.values.push_back(m.values[k]);
        }
        made.row_pointers.push_back(static_cast<Index>(made.values.size()));
    }
    return made;
}

template <class T, class Index = std::int32_t>
void check_product(const context& ctx, const host_matrix<T>& a, const host_matrix<T>& b,
                   storage how_a = storage::rows, storage how_b = storage::rows) {
    const auto A = on_device<T, Index>(ctx, a, how_a), B = on_device<T, Index>(ctx, b, how_b);
    const auto C = multiply(A, B, storage::rows);
    const auto wanted = product_of<T, Index>(a, b);
    EXPECT_EQ(C.rows(), a.rows);
    EXPECT_EQ(C.columns(), b.columns);
    const csr_matrix<T, Index> got = to_csr(C);
    EXPECT_EQ(without_zeros(got), without_zeros(wanted));
    // A matrix may be stored as diagonals, on some of its devices too, and those have no zeros.
    if (how_a == storage::rows && how_b == storage::rows) {
        EXPECT_EQ(got, wanted);
    }
}

template <class T>
void check_times_vector(const context& ctx, const host_matrix<T>& a, const host_matrix<T>& b, storage how_a,
                        storage how_b, std::mt19937_64& random) {
    const sparse_matrix<T> C = on_device<T>(ctx, a, how_a) * on_device<T>(ctx, b, how_b);
    const auto x = small_numbers<T>(random, b.columns);
    EXPECT_EQ(values_of<T>(C * vector<T>(ctx, x)), a.times(b.times(x))) << describe(C);
}

TEST(V11_sparse_products, matrices_of_all_kinds) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const matrix_kind kind : all_matrix_kinds)
            for (const matrix_kind other : {matrix_kind::scattered, matrix_kind::banded,
                                            matrix_kind::dense_row, matrix_kind::ends_empty}) {
                if (below(random, 2) == 0) continue;
                const std::size_t rows = 1 + below(random, kind == matrix_kind::long_rows ? 20 : 200),
                                  middle = 1 + below(random, 200),
                                  columns = 1 + below(random, other == matrix_kind::dense_row ? 7000 : 300);
                SCOPED_TRACE(words_of(kind) + " * " + words_of(other) + ", " + std::to_string(rows) + " x " +
                             std::to_string(middle) + " x " + std::to_string(columns));
                check_product(ctx, random_matrix<double>(random, kind, rows, middle),
                              random_matrix<double>(random, other, middle, columns));
            }
    });
}

TEST(V11_sparse_products, operands_in_all_storages) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto a = random_matrix<double>(random, matrix_kind::banded, 300, 250);
        const auto b = random_matrix<double>(random, matrix_kind::banded, 250, 400);
        for (const storage how : all_storages) {
            SCOPED_TRACE(words_of(how));
            check_product(ctx, a, b, how, storage::rows);
            check_product(ctx, a, b, storage::rows, how);
            check_times_vector(ctx, a, b, how, storage::automatic, random);
            check_times_vector(ctx, b, random_matrix<double>(random, matrix_kind::ends_empty, 400, 90),
                               storage::automatic, how == storage::diagonals ? storage::rows : how, random);
        }
    });
}

TEST(V11_sparse_products, values_and_indices_of_all_types) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&]<class... P>(const context& ctx) {
        const auto check = [&]<class T, class Index>(T, Index) {
            check_product<T, Index>(ctx, random_matrix<T>(random, matrix_kind::scattered, 90, 80),
                                    random_matrix<T>(random, matrix_kind::scattered, 80, 70));
        };
        check(float{}, std::int64_t{});
        check(std::int32_t{}, std::int32_t{});
        check(std::uint64_t{}, std::int32_t{});
        check(std::complex<float>{}, std::int32_t{});
        check(std::complex<double>{}, std::int64_t{});
    });
}

TEST(V11_sparse_products, small_shapes_and_no_rows_columns_or_entries) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t rows : {0, 1, 33})
            for (const std::size_t middle : {0, 1, 40})
                for (const std::size_t columns : {0, 1, 35})
                    for (const matrix_kind kind : {matrix_kind::nothing, matrix_kind::scattered}) {
                        SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " +
                                     std::to_string(middle) + " x " + std::to_string(columns));
                        check_product(ctx,
                                      random_matrix<double>(random, matrix_kind::scattered, rows, middle),
                                      random_matrix<double>(random, kind, middle, columns));
                    }
        // An outer product, and an inner one.
        const auto row = random_matrix<double>(random, matrix_kind::dense_row, 1, 3000);
        const auto column = random_matrix<double>(random, matrix_kind::dense_column, 300, 1);
        check_product(ctx, column, row);
        check_product(ctx, random_matrix<double>(random, matrix_kind::dense_row, 1, 300), column);
    });
}

TEST(V11_sparse_products, rows_of_each_length) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        // Row r has 2^(r / 3) products, before duplicates: all sizes of tables, and rows that are expanded.
        host_matrix<double> a, b;
        a.columns = 20000;
        b.columns = 9000;
        for (std::size_t k = 0; k < a.columns; ++k) {
            for (std::size_t l = 0; l < k % 7 * 40; ++l)
                b.add(below(random, b.columns), small_number<double>(random));
            b.end_row();
        }
        for (std::size_t r = 0; r < 24; ++r) {
            for (std::size_t k = 0; k < std::size_t{1} << r / 3; ++k)
                a.add(below(random, a.columns), small_number<double>(random));
            a.end_row();
        }
        check_product(ctx, a, b);
    });
}

TEST(V11_sparse_products, sums_are_near_and_the_same_in_each_run) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        std::uniform_real_distribution<double> number(-1, 1);
        auto a = random_matrix<double>(random, matrix_kind::power_law, 500, 400),
             b = random_matrix<double>(random, matrix_kind::scattered, 400, 300);
        for (double& each : a.values) each = number(random);
        for (double& each : b.values) each = number(random);
        std::vector<double> x(b.columns);
        for (double& each : x) each = number(random);
        const auto A = on_device(ctx, a), B = on_device(ctx, b);
        const auto C = A * B;
        EXPECT_EQ(to_csr(A * B), to_csr(C));
        const vector<double> v(ctx, x);
        const std::vector<double> got = values_of<double>(C * v), parted = values_of<double>(A * (B * v));
        for (std::size_t r = 0; r < a.rows; ++r) {
            const auto length = static_cast<double>(a.pointers[r + 1] - a.pointers[r]);
            ASSERT_NEAR(got[r], parted[r], 1e-14 * 8 * (length + 1)) << r;
        }
    });
}

TEST(V11_sparse_products, galerkin_product_of_a_stencil) {
    with_matrices_of_all_devices([](const context& ctx) {
        // Linear interpolation: the coarse matrix of -u'' is half of the stencil again.
        constexpr std::size_t coarse = 700, fine = 2 * coarse + 1;
        host_matrix<double> a, p;
        a.columns = fine;
        p.columns = coarse;
        for (std::size_t r = 0; r < fine; ++r) {
            if (r > 0) a.add(r - 1, -1);
            a.add(r, 2);
            if (r + 1 < fine) a.add(r + 1, -1);
            a.end_row();
            if (r % 2 == 1) {
                p.add(r / 2, 1);
            } else {
                if (r > 0) p.add(r / 2 - 1, 0.5);
                if (r / 2 < coarse) p.add(r / 2, 0.5);
            }
            p.end_row();
        }
        const auto A = on_device(ctx, a), P = on_device(ctx, p);
        const sparse_matrix<double> C = transpose(P) * A * P;
        EXPECT_EQ(C.stored_as(), storage::diagonals) << describe(C);
        std::vector<double> x(coarse);
        std::iota(x.begin(), x.end(), 1.0);
        const auto y = values_of<double>(C * vector<double>(ctx, x));
        for (std::size_t r = 0; r < coarse; ++r)
            ASSERT_EQ(y[r], r + 1 == coarse ? 0.5 * (coarse + 1) : 0.0) << r;
    });
}

TEST(V11_sparse_products, what_cannot_be_multiplied_is_refused) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto A = on_device(ctx, random_matrix<double>(random, matrix_kind::scattered, 4, 5));
        EXPECT_THAT(
            message_of<usage_error>([&] { A* A; }),
            HasSubstr(
                "a sparse matrix of 4 x 5 cannot be multiplied by one of 4 x 5; the second must have one "
                "row per column of the first"));
        EXPECT_THAT(message_of<usage_error>([&] { A* sparse_matrix<double>(); }),
                    HasSubstr("a sparse matrix without elements cannot be multiplied"));
    });
}

TEST(V11_sparse_products, over_several_devices) {
    run_on_three_devices("test_algorithm", "V11_sparse_products.*");
}

}  // namespace
}  // namespace balm::test

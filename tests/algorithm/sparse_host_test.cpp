// Sparse matrices from triplets, back to the host, and transposed. Numbers are small and whole, so that sums
// are exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// Entries in any order.
template <class T>
struct host_triplets {
    std::vector<std::int64_t> rows, columns;
    std::vector<T> values;
};
template <class T>
host_triplets<T> shuffled(const host_matrix<T>& m, std::mt19937_64& random) {
    host_triplets<T> made;
    std::vector<std::size_t> order(m.values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t k : order) {
        const auto next =
            std::upper_bound(m.pointers.begin(), m.pointers.end(), static_cast<std::int64_t>(k));
        made.rows.push_back(next - m.pointers.begin() - 1);
        made.columns.push_back(m.column_indices[k]);
        made.values.push_back(m.values[k]);
    }
    return made;
}

TEST(V11_sparse_host, triplets_in_any_order_are_the_matrix) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const matrix_kind kind : all_matrix_kinds) {
            const std::size_t rows = 1 + below(random, 300), columns = 1 + below(random, 3000);
            SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " + std::to_string(columns));
            const auto m = random_matrix<double>(random, kind, rows, columns);
            const auto from = shuffled(m, random);
            const auto A = sparse_matrix<double>::from_triplets(ctx, rows, columns, from.rows, from.columns,
                                                                from.values, storage::rows);
            EXPECT_EQ(A.rows(), rows);
            EXPECT_EQ(A.columns(), columns);
            EXPECT_EQ(A.nonzeros(), m.values.size());
            const auto x = small_numbers<double>(random, columns);
            EXPECT_EQ(values_of<double>(A * vector<double>(ctx, x)), m.times(x));
        }
    });
}

TEST(V11_sparse_host, indices_of_triplets_are_integers_of_any_type) {
    on_all_contexts([](const context& ctx) {
        const std::uint8_t rows[] = {1, 0, 1};
        const std::vector<std::uint64_t> columns{2, 0, 2};
        const std::complex<float> values[] = {{1, 2}, {3, 0}, {0, 5}};
        const auto A = sparse_matrix<std::complex<float>, std::int64_t>::from_triplets(
            ctx, 2, 3, rows, columns, std::span(values), storage::rows);
        EXPECT_EQ(A.stored_as(), storage::rows);
        const vector<std::complex<float>> x(ctx, {{1, 0}, {9, 9}, {0, 1}});
        EXPECT_EQ(values_of<std::complex<float>>(A * x), (std::vector<std::complex<float>>{{3, 0}, {-7, 1}}));
        const auto nothing = sparse_matrix<float>::from_triplets(ctx, 2, 3, std::vector<int>{},
                                                                 std::vector<int>{}, std::vector<float>{});
        EXPECT_EQ(nothing.rows(), 2u);
        EXPECT_EQ(nothing.nonzeros(), 0u);
    });
}

TEST(V11_sparse_host, triplets_that_are_no_matrix_are_refused) {
    on_all_contexts([](const context& ctx) {
        const auto refused = [&](std::size_t rows, std::size_t columns, std::vector<std::int64_t> row_indices,
                                 std::vector<std::int64_t> column_indices, std::vector<float> values) {
            return message_of<usage_error>([&] {
                sparse_matrix<float>::from_triplets(ctx, rows, columns, row_indices, column_indices, values);
            });
        };
        EXPECT_THAT(refused(2, 2, {0}, {0, 1}, {1, 2, 3}),
                    HasSubstr("1 row indices, 2 column indices and 3 values; the numbers must be equal"));
        EXPECT_THAT(
            refused(2, 3, {1, 2}, {0, 0}, {1, 1}),
            HasSubstr(
                "entry 1 of a sparse matrix is in row 2, which is out of range: its 2 rows count from 0"));
        EXPECT_THAT(refused(2, 3, {-1}, {0}, {1}), HasSubstr("entry 0 of a sparse matrix is in row -1"));
        EXPECT_THAT(refused(2, 3, {0, 1}, {0, 3}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix, in row 1, is in column 3, which is out of range: "
                              "its 3 columns"));
        EXPECT_THAT(refused(2, 3, {0}, {std::numeric_limits<std::int64_t>::min()}, {1}),
                    HasSubstr("is in column -9223372036854775808"));
        EXPECT_THAT(
            refused(std::size_t{1} << 40, 2, {}, {}, {}),
            HasSubstr("1,099,511,627,776 rows: with the index type i32 it can have at most 2,147,483,647"));
    });
}

/// What to_csr returns for a matrix in this storage. Diagonals add up duplicates, and do not store zeros of
/// integers.
template <class T, class Index>
csr_matrix<T, Index> wanted_csr(const host_matrix<T>& m, storage how) {
    csr_matrix<T, Index> made{m.rows, m.columns, {0}, {}, {}};
    for (std::size_t r = 0; r < m.rows; ++r) {
        std::map<std::int64_t, T> places;
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k) {
            places[m.column_indices[k]] += m.values[k];
            if (how == storage::diagonals) continue;
            made.column_indices.push_back(static_cast<Index>(m.column_indices[k]));
            made.values.push_back(m.values[k]);
        }
        for (const auto& [column, value] : places) {
            if (how != storage::diagonals || (std::is_integral_v<T> && value == T{})) continue;
            made.column_indices.push_back(static_cast<Index>(column));
            made.values.push_back(value);
        }
        made.row_pointers.push_back(static_cast<Index>(made.values.size()));
    }
    return made;
}
template <class T>
host_matrix<T> transposed(const host_matrix<T>& m) {
    std::vector<std::vector<std::pair<std::size_t, T>>> rows(m.columns);
    for (std::size_t r = 0; r < m.rows; ++r)
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k)
            rows[static_cast<std::size_t>(m.column_indices[k])].emplace_back(r, m.values[k]);
    host_matrix<T> made;
    made.columns = m.rows;
    for (const auto& row : rows) {
        for (const auto& [column, value] : row) made.add(column, value);
        made.end_row();
    }
    return made;
}

template <class T, class Index>
void check_way_back(const context& ctx, std::mt19937_64& random) {
    for (const matrix_kind kind : all_matrix_kinds)
        for (const storage how : all_storages) {
            const std::size_t rows = below(random, 200), columns = 1 + below(random, 300);
            SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " + std::to_string(columns) +
                         ", " + words_of(how));
            const auto m = random_matrix<T>(random, kind, rows, columns);
            if (how == storage::diagonals && has_too_many_diagonals(m)) continue;
            const auto A = on_device<T, Index>(ctx, m, how);
            const bool are_parts_alike = how != storage::automatic || ctx.size() == 1;
            const csr_matrix<T, Index> got = to_csr(A);
            if (are_parts_alike) {
                EXPECT_EQ(got, (wanted_csr<T, Index>(m, A.stored_as())));
            }
            EXPECT_EQ(to_csr(sparse_matrix<T, Index>(ctx, got, storage::rows)), got);
            const auto turned = transpose(A, storage::rows);
            EXPECT_EQ(turned.rows(), columns);
            EXPECT_EQ(turned.columns(), rows);
            const csr_matrix<T, Index> columns_ascend = to_csr(turned);
            EXPECT_EQ(to_csr(transpose(transpose(turned, storage::balanced), storage::rows)), columns_ascend);
            if (!are_parts_alike) continue;
            if (A.stored_as() == storage::diagonals) {
                EXPECT_EQ(to_csr(transpose(turned, storage::rows)), got);
            } else {
                EXPECT_EQ(columns_ascend, (wanted_csr<T, Index>(transposed(m), storage::rows)));
            }
        }
}

TEST(V11_sparse_host, every_storage_comes_back) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        check_way_back<double, std::int32_t>(ctx, random);
        check_way_back<std::complex<float>, std::int64_t>(ctx, random);
        check_way_back<std::int32_t, std::int64_t>(ctx, random);
    });
}

TEST(V11_sparse_host, many_tiles_come_back) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const matrix_kind kind :
             {matrix_kind::power_law, matrix_kind::dense_row, matrix_kind::ends_empty}) {
            const auto m = random_matrix<float>(random, kind, 3000, 20000);
            const auto A = on_device<float>(ctx, m, storage::balanced);
            EXPECT_EQ(to_csr(A), (wanted_csr<float, std::int32_t>(m, storage::balanced))) << words_of(kind);
        }
    });
}

TEST(V11_sparse_host, a_transpose_is_stored_as_suits_it_and_multiplies) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto m = random_matrix<double>(random, matrix_kind::dense_column, 3000, 500);
        const auto At = transpose(on_device(ctx, m), storage::rows);
        const auto x = small_numbers<double>(random, m.rows);
        EXPECT_EQ(values_of<double>(At * vector<double>(ctx, x)), transposed(m).times(x));
        if (ctx.size() > 1) return;
        const sparse_matrix<float> diagonal(ctx, 2, 2, std::vector{0, 1, 2}, std::vector{0, 1},
                                            std::vector{1.f, 2.f});
        EXPECT_EQ(transpose(diagonal).stored_as(), storage::diagonals);
        EXPECT_EQ(transpose(diagonal, storage::balanced).stored_as(), storage::balanced);
    });
}

TEST(V11_sparse_host, diagonals_keep_zeros_and_add_up_the_entries_of_a_place) {
    on_all_contexts([](const context& ctx) {
        const csr_matrix<double> m{2, 2, {0, 3, 4}, {1, 0, 1}, {2, 0, 3}};
        csr_matrix<double> whole{2, 2, {0, 3, 4}, {1, 0, 1, 1}, {2, 0, 3, -0.0}};
        EXPECT_EQ(to_csr(sparse_matrix<double>(ctx, whole, storage::rows)), whole);
        const sparse_matrix<double> A(ctx, whole, storage::diagonals);
        EXPECT_EQ(A.nonzeros(), 4u);
        EXPECT_EQ(to_csr(A), (csr_matrix<double>{2, 2, {0, 2, 3}, {0, 1, 1}, {0, 5, 0}}));
        EXPECT_THAT(message_of<usage_error>([&] { sparse_matrix<double> made(ctx, m); }),
                    HasSubstr("end at 4, but it got 3 values"));
    });
}

TEST(V11_sparse_host, no_matrix_has_neither_entries_nor_a_transpose) {
    EXPECT_THAT(message_of<usage_error>([] { to_csr(sparse_matrix<float>()); }),
                HasSubstr("without elements cannot be read; assign one to it first"));
    EXPECT_THAT(message_of<usage_error>([] { transpose(sparse_matrix<float>()); }),
                HasSubstr("without elements cannot be transposed"));
}

TEST(V11_sparse_host, over_several_devices) { run_on_three_devices("test_algorithm", "V11_sparse_host.*"); }

}  // namespace

}  // namespace balm::test

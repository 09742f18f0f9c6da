// Sparse matrices from triplets. Numbers are small and whole, so that sums are exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
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
            EXPECT_EQ(on_host<double>(A * vector<double>(ctx, x)), m.times(x));
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
        EXPECT_EQ(on_host<std::complex<float>>(A * x), (std::vector<std::complex<float>>{{3, 0}, {-7, 1}}));
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
                    HasSubstr("1 row indices, 2 column indices and 3 values; each entry has one of each"));
        EXPECT_THAT(refused(2, 3, {1, 2}, {0, 0}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix is in row 2; its 2 rows count from 0"));
        EXPECT_THAT(refused(2, 3, {-1}, {0}, {1}), HasSubstr("entry 0 of a sparse matrix is in row -1"));
        EXPECT_THAT(refused(2, 3, {0, 1}, {0, 3}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix, in row 1, is in column 3; its 3 columns"));
        EXPECT_THAT(refused(2, 3, {0}, {std::numeric_limits<std::int64_t>::min()}, {1}),
                    HasSubstr("is in column -9223372036854775808"));
        EXPECT_THAT(refused(std::size_t{1} << 40, 2, {}, {}, {}),
                    HasSubstr("1,099,511,627,776 rows: its index type i32 counts to 2,147,483,647"));
    });
}

TEST(V11_sparse_host, over_several_devices) { run_on_three_devices("test_algorithm", "V11_sparse_host.*"); }

}  // namespace

}  // namespace balm::test

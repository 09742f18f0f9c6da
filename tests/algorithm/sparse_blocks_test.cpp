// Sparse matrices of dense blocks against single entries on the host. Numbers are small and whole, so that
// sums are exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_blocks.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

constexpr storage block_storages[] = {storage::slices, storage::rows, storage::balanced};

/// f - A * x, and what of the matrix is the same in each storage.
template <class T>
void check_blocks(const context& ctx, const host_blocks<T>& m, storage how, std::mt19937_64& random) {
    const host_matrix<T> entries = m.entries();
    const auto x = small_numbers<T>(random, entries.columns), f = small_numbers<T>(random, entries.rows);
    const auto A = on_device(ctx, m, how);
    SCOPED_TRACE(describe(A));
    EXPECT_EQ(A.rows(), entries.rows);
    EXPECT_EQ(A.columns(), entries.columns);
    EXPECT_EQ(A.nonzeros(), entries.values.size());
    EXPECT_EQ(A.stored_as(), how);
    std::vector<T> wanted = entries.times(x);
    for (std::size_t r = 0; r < wanted.size(); ++r) wanted[r] = static_cast<T>(f[r] - wanted[r]);
    const vector<T> on_x(ctx, x), on_f(ctx, f);
    EXPECT_EQ(values_of<T>(on_f - A * on_x), wanted);
    const csr_matrix<T> back = to_csr(A);
    EXPECT_EQ(back.values, entries.values);
    EXPECT_TRUE(std::equal(back.row_pointers.begin(), back.row_pointers.end(), entries.pointers.begin(),
                           entries.pointers.end()));
    EXPECT_TRUE(std::equal(back.column_indices.begin(), back.column_indices.end(),
                           entries.column_indices.begin(), entries.column_indices.end()));
}

TEST(V11_sparse_blocks, products_with_blocks_of_all_extents) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const shape extents[] = {{3, 3}, {4, 4}, {8, 8}, {2, 3}};
        for (const shape& block : extents)
            for (const storage how : block_storages) {
                SCOPED_TRACE(to_string(block) + ", " + words_of(how));
                const auto m = random_blocks<double>(random, 1 + below(random, 300), 1 + below(random, 200),
                                                     block[0], block[1], 400);
                check_blocks(ctx, m, how, random);
            }
    });
}

TEST(V11_sparse_blocks, blocks_of_all_types) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto check = [&]<class T>(T) {
            const auto m = random_blocks<T>(random, 1 + below(random, 100), 1 + below(random, 100), 4, 4, 40);
            check_blocks(ctx, m, storage::slices, random);
            check_blocks(ctx, m, storage::rows, random);
        };
        check(float{});
        check(std::int64_t{});
        check(std::complex<double>{});
    });
}

TEST(V11_sparse_blocks, no_rows_columns_or_blocks) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t rows : {0, 1, 33})
            for (const std::size_t columns : {0, 1, 5})
                for (const storage how : block_storages)
                    check_blocks(ctx, random_blocks<double>(random, rows, columns, 3, 3, rows == 1 ? 0 : 70),
                                 how, random);
    });
}

TEST(V11_sparse_blocks, dense_blocks_are_found_in_single_entries) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const bool is_spread = ctx.size() > 1;
        for (const std::size_t size : {2, 3, 4, 8}) {
            SCOPED_TRACE(size);
            const auto blocks = random_blocks<double>(random, 192, 192, size, size, 12);
            const host_matrix<double> m = blocks.entries();
            const auto A = on_device(ctx, m);
            const auto x = small_numbers<double>(random, m.columns);
            EXPECT_EQ(values_of<double>(A * vector<double>(ctx, x)), m.times(x)) << describe(A);
            if (!is_spread) {
                EXPECT_EQ(A.block(), shape(size, size)) << describe(A);
                EXPECT_THAT(describe(A), HasSubstr("BSR"));
                EXPECT_EQ(to_csr(A).values, m.values);
                EXPECT_EQ(to_csr(transpose(A)).values.size(), m.values.size());
            }
            const auto asked = on_device(ctx, m, storage::rows);
            EXPECT_EQ(asked.block(), shape(1, 1));
            EXPECT_EQ(values_of<double>(asked * vector<double>(ctx, x)), m.times(x));
            // Neither one entry less nor one more is made of blocks.
            host_matrix<double> other = m;
            other.column_indices.back() ^= 1;
            EXPECT_EQ(on_device(ctx, other).block(), shape(1, 1));
            EXPECT_EQ(values_of<double>(on_device(ctx, other) * vector<double>(ctx, x)), other.times(x));
        }
    });
}

TEST(V11_sparse_blocks, blocks_take_fewer_bytes) {
    if (devices_are_together()) GTEST_SKIP() << "parts of a matrix differ";
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        host_blocks<double> m;
        m.columns = 3000;
        m.block_rows = m.block_columns = 3;
        for (std::size_t r = 0; r < 3000; ++r) {
            for (int k = 0; k < 20; ++k) m.add(below(random, 3000), random);
            m.end_row();
        }
        for (const storage how : {storage::slices, storage::rows}) {
            const auto A = on_device(ctx, m, how);
            EXPECT_LT(static_cast<double>(A.size_bytes()), 8.6 * static_cast<double>(A.nonzeros()));
            EXPECT_THAT(describe(A), HasSubstr("60,000 blocks of 3 x 3"));
        }
    });
}

TEST(V11_sparse_blocks, irregular_rows_of_blocks_are_balanced) {
    if (devices_are_together()) GTEST_SKIP() << "parts of a matrix differ";
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        auto m = random_blocks<double>(random, 3000, 5000, 3, 3, 30000);
        const auto A = on_device(ctx, m);
        EXPECT_EQ(A.stored_as(), storage::balanced);
        EXPECT_THAT(describe(A), HasSubstr("balanced BSR"));
        check_blocks(ctx, m, storage::balanced, random);
        const vector<double> x(ctx, small_numbers<double>(random, A.columns()));
        const std::vector<double> got = values_of<double>(A * x);
        for (int run = 0; run < 3; ++run) EXPECT_EQ(values_of<double>(A * x), got);
    });
}

TEST(V11_sparse_blocks, an_element_that_no_block_multiplies_changes_nothing) {
    with_matrices_of_all_devices([](const context& ctx) {
        const double infinite = std::numeric_limits<double>::infinity();
        // Rows 0 and 1 have columns 0 and 1; rows 2 and 3 have none; rows 4 and 5 have columns 0, 1, 4, 5.
        const std::vector<int> pointers{0, 1, 1, 3}, columns{0, 0, 2};
        const std::vector<double> values{1, 2, 3, 4, 1, 0, 0, 1, 1, 1, 1, 1};
        const vector<double> x(ctx, {1, 10, infinite, infinite, 100, 1000});
        for (const storage how : block_storages) {
            const auto A =
                sparse_matrix<double>::from_blocks(ctx, 3, 3, {2, 2}, pointers, columns, values, how);
            EXPECT_EQ(values_of<double>(A * x), (std::vector<double>{21, 43, 0, 0, 1101, 1110}));
        }
        const auto diagonal = sparse_matrix<double>::from_blocks(ctx, 3, 3, {2, 2}, pointers, columns, values,
                                                                 storage::diagonals);
        EXPECT_EQ(diagonal.block(), shape(1, 1));
        EXPECT_EQ(values_of<double>(diagonal * x), (std::vector<double>{21, 43, 0, 0, 1101, 1110}));
    });
}

TEST(V11_sparse_blocks, what_are_no_blocks_is_refused) {
    on_all_contexts([](const context& ctx) {
        const auto refused = [&](const shape& block, std::vector<int> pointers, std::vector<int> columns,
                                 std::size_t values, std::size_t rows = 2) {
            return message_of<usage_error>([&] {
                sparse_matrix<float>::from_blocks(ctx, rows, 2, block, pointers, columns,
                                                  std::vector<float>(values, 1.f));
            });
        };
        EXPECT_THAT(refused({3}, {0, 1, 1}, {0}, 9),
                    HasSubstr("the extents 3: they must be rows and columns"));
        EXPECT_THAT(refused({0, 3}, {0, 1, 1}, {0}, 9), HasSubstr("1 to 16 of both"));
        EXPECT_THAT(refused({17, 3}, {0, 1, 1}, {0}, 51), HasSubstr("1 to 16 of both"));
        EXPECT_THAT(refused({3, 3}, {0, 1, 1}, {0}, 8),
                    HasSubstr("1 column indices of blocks and 8 values; each block of 3 x 3 needs 9"));
        EXPECT_THAT(refused({3, 3}, {0, 1}, {0}, 9), HasSubstr("2 rows got 2 row pointers"));
        EXPECT_THAT(refused({3, 3}, {0, 1, 1}, {2}, 9),
                    HasSubstr("is in column 2, which is out of range: its 2 columns"));
        EXPECT_THAT(refused({2, 2}, {0}, {}, 0, std::size_t{1} << 62),
                    HasSubstr("too many entries to count"));
        EXPECT_THAT(refused({2, 2}, {0}, {}, 0, std::size_t{1} << 30), HasSubstr("row pointers"));
    });
}

TEST(V11_sparse_blocks, over_several_devices) {
    run_on_three_devices("test_algorithm",
                         "V11_sparse_blocks.*:-V11_sparse_blocks.products_with_blocks_of_all_extents");
}

}  // namespace

}  // namespace balm::test

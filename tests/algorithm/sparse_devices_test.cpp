// Sparse products over several devices, which exchange elements while inner rows are computed, against loops
// on the host. On one device they are ordinary products.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// Neighbours at these distances, and some entries anywhere.
host_matrix<std::int64_t> with_neighbours(std::mt19937_64& random, std::size_t n, std::size_t distance,
                                          std::size_t scattered) {
    host_matrix<std::int64_t> m;
    m.columns = n;
    for (std::size_t r = 0; r < n; ++r) {
        if (r >= distance) m.add(r - distance, -1);
        m.add(r, 3);
        if (r + distance < n) m.add(r + distance, -1);
        if (scattered > 0 && r % scattered == 0) m.add(below(random, n), 2);
        m.end_row();
    }
    return m;
}

TEST(V11_sparse_devices, each_product_of_many_reads_what_the_one_before_it_wrote) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t scattered : {0, 50, 1})
            for (const storage how : {storage::automatic, storage::rows}) {
                const std::size_t n = 3000 + below(random, 3000);
                const auto m = with_neighbours(random, n, 1 + below(random, 70), scattered);
                const auto A = on_device<std::int64_t>(ctx, m, how);
                SCOPED_TRACE(describe(A));
                std::vector<std::int64_t> x = small_numbers<std::int64_t>(random, n), y(n);
                vector<std::int64_t> on_x(ctx, x), on_y(ctx, n);
                for (int step = 0; step < 8; ++step) {
                    on_y = A * on_x;
                    on_x = on_y - A * on_y + on_x;
                    y = m.times(x);
                    const std::vector<std::int64_t> again = m.times(y);
                    for (std::size_t k = 0; k < n; ++k) x[k] = (y[k] - again[k] + x[k]);
                }
                EXPECT_EQ(values_of<std::int64_t>(on_y), y);
                EXPECT_EQ(values_of<std::int64_t>(on_x), x);
            }
    });
}

TEST(V11_sparse_devices, rows_that_need_elements_of_others_are_few_in_a_banded_matrix) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto m = with_neighbours(random, 20000, 2, 0);
        const auto A = on_device<std::int64_t>(ctx, m);
        EXPECT_EQ(A.stored_as(), storage::diagonals);
        if (ctx.size() > 1) {
            EXPECT_THAT(describe(A), HasSubstr("2 rows that need 6 elements, some of other devices"));
        }
        EXPECT_LT(A.size_bytes(), m.values.size() * 9);
        const auto back = to_csr(A);
        EXPECT_EQ(back.values, m.values);
    });
}

TEST(V11_sparse_devices, a_matrix_that_is_not_square_reads_another_partition) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t columns : {1, 100, 40000}) {
            const auto m = random_matrix<std::int64_t>(random, matrix_kind::scattered, 3000, columns);
            const auto A = on_device<std::int64_t>(ctx, m);
            const auto x = small_numbers<std::int64_t>(random, columns);
            EXPECT_EQ(values_of<std::int64_t>(A * vector<std::int64_t>(ctx, x)), m.times(x)) << describe(A);
        }
    });
}

TEST(V11_sparse_devices, over_several_devices) {
    run_on_three_devices("test_algorithm", "V11_sparse_devices.*");
}

}  // namespace

}  // namespace balm::test

// Matrices from triplets on devices, against sums in std::map. Numbers are small and whole, so that sums are
// exact in any order.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
struct triplets {
    std::size_t rows = 0, columns = 0;
    std::vector<std::int32_t> row_indices;
    std::vector<std::int64_t> column_indices;
    std::vector<T> values;

    void add(std::size_t row, std::size_t column, T value) {
        row_indices.push_back(static_cast<std::int32_t>(row));
        column_indices.push_back(static_cast<std::int64_t>(column));
        values.push_back(value);
    }
    /// Columns ascend; the entries of a place are added up.
    template <class Index>
    csr_matrix<T, Index> wanted() const {
        std::map<std::pair<std::int64_t, std::int64_t>, T> places;
        for (std::size_t k = 0; k < values.size(); ++k)
            places[{row_indices[k], column_indices[k]}] += values[k];
        csr_matrix<T, Index> made{rows, columns, std::vector<Index>(rows + 1), {}, {}};
        for (const auto& [place, value] : places) {
            ++made.row_pointers[static_cast<std::size_t>(place.first) + 1];
            made.column_indices.push_back(static_cast<Index>(place.second));
            made.values.push_back(value);
        }
        for (std::size_t r = 0; r < rows; ++r)
            made.row_pointers[r + 1] = static_cast<Index>(made.row_pointers[r + 1] + made.row_pointers[r]);
        return made;
    }
};

template <class T>
triplets<T> random_triplets(std::mt19937_64& random, std::size_t rows, std::size_t columns,
                            std::size_t count) {
    triplets<T> made{rows, columns, {}, {}, {}};
    for (std::size_t k = 0; k < count; ++k)
        made.add(below(random, rows), below(random, columns), small_number<T>(random));
    return made;
}

template <class T, class Index = std::int32_t>
void check_assembly(const context& ctx, const triplets<T>& from, storage how = storage::rows) {
    const vector<std::int32_t> rows(ctx, from.row_indices);
    const vector<std::int64_t> columns(ctx, from.column_indices);
    const vector<T> values(ctx, from.values);
    const auto A =
        sparse_matrix<T, Index>::from_triplets(from.rows, from.columns, rows, columns, values, how);
    const auto wanted = from.template wanted<Index>();
    EXPECT_EQ(A.rows(), from.rows);
    EXPECT_EQ(A.columns(), from.columns);
    EXPECT_EQ(A.nonzeros(), wanted.values.size());
    if (describe(A).find("DIA") == std::string::npos) {  // of several devices, any part may be diagonals
        EXPECT_EQ(to_csr(A), wanted);
    }
    const std::vector<T> x(from.columns, T(2));
    std::vector<T> y(from.rows);
    for (std::size_t k = 0; k < from.values.size(); ++k)
        y[static_cast<std::size_t>(from.row_indices[k])] += static_cast<T>(from.values[k] * T(2));
    EXPECT_EQ(values_of<T>(A * vector<T>(ctx, x)), y) << describe(A);
}

TEST(V11_sparse_assembly, triplets_with_duplicates_in_all_storages) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto from = random_triplets<double>(random, 1 + below(random, 2000), 1 + below(random, 300),
                                                  20000 + below(random, 5000));
        for (const storage how : {storage::rows, storage::slices, storage::balanced, storage::automatic}) {
            SCOPED_TRACE(words_of(how));
            check_assembly(ctx, from, how);
        }
        // Few places, each of many entries, and rows that are empty.
        check_assembly(ctx, random_triplets<double>(random, 3, 2, 10000), storage::automatic);
        check_assembly(ctx, random_triplets<double>(random, 30000, 1 + below(random, 9), 5000),
                       storage::balanced);
    });
}

TEST(V11_sparse_assembly, values_and_indices_of_all_types) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        check_assembly(ctx, random_triplets<float>(random, 70, 50, 900));
        check_assembly(ctx, random_triplets<std::int32_t>(random, 70, 50, 900));
        check_assembly<std::uint64_t, std::int64_t>(ctx, random_triplets<std::uint64_t>(random, 70, 50, 900));
        check_assembly(ctx, random_triplets<std::complex<float>>(random, 70, 50, 900));
        check_assembly<std::complex<double>, std::int64_t>(
            ctx, random_triplets<std::complex<double>>(random, 70, 50, 900));
    });
}

TEST(V11_sparse_assembly, small_shapes_and_no_entries) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const auto& [rows, columns] : {std::pair(1, 1), std::pair(1, 4000), std::pair(4000, 1)})
            check_assembly(ctx, random_triplets<double>(random, rows, columns, 1 + below(random, 3000)),
                           storage::automatic);
        check_assembly(ctx, triplets<double>{5, 7, {}, {}, {}});
        check_assembly(ctx, triplets<double>{0, 7, {}, {}, {}});
        check_assembly(ctx, triplets<double>{5, 0, {}, {}, {}}, storage::automatic);
    });
}

TEST(V11_sparse_assembly, rows_and_columns_that_do_not_fit_into_one_key) {
    on_all_contexts([](const context& ctx) {
        constexpr std::int64_t far = std::int64_t{1} << 61;
        const vector<std::uint8_t> rows(ctx, {7, 0, 7, 3, 0});
        const vector<std::int64_t> columns(ctx, {far, 5, 0, far + 9, 5});
        const vector<double> values(ctx, {1, 2, 3, 4, 5});
        const auto A = sparse_matrix<double, std::int64_t>::from_triplets(10, std::size_t{far} + 10, rows,
                                                                          columns, values, storage::rows);
        const auto host = to_csr(A);
        EXPECT_EQ(host.row_pointers, (std::vector<std::int64_t>{0, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4}));
        EXPECT_EQ(host.column_indices, (std::vector<std::int64_t>{5, far + 9, 0, far}));
        EXPECT_EQ(host.values, (std::vector<double>{7, 4, 3, 1}));
    });
}

TEST(V11_sparse_assembly, expressions_of_a_stencil_are_stored_as_diagonals) {
    with_matrices_of_all_devices([](const context& ctx) {
        constexpr std::int64_t n = 3000;
        // Entry 3 r + d is in row r and column r + d - 1; those outside are zeros in place of the middle one.
        const vector<double> near(ctx, 1, 1.0);
        const auto k = element_index(0, 3 * n);
        const auto row = k / 3, column = k / 3 + k % 3 - 1;
        const auto is_inside = column >= 0 && column < n;
        const auto A = sparse_matrix<double>::from_triplets(
            n, n, row, select(is_inside, column, row),
            select(is_inside, select(k % 3 == 1, 2.0, -1.0), 0.0) + 0.0 * near[k * 0]);
        EXPECT_EQ(A.stored_as(), storage::diagonals);
        EXPECT_EQ(A.nonzeros(), static_cast<std::size_t>(3 * n - 2));
        const vector<double> x(vector<double>(ctx, static_cast<std::size_t>(n), 1.0));
        const auto y = values_of<double>(A * x);
        for (std::size_t r = 0; r < y.size(); ++r) ASSERT_EQ(y[r], r == 0 || r + 1 == y.size() ? 1 : 0) << r;
    });
}

TEST(V11_sparse_assembly, sums_have_the_same_bits_in_each_run) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        auto from = random_triplets<double>(random, 40, 40, 30000);
        std::uniform_real_distribution<double> number(-1, 1);
        for (double& each : from.values) each = number(random);
        const vector<std::int32_t> rows(ctx, from.row_indices);
        const vector<std::int64_t> columns(ctx, from.column_indices);
        const vector<double> values(ctx, from.values);
        const auto assembled = [&] {
            return to_csr(sparse_matrix<double>::from_triplets(40, 40, rows, columns, values, storage::rows));
        };
        const auto first = assembled();
        EXPECT_EQ(assembled(), first);
        std::map<std::pair<std::int64_t, std::int64_t>, std::pair<long double, long double>> wanted;
        for (std::size_t k = 0; k < from.values.size(); ++k) {
            auto& [sum, size] = wanted[{from.row_indices[k], from.column_indices[k]}];
            sum += from.values[k];
            size += std::abs(from.values[k]);
        }
        ASSERT_EQ(first.values.size(), wanted.size());
        auto next = wanted.begin();
        for (const double got : first.values) {
            const auto [sum, size] = next++->second;
            ASSERT_NEAR(got, static_cast<double>(sum), 1e-14 * static_cast<double>(size));
        }
    });
}

TEST(V11_sparse_assembly, triplets_that_are_no_matrix_are_refused) {
    on_all_contexts([](const context& ctx) {
        const auto refused = [&](std::size_t rows, std::size_t columns, std::vector<std::int32_t> row_indices,
                                 std::vector<std::int64_t> column_indices, std::vector<float> values) {
            const vector<std::int32_t> r(ctx, row_indices);
            const vector<std::int64_t> c(ctx, column_indices);
            const vector<float> v(ctx, values);
            return message_of<usage_error>(
                [&] { sparse_matrix<float>::from_triplets(rows, columns, r, c, v); });
        };
        EXPECT_THAT(refused(2, 2, {0}, {0, 1}, {1, 2, 3}),
                    HasSubstr("1 row indices, 2 column indices and 3 values; the numbers must be equal"));
        EXPECT_THAT(
            refused(2, 3, {1, 2, 0, 9}, {0, 0, -1, 5}, {1, 1, 1, 1}),
            HasSubstr(
                "entry 1 of a sparse matrix is in row 2, which is out of range: its 2 rows count from 0"));
        EXPECT_THAT(refused(2, 3, {0, -1}, {0, 7}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix is in row -1"));
        EXPECT_THAT(refused(2, 3, {0, 1}, {0, 3}, {1, 1}),
                    HasSubstr("entry 1 of a sparse matrix, in row 1, is in column 3, which is out of range: "
                              "its 3 columns"));
        EXPECT_THAT(refused(2, 3, {0}, {std::numeric_limits<std::int64_t>::min()}, {1}),
                    HasSubstr("is in column -9223372036854775808"));
        EXPECT_THAT(
            refused(std::size_t{1} << 40, 2, {}, {}, {}),
            HasSubstr("1,099,511,627,776 rows: with the index type i32 it can have at most 2,147,483,647"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        const vector<std::int32_t> index(ctx, 200);
                        vector<std::int32_t> rows(ctx, 200), columns(ctx, 200);
                        rows = cast<std::int32_t>(element_index());
                        columns = 0;
                        sparse_matrix<double>::from_triplets(
                            200, 1, rows, columns, vector<double>(ctx, 200, 1.0), storage::diagonals);
                    }),
                    HasSubstr("more than 64 diagonals"));
    });
}

TEST(V11_sparse_assembly, over_several_devices) {
    run_on_three_devices("test_algorithm", "V11_sparse_assembly.*");
}

}  // namespace
}  // namespace balm::test

// Functions of the entries of sparse matrices against dense matrices on the host. Numbers are small and
// whole, so that sums are exact.

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
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

/// All elements, and which of them are stored.
template <class T>
struct dense {
    std::size_t rows = 0, columns = 0;
    std::vector<T> values;
    std::vector<bool> is_entry;

    dense(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c), is_entry(r * c) {}
    void add(std::size_t r, std::size_t c, const T& value) {
        values[r * columns + c] = static_cast<T>(values[r * columns + c] + value);
        is_entry[r * columns + c] = true;
    }
    T& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
};
template <class T, class P, class C>
dense<T> dense_of(std::size_t rows, std::size_t columns, const P& pointers, const C& column_indices,
                  const std::vector<T>& values) {
    dense<T> made(rows, columns);
    for (std::size_t r = 0; r < rows; ++r)
        for (auto k = static_cast<std::size_t>(pointers[r]); k < static_cast<std::size_t>(pointers[r + 1]);
             ++k)
            made.add(r, static_cast<std::size_t>(column_indices[k]), values[k]);
    return made;
}
template <class T>
dense<T> dense_of(const host_matrix<T>& m) {
    return dense_of(m.rows, m.columns, m.pointers, m.column_indices, m.values);
}
/// The matrix has the wanted elements, and stores the wanted ones; zeros of integers need not be stored.
template <class T, class I>
void expect_matrix(const sparse_matrix<T, I>& got, const dense<T>& wanted) {
    ASSERT_EQ(got.rows(), wanted.rows);
    ASSERT_EQ(got.columns(), wanted.columns);
    const csr_matrix<T, I> host = to_csr(got);
    const dense<T> is =
        dense_of(host.rows, host.columns, host.row_pointers, host.column_indices, host.values);
    EXPECT_EQ(is.values, wanted.values) << describe(got);
    for (std::size_t k = 0; k < is.values.size(); ++k)
        if (is.values[k] != T() || !std::is_integral_v<T>) {
            ASSERT_EQ(is.is_entry[k], wanted.is_entry[k]) << describe(got) << ", element " << k;
        }
}

template <class P>
class V11_sparse_entries : public testing::Test {};
template <class T, class I>
struct entry_types {
    using value = T;
    using index = I;
};
using types_of_entries =
    testing::Types<entry_types<float, std::int32_t>, entry_types<double, std::int64_t>,
                   entry_types<std::uint64_t, std::int32_t>, entry_types<std::int32_t, std::int64_t>,
                   entry_types<std::complex<double>, std::int32_t>>;
TYPED_TEST_SUITE(V11_sparse_entries, types_of_entries);

/// A sum that the library returns, as the host's type.
template <class T, class S>
T number_of(const S& sum) {
    if constexpr (requires { sum.real(); })
        return T(sum.real(), sum.imag());
    else
        return static_cast<T>(sum);
}

storage drawn_storage(std::mt19937_64& random) {
    constexpr storage list[] = {storage::automatic, storage::slices, storage::rows, storage::balanced};
    return list[random() % 4];
}

TYPED_TEST(V11_sparse_entries, agree_with_dense_matrices) {
    using T = typename TypeParam::value;
    using I = typename TypeParam::index;
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const matrix_kind kind : {matrix_kind::scattered, all_matrix_kinds[below(random, 10)]}) {
            const std::size_t rows = below(random, 5) == 0 ? 1 + below(random, 3) : 1 + below(random, 80),
                              columns = 1 + below(random, 80);
            SCOPED_TRACE(words_of(kind) + ", " + std::to_string(rows) + " x " + std::to_string(columns));
            const auto m = random_matrix<T>(random, kind, rows, columns),
                       other = random_matrix<T>(random, matrix_kind::scattered, rows, columns);
            const auto A = on_device<T, I>(ctx, m, drawn_storage(random)),
                       B = on_device<T, I>(ctx, other, drawn_storage(random));
            const dense<T> a = dense_of(m), b = dense_of(other);

            std::vector<T> of_rows(rows), of_columns(columns), diagonal_of(std::min(rows, columns));
            T all{};
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < columns; ++c) {
                    const T value = a.values[r * columns + c];
                    of_rows[r] = static_cast<T>(of_rows[r] + value);
                    of_columns[c] = static_cast<T>(of_columns[c] + value);
                    all = static_cast<T>(all + value);
                    if (r == c) diagonal_of[r] = value;
                }
            EXPECT_EQ(values_of<T>(row_sums(A)), of_rows);
            EXPECT_EQ(values_of<T>(col_sums(A)), of_columns);
            EXPECT_EQ(number_of<T>(sum(A)), all);
            EXPECT_EQ(values_of<T>(diagonal(A)), diagonal_of);

            const T factor = small_number<T>(random);
            const auto d = small_numbers<T>(random, rows), e = small_numbers<T>(random, columns);
            dense<T> scaled = a, by_rows = a, by_columns = a, sums = a, differences = a, products = a;
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < columns; ++c) {
                    const std::size_t k = r * columns + c;
                    scaled.at(r, c) = static_cast<T>(a.values[k] * factor);
                    by_rows.at(r, c) = static_cast<T>(a.values[k] * d[r]);
                    by_columns.at(r, c) = static_cast<T>(a.values[k] * e[c]);
                    sums.at(r, c) = static_cast<T>(a.values[k] + b.values[k]);
                    differences.at(r, c) = static_cast<T>(a.values[k] - b.values[k]);
                    products.at(r, c) = static_cast<T>(a.values[k] * b.values[k]);
                    sums.is_entry[k] = differences.is_entry[k] = a.is_entry[k] || b.is_entry[k];
                    products.is_entry[k] = a.is_entry[k] && b.is_entry[k];
                }
            expect_matrix(factor * A, scaled);
            expect_matrix(A * factor, scaled);
            expect_matrix(scale_rows(A, vector<T>(ctx, d)), by_rows);
            expect_matrix(scale_columns(A, vector<T>(ctx, e), storage::rows), by_columns);
            expect_matrix(A + B, sums);
            expect_matrix(A - B, differences);
            expect_matrix(hadamard(A, B), products);
            expect_matrix(hadamard(A, B, storage::slices), products);

            const std::size_t first = below(random, rows + 1), last = first + below(random, rows - first + 1);
            dense<T> part(last - first, columns);
            for (std::size_t k = 0; k < part.values.size(); ++k) {
                part.values[k] = a.values[first * columns + k];
                part.is_entry[k] = a.is_entry[first * columns + k];
            }
            expect_matrix(balm::rows(A, first, last), part);
            // The entries of a matrix by columns are those of its transpose by rows.
            dense<T> turned(columns, rows);
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t c = 0; c < columns; ++c) {
                    turned.at(c, r) = a.values[r * columns + c];
                    turned.is_entry[c * rows + r] = a.is_entry[r * columns + c];
                }
            expect_matrix(sparse_matrix<T, I>::from_csc(ctx, columns, rows, m.pointers, m.column_indices,
                                                        m.values, drawn_storage(random)),
                          turned);
        }
    });
}

TEST(V11_sparse_entry_functions, of_diagonals_blocks_and_no_entries) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const auto m = random_matrix<double>(random, matrix_kind::banded, 70, 90);
        const auto A = on_device<double, std::int32_t>(ctx, m, storage::diagonals);
        dense<double> twice = dense_of(m);
        for (double& each : twice.values) each *= 2;
        expect_matrix(A + A, twice);
        expect_matrix(2 * A, twice);

        const auto K = sparse_matrix<double>::from_blocks(ctx, 2, 2, {2, 2}, std::vector<int>{0, 1, 2},
                                                          std::vector<int>{0, 1},
                                                          std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
        EXPECT_EQ(values_of<double>(diagonal(K)), (std::vector<double>{1, 4, 5, 8}));
        EXPECT_EQ(values_of<double>(row_sums(K)), (std::vector<double>{3, 7, 11, 15}));
        EXPECT_EQ(to_csr(rows(K, 1, 3)).values, (std::vector<double>{3, 4, 5, 6}));

        const sparse_matrix<double> none(ctx, 3, 2, std::vector<int>{0, 0, 0, 0}, std::vector<int>{},
                                         std::vector<double>{});
        EXPECT_EQ(sum(none), 0);
        EXPECT_EQ(values_of<double>(diagonal(none)), (std::vector<double>{0, 0}));
        EXPECT_EQ((none + none).nonzeros(), 0u);
        EXPECT_EQ(hadamard(none, none).nonzeros(), 0u);
        EXPECT_EQ((3 * none).nonzeros(), 0u);
        EXPECT_EQ(rows(none, 1, 1).rows(), 0u);
        EXPECT_EQ(rows(none, 1, 1).columns(), 2u);
    });
}

TEST(V11_sparse_entry_functions, take_expressions_and_narrower_numbers) {
    on_all_contexts([](const context& ctx) {
        const sparse_matrix<double> A(ctx, 2, 2, std::vector<int>{0, 2, 3}, std::vector<int>{0, 1, 1},
                                      std::vector<double>{4, -1, 8});
        const vector<float> d(ctx, {1, 2});
        EXPECT_EQ(to_csr(scale_rows(A, 1 / diagonal(A))).values, (std::vector<double>{1, -0.25, 1}));
        EXPECT_EQ(to_csr(scale_columns(A, d + 1)).values, (std::vector<double>{8, -3, 24}));
        EXPECT_EQ(to_csr(scale_rows(A, constant(3))).values, (std::vector<double>{12, -3, 24}));
        EXPECT_EQ(values_of<double>((0.5f * A) * vector<double>(ctx, {1, 1})), (std::vector<double>{1.5, 4}));
    });
}

TEST(V11_sparse_entry_functions, refuse_what_does_not_fit) {
    const context ctx;
    const sparse_matrix<double> A(ctx, 2, 3, std::vector<int>{0, 2, 3}, std::vector<int>{0, 1, 1},
                                  std::vector<double>{4, -1, 8}),
        B(ctx, 3, 2, std::vector<int>{0, 0, 0, 0}, std::vector<int>{}, std::vector<double>{}), none;
    const auto words = [](const auto& f) { return message_of<usage_error>(f); };
    EXPECT_THAT(words([&] { A + B; }),
                HasSubstr("of 2 x 3 and 3 x 2 cannot be added; both must have the same"));
    EXPECT_THAT(words([&] { A - B; }), HasSubstr("cannot be subtracted"));
    EXPECT_THAT(words([&] { hadamard(A, B); }), HasSubstr("cannot be multiplied by element"));
    EXPECT_THAT(words([&] { A + none; }), HasSubstr("without elements cannot be added"));
    EXPECT_THAT(words([&] { 2 * none; }), HasSubstr("without elements cannot be scaled"));
    EXPECT_THAT(words([&] { diagonal(none); }), HasSubstr("without elements cannot be read"));
    EXPECT_THAT(words([&] { static_cast<void>(row_sums(none)); }),
                HasSubstr("without elements cannot be multiplied"));
    EXPECT_THAT(words([&] { scale_rows(A, vector<double>(ctx, 3)); }),
                HasSubstr("3 factors cannot scale the 2 rows of a sparse matrix"));
    EXPECT_THAT(words([&] { scale_columns(A, vector<double>(ctx, 2)); }),
                HasSubstr("2 factors cannot scale the 3 columns of a sparse matrix"));
    EXPECT_THAT(words([&] { rows(A, 1, 3); }),
                HasSubstr("rows 1 to 3 of a sparse matrix of 2 rows do not exist"));
    EXPECT_THAT(words([&] { rows(A, 2, 1); }), HasSubstr("do not exist"));
    const auto csc = [&](const std::vector<int>& pointers, const std::vector<int>& row_indices) {
        return words([&] {
            sparse_matrix<double>::from_csc(ctx, 4, 2, pointers, row_indices,
                                            std::vector<double>(row_indices.size(), 1.0));
        });
    };
    EXPECT_THAT(csc({0, 1}, {0}),
                HasSubstr("a sparse matrix of 2 columns got 2 column pointers; CSC needs 3"));
    EXPECT_THAT(
        csc({0, 1, 2}, {0, 4}),
        HasSubstr("entry 1 of a sparse matrix, in column 1, is in row 4, which is out of range: its 4 rows"));
    EXPECT_THAT(csc({0, 2, 1}, {0}), HasSubstr("column pointer 2 of a sparse matrix is 1, less than"));
}

TEST(V11_sparse_entry_functions, over_several_devices) {
    run_on_three_devices("test_algorithm",
                         "V11_sparse_entries*:V11_sparse_entry_functions*:-*several_devices");
}

}  // namespace

}  // namespace balm::test

// Products of matrices and vectors of different types, which are computed in the wider one, and of elements
// that are infinite or NaN, against loops on the host. Finite sums are exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

template <class T>
struct part_of {
    using type = T;
};
template <class T>
struct part_of<std::complex<T>> {
    using type = T;
};
template <class T>
inline constexpr bool is_complex_number = !std::is_same_v<typename part_of<T>::type, T>;
template <class A, class B>
using wider_part = std::common_type_t<typename part_of<A>::type, typename part_of<B>::type>;
/// What C++ computes a product of numbers of two types in.
template <class A, class B>
using wider = std::conditional_t<
    is_complex_number<A> || is_complex_number<B>,
    std::complex<std::conditional_t<std::is_integral_v<wider_part<A, B>>, double, wider_part<A, B>>>,
    wider_part<A, B>>;

/// A product as devices compute it: a real factor multiplies both parts.
template <class P, class T, class X>
P product(const T& value, const X& x) {
    if constexpr (is_complex_number<T> && is_complex_number<P>) {
        const P a(value), b(x);
        return P(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    } else if constexpr (is_complex_number<P>) {
        const auto factor = static_cast<typename P::value_type>(value);
        return P(factor * static_cast<typename P::value_type>(x.real()),
                 factor * static_cast<typename P::value_type>(x.imag()));
    } else {
        return static_cast<P>(static_cast<P>(value) * static_cast<P>(x));
    }
}
/// A * x for columns of a row-major matrix, or the transpose of A times them.
template <class P, class T, class X>
std::vector<P> times(const host_matrix<T>& m, const std::vector<X>& x, std::size_t columns,
                     bool is_transposed) {
    std::vector<P> y((is_transposed ? m.columns : m.rows) * columns);
    for (std::size_t r = 0; r < m.rows; ++r)
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k) {
            const auto c = static_cast<std::size_t>(m.column_indices[k]);
            const std::size_t from = is_transposed ? r : c, to = is_transposed ? c : r;
            for (std::size_t j = 0; j < columns; ++j)
                y[to * columns + j] =
                    static_cast<P>(y[to * columns + j] + product<P>(m.values[k], x[from * columns + j]));
        }
    return y;
}

/// Small numbers with digits that only double has.
template <class X>
std::vector<X> wide_numbers(std::mt19937_64& random, std::size_t count) {
    std::vector<X> list = small_numbers<X>(random, count);
    if constexpr (std::is_same_v<typename part_of<X>::type, double>)
        for (X& each : list) each += X(static_cast<double>(random() % 1024) * 0x1p-25);
    return list;
}

template <class A, class B>
struct pair_of {
    using value = A;
    using element = B;
};
template <class P>
class V11_sparse_two_types : public testing::Test {};
using pairs_of_types =
    testing::Types<pair_of<float, double>, pair_of<double, float>, pair_of<std::int32_t, float>,
                   pair_of<std::int64_t, double>, pair_of<std::int32_t, std::int64_t>,
                   pair_of<float, std::int32_t>, pair_of<float, std::complex<float>>,
                   pair_of<float, std::complex<double>>, pair_of<double, std::complex<float>>,
                   pair_of<std::int32_t, std::complex<double>>, pair_of<std::complex<float>, double>,
                   pair_of<std::complex<double>, float>, pair_of<std::complex<float>, std::complex<double>>>;
TYPED_TEST_SUITE(V11_sparse_two_types, pairs_of_types);

TYPED_TEST(V11_sparse_two_types, products_are_computed_in_the_wider_type) {
    using T = typename TypeParam::value;
    using X = typename TypeParam::element;
    using P = wider<T, X>;
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
        for (const storage how : all_storages) {
            if (on_cpu && below(random, 4) != 0) continue;  // each is some kernels to compile
            const matrix_kind kind = how == storage::diagonals   ? matrix_kind::banded
                                     : how == storage::balanced  ? matrix_kind::dense_row
                                     : how != storage::automatic ? matrix_kind::scattered
                                                                 : all_matrix_kinds[below(random, 9)];
            const std::size_t rows = 1 + below(random, 600), columns = 1 + below(random, 9000);
            const auto m = random_matrix<T>(random, kind, rows, columns);
            const auto A = on_device<T, std::int32_t>(ctx, m, how);
            for (const std::size_t k : {std::size_t{1}, 1 + below(random, 8)}) {
                SCOPED_TRACE(words_of(kind) + ", " + words_of(how) + ", " + std::to_string(k) +
                             " columns of " + std::to_string(rows) + " x " + std::to_string(columns));
                const auto x = wide_numbers<X>(random, columns * k), z = wide_numbers<X>(random, rows * k);
                const vector<X> on_x(ctx, x), on_z(ctx, z);
                vector<P> y(ctx, rows * k), g(ctx, columns * k);
                view(y, {rows, k}) = A * view(on_x, {columns, k});
                EXPECT_EQ(values_of<P>(y), (times<P>(m, x, k, false))) << describe(A);
                view(g, {columns, k}) = transposed(A) * view(on_z, {rows, k});
                EXPECT_EQ(values_of<P>(g), (times<P>(m, z, k, true))) << describe(A);
                y -= A * view(on_x, {columns, k});
                EXPECT_EQ(values_of<P>(y), std::vector<P>(rows * k));
            }
        }
    });
}

TEST(V11_sparse_two_types, dense_blocks) {
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        for (const std::size_t size : {2, 3, 4, 8})
            for (const storage how : {storage::slices, storage::rows, storage::balanced}) {
                SCOPED_TRACE(words_of(how) + ", blocks of " + std::to_string(size));
                const std::size_t n = 40;
                std::vector<int> pointers{0}, columns;
                host_matrix<float> m;
                m.columns = n * size;
                std::vector<float> values;
                for (std::size_t r = 0; r < n; ++r) {
                    for (std::size_t k = 0; k < r % 5; ++k)
                        columns.push_back(static_cast<int>((7 * r + k) % n));
                    pointers.push_back(static_cast<int>(columns.size()));
                    const auto first = static_cast<std::size_t>(pointers[r]);
                    for (std::size_t k = first * size * size; k < columns.size() * size * size; ++k)
                        values.push_back(small_number<float>(random));
                    for (std::size_t i = 0; i < size; ++i) {
                        for (std::size_t b = first; b < columns.size(); ++b)
                            for (std::size_t j = 0; j < size; ++j)
                                m.add(static_cast<std::size_t>(columns[b]) * size + j,
                                      values[(b * size + i) * size + j]);
                        m.end_row();
                    }
                }
                const auto A = sparse_matrix<float>::from_blocks(ctx, n, n, {size, size}, pointers, columns,
                                                                 values, how);
                const auto x = wide_numbers<double>(random, m.columns);
                const auto z = wide_numbers<std::complex<double>>(random, m.columns);
                EXPECT_EQ(values_of<double>(A * vector<double>(ctx, x)), (times<double>(m, x, 1, false)));
                EXPECT_EQ(values_of<std::complex<double>>(A * vector<std::complex<double>>(ctx, z)),
                          (times<std::complex<double>>(m, z, 1, false)));
            }
    });
}

TEST(V11_sparse_two_types, over_several_devices) {
    run_on_three_devices("test_algorithm", "V11_sparse_two_types*:V11_sparse_specials*:-*several_devices");
}

template <class T>
T drawn_special(std::mt19937_64& random, bool may_be_infinite) {
    if constexpr (is_complex_number<T>) {
        const auto real = drawn_special<typename T::value_type>(random, may_be_infinite);
        return {real, drawn_special<typename T::value_type>(random, may_be_infinite)};
    } else {
        const T inf = std::numeric_limits<T>::infinity();
        const T finite[] = {T(0), T(-0.0), T(1), T(-2), T(3)};
        const T any[] = {inf, -inf, std::numeric_limits<T>::quiet_NaN(), T(0), T(1), T(-2), T(1), T(3)};
        return may_be_infinite ? any[random() % 8] : finite[random() % 5];
    }
}
template <class T>
bool is_same_number(const T& a, const T& b) {
    if constexpr (is_complex_number<T>)
        return is_same_number(a.real(), b.real()) && is_same_number(a.imag(), b.imag());
    else
        return a == b || (std::isnan(a) && std::isnan(b));
}
template <class T>
void expect_same_numbers(const std::vector<T>& got, const std::vector<T>& wanted, const std::string& of) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t k = 0; k < got.size(); ++k)
        ASSERT_TRUE(is_same_number(got[k], wanted[k]))
            << of << ": element " << k << " is " << got[k] << ", not " << wanted[k];
}

template <class P>
class V11_sparse_specials : public testing::Test {};
using pairs_of_floats =
    testing::Types<pair_of<float, float>, pair_of<double, double>, pair_of<float, double>,
                   pair_of<std::complex<float>, std::complex<float>>, pair_of<double, std::complex<double>>>;
TYPED_TEST_SUITE(V11_sparse_specials, pairs_of_floats);

/// Entries that are 0 meet infinite and NaN elements in every storage, and places without entries in none.
TYPED_TEST(V11_sparse_specials, results_do_not_depend_on_the_storage) {
    using T = typename TypeParam::value;
    using X = typename TypeParam::element;
    using P = wider<T, X>;
    auto random = seeded_random();
    with_matrices_of_all_devices([&](const context& ctx) {
        const std::size_t rows = 1 + below(random, 300), columns = 1 + below(random, 300);
        host_matrix<T> m;
        m.columns = columns;
        std::vector<std::int64_t> offsets;
        for (int k = 0; k < 5; ++k)
            offsets.push_back(static_cast<std::int64_t>(below(random, rows + columns)) -
                              static_cast<std::int64_t>(rows));
        std::sort(offsets.begin(), offsets.end());
        offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
        for (std::size_t r = 0; r < rows; ++r) {
            for (const std::int64_t offset : offsets) {
                const std::int64_t c = static_cast<std::int64_t>(r) + offset;
                if (c >= 0 && c < static_cast<std::int64_t>(columns) && below(random, 6) > 0)
                    m.add(static_cast<std::size_t>(c), drawn_special<T>(random, false));
            }
            m.end_row();
        }
        const std::size_t k = 1 + below(random, 4);
        std::vector<X> x, z;
        for (std::size_t i = 0; i < columns * k; ++i)
            x.push_back(drawn_special<X>(random, below(random, 3) == 0));
        for (std::size_t i = 0; i < rows * k; ++i)
            z.push_back(drawn_special<X>(random, below(random, 3) == 0));
        const vector<X> on_x(ctx, x), on_z(ctx, z);
        vector<P> y(ctx, rows * k), g(ctx, columns * k);
        const auto expect = [&](const sparse_matrix<T>& A) {
            view(y, {rows, k}) = A * view(on_x, {columns, k});
            expect_same_numbers(values_of<P>(y), times<P>(m, x, k, false), describe(A));
            view(g, {columns, k}) = transposed(A) * view(on_z, {rows, k});
            expect_same_numbers(values_of<P>(g), times<P>(m, z, k, true), describe(A));
            EXPECT_EQ(to_csr(A).values.size(), m.values.size()) << describe(A);
        };
        for (const storage how : all_storages) {
            expect(on_device<T, std::int32_t>(ctx, m, how));
            std::vector<int> row_indices;
            for (std::size_t r = 0; r < rows; ++r)
                row_indices.insert(row_indices.end(),
                                   static_cast<std::size_t>(m.pointers[r + 1] - m.pointers[r]),
                                   static_cast<int>(r));
            if (row_indices.empty()) continue;
            expect(sparse_matrix<T>::from_triplets(rows, columns, vector<int>(ctx, row_indices),
                                                   vector<std::int64_t>(ctx, m.column_indices),
                                                   vector<T>(ctx, m.values), how));
        }
    });
}

}  // namespace

}  // namespace balm::test

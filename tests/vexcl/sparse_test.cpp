// Sparse matrices in expressions against products on the host.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <set>
#include <string>
#include <type_traits>

#include "vexcl/contexts.hpp"

using block = std::array<std::array<double, 2>, 2>;
using pair = std::array<double, 2>;
using complex_number = std::complex<double>;

namespace vex {

template <>
struct is_cl_native<block> : std::true_type {};
template <>
struct is_cl_native<pair> : std::true_type {};
template <>
struct is_cl_native<complex_number> : std::true_type {};
template <>
struct type_name_impl<block> {
    static std::string get() { return "double4"; }
};
template <>
struct type_name_impl<pair> {
    static std::string get() { return "double2"; }
};
template <>
struct type_name_impl<complex_number> {
    static std::string get() { return "double2"; }
};

namespace sparse {

template <>
struct rhs_of<block> {
    typedef pair type;
};
template <>
struct spmv_ops_impl<block, pair> {
    static void decl_accum_var(backend::source_generator& src, const std::string& name) {
        src.new_line() << type_name<pair>() << ' ' << name << " = {0, 0};";
    }
    static void append_product(backend::source_generator& src, const std::string& sum, const std::string& a,
                               const std::string& x) {
        src.open("{");
        src.new_line() << "double2 v = " << x << ';';
        src.new_line() << sum << ".x += " << a << ".x * v.x + " << a << ".y * v.y;";
        src.new_line() << sum << ".y += " << a << ".z * v.x + " << a << ".w * v.y;";
        src.close("}");
    }
};
template <>
struct spmv_ops_impl<complex_number, complex_number> {
    static void decl_accum_var(backend::source_generator& src, const std::string& name) {
        src.new_line() << "double2 " << name << " = {0, 0};";
    }
    static void append_product(backend::source_generator& src, const std::string& sum, const std::string& a,
                               const std::string& x) {
        src.new_line() << sum << ".x += " << a << ".x * " << x << ".x - " << a << ".y * " << x << ".y;";
        src.new_line() << sum << ".y += " << a << ".x * " << x << ".y + " << a << ".y * " << x << ".x;";
    }
};

}  // namespace sparse
}  // namespace vex

namespace balm::test {

namespace {

template <class Col, class Val>
struct host_matrix {
    std::size_t rows, columns;
    std::vector<Col> row{0}, col;
    std::vector<Val> val;

    /// Up to 15 entries a row; none in every tenth.
    host_matrix(std::mt19937_64& random, std::size_t height, std::size_t width)
        : rows(height), columns(width) {
        for (std::size_t i = 0; i < rows; ++i) {
            std::set<Col> in_row;
            for (std::size_t k = i % 10 == 9 ? 0 : random() % 16; k > 0; --k)
                in_row.insert(static_cast<Col>(random() % columns));
            for (const Col c : in_row) {
                col.push_back(c);
                val.push_back(static_cast<Val>(random() % 1000) / 100);
            }
            row.push_back(static_cast<Col>(col.size()));
        }
    }
    std::vector<Val> times(const Val* x) const {
        std::vector<Val> made(rows);
        for (std::size_t i = 0; i < rows; ++i)
            for (Col j = row[i]; j < row[i + 1]; ++j)
                made[i] += val[static_cast<std::size_t>(j)] * x[col[static_cast<std::size_t>(j)]];
        return made;
    }
};

TEST(B9_vexcl_sparse, products_are_terms) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<std::size_t, double> m(random, 1024, 1024);
        const std::vector<double> host = numbers<double>(random, m.columns), product = m.times(host.data());
        const vex::SpMat<double> A(ctx, m.rows, m.columns, m.row.data(), m.col.data(), m.val.data());
        EXPECT_EQ(A.rows(), m.rows);
        EXPECT_EQ(A.cols(), m.columns);
        EXPECT_EQ(A.nonzeros(), m.val.size());
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, m.rows);
        y = A * x;
        expect_elements(y, [&](std::size_t i) { return product[i]; });
        y -= A * x;
        expect_elements(y, [](std::size_t) { return 0.0; });
        y += 42 * (A * x);
        expect_elements(y, [&](std::size_t i) { return 42 * product[i]; });
        y = x + A * x - 2;
        expect_elements(y, [&](std::size_t i) { return host[i] + product[i] - 2; });
    });
}

TEST(B9_vexcl_sparse, rectangular_and_with_other_index_types) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<int, double> m(random, 500, 1700);
        const std::vector<unsigned> row(m.row.begin(), m.row.end());
        const std::vector<double> host = numbers<double>(random, m.columns), product = m.times(host.data());
        const vex::SpMat<double, int, unsigned> A(ctx, m.rows, m.columns, row.data(), m.col.data(),
                                                  m.val.data());
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, m.rows);
        y = A * x;
        expect_elements(y, [&](std::size_t i) { return product[i]; });
    });
}

TEST(B9_vexcl_sparse, products_inside_functions_and_reductions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<std::size_t, double> m(random, 777, 777);
        const std::vector<double> host = numbers<double>(random, m.columns), product = m.times(host.data());
        const vex::SpMat<double> A(ctx, m.rows, m.columns, m.row.data(), m.col.data(), m.val.data());
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, m.rows);
        y = sin(vex::make_inline(A * x));
        expect_elements(y, [&](std::size_t i) { return std::sin(product[i]); });
        const vex::Reductor<double, vex::MAX> max(ctx);
        EXPECT_NEAR(max(vex::make_inline(A * x)), *std::max_element(product.begin(), product.end()), 1e-9);
    });
}

TEST(B9_vexcl_sparse, multivectors) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<std::size_t, double> m(random, 600, 600);
        const std::vector<double> host = numbers<double>(random, 2 * m.columns);
        const std::vector<double> first = m.times(host.data()), second = m.times(host.data() + m.columns);
        const vex::SpMat<double> A(ctx, m.rows, m.columns, m.row.data(), m.col.data(), m.val.data());
        const vex::multivector<double, 2> x(ctx, host);
        vex::multivector<double, 2> y(ctx, m.rows);
        y = x + A * x;
        expect_elements(y(0), [&](std::size_t i) { return host[i] + first[i]; });
        expect_elements(y(1), [&](std::size_t i) { return host[m.columns + i] + second[i]; });
        y = cos(vex::make_inline(A * x));
        expect_elements(y(1), [&](std::size_t i) { return std::cos(second[i]); });
    });
}

template <class Matrix>
void expect_product(std::mt19937_64& random, const vex::Context& ctx) {
    const host_matrix<int, double> m(random, 1024, 1024);
    const std::vector<double> host = numbers<double>(random, m.columns), product = m.times(host.data());
    const Matrix A(ctx, m.rows, m.columns, m.row, m.col, m.val);
    const vex::vector<double> x(ctx, host);
    vex::vector<double> y(ctx, m.rows);
    y = A * x;
    expect_elements(y, [&](std::size_t i) { return product[i]; });
    y = 2 * (A * sin(x));
    std::vector<double> sines = host;
    for (double& each : sines) each = std::sin(each);
    const std::vector<double> of_sines = m.times(sines.data());
    expect_elements(y, [&](std::size_t i) { return 2 * of_sines[i]; });
}

TEST(B9_vexcl_sparse, formats_by_name) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        expect_product<vex::sparse::csr<double>>(random, ctx);
        expect_product<vex::sparse::ell<double>>(random, ctx);
        expect_product<vex::sparse::matrix<double>>(random, ctx);
        expect_product<vex::sparse::distributed<vex::sparse::matrix<double>>>(random, ctx);
    });
}

/// -Δ in one dimension: rows of the border and of the inside, with distances from the diagonal as columns.
TEST(B9_vexcl_sparse, rows_that_repeat_are_kept_once) {
    auto random = seeded_random();
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    constexpr std::size_t n = 1000;
    std::vector<std::size_t> which(n, 1);
    which.front() = which.back() = 0;
    const std::size_t row[] = {0, 1, 4};
    const int col[] = {0, -1, 0, 1};
    const double val[] = {1, -1, 2, -1};
    const vex::SpMatCCSR<double, int> A(ctx.queue(0), n, 2, which.data(), row, col, val);
    const std::vector<double> host = numbers<double>(random, 2 * n);
    const vex::multivector<double, 2> x(ctx, host);
    vex::multivector<double, 2> y(ctx, n);
    const auto wanted = [&](const double* v, std::size_t i) {
        return i == 0 || i == n - 1 ? v[i] : 2 * v[i] - v[i - 1] - v[i + 1];
    };
    vex::vector<double> one(ctx, n);
    one = x(0) + A * x(0);
    expect_elements(one, [&](std::size_t i) { return host[i] + wanted(host.data(), i); });
    y = A * x;
    expect_elements(y(1), [&](std::size_t i) { return wanted(host.data() + n, i); });
    which[7] = 2;
    EXPECT_THROW((vex::SpMatCCSR<double, int>(ctx.queue(0), n, 2, which.data(), row, col, val)),
                 std::out_of_range);
}

/// Entries and elements of two lanes each, multiplied lane by lane.
TEST(B9_vexcl_sparse, short_vectors_as_entries) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<std::size_t, double> m(random, 512, 512);
        std::vector<cl_double2> val(m.val.size()), host(m.columns);
        for (std::size_t k = 0; k < val.size(); ++k) val[k] = {{m.val[k], -2 * m.val[k]}};
        std::vector<double> first(m.columns), second(m.columns);
        for (std::size_t k = 0; k < host.size(); ++k) {
            first[k] = static_cast<double>(random() % 100);
            second[k] = static_cast<double>(random() % 100);
            host[k] = {{first[k], second[k]}};
        }
        const vex::SpMat<cl_double2> A(ctx, m.rows, m.columns, m.row.data(), m.col.data(), val.data());
        const vex::vector<cl_double2> x(ctx, host);
        vex::vector<cl_double2> y(ctx, m.rows);
        y = A * x;
        const std::vector<cl_double2> got = on_host(y);
        const std::vector<double> of_first = m.times(first.data()), of_second = m.times(second.data());
        for (std::size_t i = 0; i < m.rows; ++i) {
            ASSERT_NEAR(got[i].s[0], of_first[i], 1e-9);
            ASSERT_NEAR(got[i].s[1], -2 * of_second[i], 1e-9);
        }
    });
}

/// A range as boost::iterator_range is: without data().
template <class T>
struct bare_range {
    const T *first, *last;
    const T* begin() const { return first; }
    const T* end() const { return last; }
};
template <class T>
bare_range<T> bare(const std::vector<T>& of) {
    return {of.data(), of.data() + of.size()};
}

// As AMGCL makes its matrices.
TEST(B9_vexcl_sparse, of_ranges_of_iterators) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<std::ptrdiff_t, double> m(random, 300, 200);
        const std::vector<double> host = numbers<double>(random, m.columns), product = m.times(host.data());
        const vex::sparse::distributed<vex::sparse::matrix<double, std::ptrdiff_t, std::ptrdiff_t>> A(
            ctx, m.rows, m.columns, bare(m.row), bare(m.col), bare(m.val), true);
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, m.rows);
        y = A * x;
        expect_elements(y, [&](std::size_t i) { return product[i]; });
    });
}

TEST(B9_vexcl_sparse, products_of_entries_are_the_programs_own) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const host_matrix<int, double> m(random, 500, 300);
        const auto drawn = [&] { return static_cast<double>(random() % 1000) / 100; };
        std::vector<block> blocks(m.val.size());
        for (block& each : blocks) each = {{{drawn(), drawn()}, {drawn(), drawn()}}};
        std::vector<complex_number> numbers(m.val.size()), of_numbers(m.columns);
        for (complex_number& each : numbers) each = {drawn(), drawn()};
        for (complex_number& each : of_numbers) each = {drawn(), drawn()};
        std::vector<pair> pairs(m.columns);
        for (pair& each : pairs) each = {drawn(), drawn()};

        const vex::sparse::csr<block> A(ctx, m.rows, m.columns, m.row, m.col, blocks);
        const vex::vector<pair> x(ctx, pairs);
        vex::vector<pair> y(ctx, m.rows);
        y = A * x;
        y = y - A * (x + x);
        const vex::sparse::distributed<vex::sparse::matrix<complex_number>> B(ctx, m.rows, m.columns, m.row,
                                                                              m.col, numbers);
        const vex::vector<complex_number> u(ctx, of_numbers);
        vex::vector<complex_number> v(ctx, m.rows);
        v = B * u;
        std::vector<pair> got(m.rows);
        std::vector<complex_number> got_numbers(m.rows);
        vex::copy(y, got);
        vex::copy(v, got_numbers);
        for (std::size_t i = 0; i < m.rows; ++i) {
            pair wanted{};
            complex_number number;
            for (int j = m.row[i]; j < m.row[i + 1]; ++j) {
                const auto at = static_cast<std::size_t>(j);
                const auto column = static_cast<std::size_t>(m.col[at]);
                number += numbers[at] * of_numbers[column];
                for (std::size_t r = 0; r < 2; ++r)
                    for (std::size_t c = 0; c < 2; ++c) wanted[r] -= blocks[at][r][c] * pairs[column][c];
            }
            ASSERT_NEAR(got[i][0], wanted[0], 1e-9) << i;
            ASSERT_NEAR(got[i][1], wanted[1], 1e-9) << i;
            ASSERT_NEAR(std::abs(got_numbers[i] - number), 0, 1e-9) << i;
        }
    });
}

}  // namespace

}  // namespace balm::test

// AMGCL on vectors and sparse matrices: each operation against host arithmetic, whole solves against AMGCL's
// own backend on the host.

#include "balm/amgcl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <amgcl/adapter/block_matrix.hpp>
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/aggregation.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_block_solver.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/preconditioner/schur_pressure_correction.hpp>
#include <amgcl/relaxation/chebyshev.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/relaxation/spai1.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/bicgstabl.hpp>
#include <amgcl/solver/cg.hpp>
#include <amgcl/solver/fgmres.hpp>
#include <amgcl/solver/gmres.hpp>
#include <amgcl/solver/lgmres.hpp>
#include <amgcl/value_type/complex.hpp>
#include <amgcl/value_type/static_matrix.hpp>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

/// What AMGCL makes of a backend, such as a matrix of which each rank of MPI has a part.
template <class Backend>
struct made_of {};

}  // namespace

}  // namespace balm::test

namespace amgcl::backend {

template <class Backend>
struct rows_impl<balm::test::made_of<Backend>> {
    static std::size_t get(const balm::test::made_of<Backend>&) { return 7; }
};

}  // namespace amgcl::backend

namespace balm::test {

namespace {

namespace backend = ::amgcl::backend;
namespace solver = ::amgcl::solver;

template <class T>
using exact_of = std::conditional_t<complex_type<T>, std::complex<long double>, long double>;
template <class T>
using precision_of = typename ::amgcl::math::scalar_of<T>::type;

template <class T>
exact_of<T> exact(T value) {
    return exact_of<T>(value);
}

template <class T>
std::vector<T> random_numbers(std::mt19937_64& random, std::size_t n) {
    using part = precision_of<T>;
    const auto parts = random_values<part>(random, 2 * n, part(-1), part(1));
    std::vector<T> list(n);
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (complex_type<T>)
            list[i] = {parts[2 * i], parts[2 * i + 1]};
        else
            list[i] = parts[i];
    }
    return list;
}

/// A matrix in AMGCL's host memory with up to 9 entries a row, in ascending columns.
template <class V>
std::shared_ptr<backend::crs<V>> random_matrix(std::mt19937_64& random, std::size_t rows, std::size_t columns,
                                               const std::function<V()>& value) {
    std::vector<std::ptrdiff_t> row_pointers{0}, column_indices;
    std::vector<V> values;
    for (std::size_t r = 0; r < rows; ++r) {
        std::vector<std::ptrdiff_t> row;
        for (std::size_t k = random() % 10; k > 0; --k)
            row.push_back(static_cast<std::ptrdiff_t>(random() % columns));
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        for (const std::ptrdiff_t c : row) {
            column_indices.push_back(c);
            values.push_back(value());
        }
        row_pointers.push_back(static_cast<std::ptrdiff_t>(values.size()));
    }
    return std::make_shared<backend::crs<V>>(rows, columns, row_pointers, column_indices, values);
}

/// A matrix of numbers times a vector.
template <class M, class T>
std::vector<exact_of<T>> product(const backend::crs<M>& a, const std::vector<T>& x) {
    std::vector<exact_of<T>> y(a.nrows);
    for (std::size_t r = 0; r < a.nrows; ++r)
        for (auto j = a.ptr[r]; j < a.ptr[r + 1]; ++j)
            y[r] += exact(a.val[j]) * exact(x[static_cast<std::size_t>(a.col[j])]);
    return y;
}

/// Numbers of at most about 50, which a few roundings have led to.
template <class T, class E>
void expect_near(const vector<T>& got, const std::vector<E>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    const auto list = got.to_host();
    const auto bound = 100 * std::numeric_limits<precision_of<T>>::epsilon();
    for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_LE(std::abs(exact(list[i]) - wanted[i]), bound) << "element " << i;
}

template <class T>
void compare_vector_operations(std::mt19937_64& random, const context& ctx, std::size_t n) {
    using number = precision_of<T>;
    const T nan(std::numeric_limits<number>::quiet_NaN());
    const auto a = random_numbers<T>(random, n), b = random_numbers<T>(random, n),
               c = random_numbers<T>(random, n);
    const vector<T> x(ctx, a), y(ctx, b);
    vector<T> z(ctx, n, nan);
    const auto elementwise = [&](auto&& f) {
        std::vector<exact_of<T>> list(n);
        for (std::size_t i = 0; i < n; ++i) list[i] = f(exact(a[i]), exact(b[i]), exact(c[i]));
        return list;
    };
    const auto number_of = [&] { return random_numbers<T>(random, 1)[0]; };
    const T p = number_of(), q = number_of(), s = number_of();
    const exact_of<T> ep = exact(p), eq = exact(q), es = exact(s);

    backend::axpby(p, x, T(0), z);
    expect_near(z, elementwise([&](auto u, auto, auto) { return ep * u; }));
    z = c;
    backend::axpby(p, x, q, z);
    expect_near(z, elementwise([&](auto u, auto, auto w) { return ep * u + eq * w; }));
    backend::axpby(number(2), x, number(0), z);
    expect_near(z, elementwise([&](auto u, auto, auto) { return u + u; }));

    z = nan;
    backend::axpbypcz(p, x, q, y, T(0), z);
    expect_near(z, elementwise([&](auto u, auto v, auto) { return ep * u + eq * v; }));
    z = c;
    backend::axpbypcz(p, x, q, y, s, z);
    expect_near(z, elementwise([&](auto u, auto v, auto w) { return ep * u + eq * v + es * w; }));

    z = nan;
    backend::vmul(p, x, y, T(0), z);
    expect_near(z, elementwise([&](auto u, auto v, auto) { return ep * u * v; }));
    z = c;
    backend::vmul(number(1), x, y, number(1), z);
    expect_near(z, elementwise([&](auto u, auto v, auto w) { return u * v + w; }));

    exact_of<T> sum{};
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (complex_type<T>)
            sum += exact(a[i]) * std::conj(exact(b[i]));
        else
            sum += exact(a[i]) * exact(b[i]);
    }
    EXPECT_LE(std::abs(exact(T(backend::inner_product(x, y))) - sum),
              static_cast<long double>(n) * std::numeric_limits<number>::epsilon());

    backend::copy(x, z);
    expect_near(z, elementwise([](auto u, auto, auto) { return u; }));
    backend::copy(b, z);
    expect_near(z, elementwise([](auto, auto v, auto) { return v; }));
    std::vector<T> back(n);
    backend::copy(z, back);
    EXPECT_EQ(back, b);
    backend::numa_vector<T> numa(n);
    backend::copy(x, numa);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), numa.data()));
    z = nan;
    backend::clear(z);
    EXPECT_THAT(z.to_host(), testing::Each(T(0)));
    EXPECT_EQ(backend::bytes(z), n * sizeof(T));
}

TEST(V24_amgcl, operations_of_vectors) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare_vector_operations<double>(random, ctx, 1003);
        compare_vector_operations<float>(random, ctx, 64);
        compare_vector_operations<std::complex<double>>(random, ctx, 517);
        compare_vector_operations<std::complex<float>>(random, ctx, 1);
    });
}

template <class T>
void compare_products(std::mt19937_64& random, const context& ctx, std::size_t rows, std::size_t columns) {
    using number = precision_of<T>;
    using on_devices = amgcl_backend<T>;
    const auto host =
        random_matrix<T>(random, rows, columns, [&] { return random_numbers<T>(random, 1)[0]; });
    const auto matrix = on_devices::copy_matrix(host, ctx);
    EXPECT_EQ(backend::rows(*matrix), rows);
    EXPECT_EQ(backend::cols(*matrix), columns);
    EXPECT_EQ(backend::nonzeros(*matrix), backend::nonzeros(*host));
    EXPECT_GT(backend::bytes(*matrix), backend::nonzeros(*host) * sizeof(T));

    const auto a = random_numbers<T>(random, columns), c = random_numbers<T>(random, rows);
    const auto wanted = product(*host, a);
    const auto x = on_devices::copy_vector(a, ctx);
    const auto y = on_devices::create_vector(rows, ctx);
    ASSERT_EQ(y->size(), rows);
    for (const auto& [alpha, beta] :
         {std::pair(1.0, 0.0), {1.0, 1.0}, {-0.5, 0.0}, {-0.5, 1.0}, {2.5, -3.0}}) {
        SCOPED_TRACE(testing::Message() << alpha << " A x + " << beta << " y");
        if (beta == 0)
            *y = T(std::numeric_limits<number>::quiet_NaN());
        else
            *y = c;
        backend::spmv(number(alpha), *matrix, *x, number(beta), *y);
        std::vector<exact_of<T>> sum(rows);
        for (std::size_t i = 0; i < rows; ++i)
            sum[i] = exact_of<T>(alpha) * wanted[i] + exact_of<T>(beta) * exact(c[i]);
        expect_near(*y, sum);
    }
    vector<T> r(ctx, rows);
    backend::residual(vector<T>(ctx, c), *matrix, *x, r);
    std::vector<exact_of<T>> rest(rows);
    for (std::size_t i = 0; i < rows; ++i) rest[i] = exact(c[i]) - wanted[i];
    expect_near(r, rest);
}

TEST(V24_amgcl, products_and_residuals) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare_products<double>(random, ctx, 1003, 517);
        compare_products<float>(random, ctx, 65, 400);
        compare_products<std::complex<double>>(random, ctx, 200, 200);
    });
}

/// A block in AMGCL's types, of random numbers.
template <class T, int Rows, int Columns>
::amgcl::static_matrix<T, Rows, Columns> random_block(std::mt19937_64& random) {
    ::amgcl::static_matrix<T, Rows, Columns> block;
    const auto numbers = random_numbers<T>(random, Rows * Columns);
    std::copy(numbers.begin(), numbers.end(), block.data());
    return block;
}
/// The numbers of blocks, in order.
template <class T, int Rows, int Columns>
std::vector<T> numbers_of(const std::vector<::amgcl::static_matrix<T, Rows, Columns>>& blocks) {
    std::vector<T> list;
    for (const auto& block : blocks) list.insert(list.end(), block.data(), block.data() + Rows * Columns);
    return list;
}

template <class T, int Rows>
void compare_products_of_blocks(std::mt19937_64& random, const context& ctx, std::size_t rows) {
    using block = ::amgcl::static_matrix<T, Rows, Rows>;
    using part = ::amgcl::static_matrix<T, Rows, 1>;
    using on_devices = amgcl_backend<block>;
    static_assert(std::is_same_v<typename on_devices::vector, vector<T>>);
    const auto host =
        random_matrix<block>(random, rows, rows, [&] { return random_block<T, Rows, Rows>(random); });
    std::vector<part> a(rows), c(rows);
    std::vector<block> diagonal(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        a[i] = random_block<T, Rows, 1>(random);
        c[i] = random_block<T, Rows, 1>(random);
        diagonal[i] = random_block<T, Rows, Rows>(random);
    }
    const auto matrix = on_devices::copy_matrix(host, ctx);
    EXPECT_EQ(backend::rows(*matrix), rows * Rows);
    EXPECT_EQ(matrix->block(), ctx.size() == 1 ? shape(Rows, Rows) : matrix->block());
    const auto x = on_devices::copy_vector(a, ctx);
    const auto y = on_devices::create_vector(rows, ctx);
    const auto on_diagonal = on_devices::copy_vector(
        std::make_shared<backend::numa_vector<block>>(diagonal.begin(), diagonal.end()), ctx);

    // The values that blocks multiply, number by number.
    const auto accumulate = [&](std::vector<exact_of<T>>& to, std::size_t row, const block& by,
                                const part& of, long double factor) {
        for (int i = 0; i < Rows; ++i)
            for (int j = 0; j < Rows; ++j)
                to[row * Rows + static_cast<std::size_t>(i)] += factor * exact(by(i, j)) * exact(of(j));
    };
    const auto begin = [&](long double factor) {
        std::vector<exact_of<T>> list;
        for (const T each : numbers_of(c)) list.push_back(factor * exact(each));
        return list;
    };
    auto wanted = begin(-3);
    for (std::size_t r = 0; r < rows; ++r)
        for (auto j = host->ptr[r]; j < host->ptr[r + 1]; ++j)
            accumulate(wanted, r, host->val[j], a[static_cast<std::size_t>(host->col[j])], 0.5);
    backend::copy(c, *y);
    backend::spmv(T(0.5), *matrix, *x, T(-3), *y);
    expect_near(*y, wanted);

    wanted = begin(1);
    for (std::size_t r = 0; r < rows; ++r) accumulate(wanted, r, diagonal[r], a[r], -2);
    backend::copy(c, *y);
    backend::vmul(T(-2), *on_diagonal, *x, T(1), *y);
    expect_near(*y, wanted);

    wanted.assign(rows * Rows, {});
    for (std::size_t r = 0; r < rows; ++r) accumulate(wanted, r, diagonal[r], a[r], 1);
    *y = std::numeric_limits<T>::quiet_NaN();
    backend::vmul(T(1), *on_diagonal, *x, T(0), *y);
    expect_near(*y, wanted);

    std::vector<part> back(rows);
    backend::copy(*x, back);
    EXPECT_EQ(numbers_of(back), numbers_of(a));
}

TEST(V24_amgcl, blocks) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        compare_products_of_blocks<double, 3>(random, ctx, 101);
        compare_products_of_blocks<float, 2>(random, ctx, 64);
        compare_products_of_blocks<double, 1>(random, ctx, 20);
    });
}

TEST(V24_amgcl, gathers_and_scatters_of_numbers_and_blocks) {
    on_all_contexts([](const context& ctx) {
        using numbers = amgcl_backend<double>;
        using blocks = amgcl_backend<::amgcl::static_matrix<double, 2, 2>>;
        const std::vector<std::ptrdiff_t> positions{3, 0, 2};
        const vector<double> x(ctx, {0, 1, 2, 3, 4, 5, 6, 7});
        vector<double> three(ctx, 3), six(ctx, 6), y(ctx, 8, -1.0);
        numbers::gather(8, positions, ctx)(x, three);
        EXPECT_THAT(three.to_host(), testing::ElementsAre(3, 0, 2));
        std::vector<double> host(3);
        numbers::gather(8, positions, ctx)(x, host);
        EXPECT_THAT(host, testing::ElementsAre(3, 0, 2));
        numbers::scatter(8, positions, ctx)(three, y);
        EXPECT_THAT(y.to_host(), testing::ElementsAre(0, -1, 2, 3, -1, -1, -1, -1));
        blocks::gather(4, positions, ctx)(x, six);
        EXPECT_THAT(six.to_host(), testing::ElementsAre(6, 7, 0, 1, 4, 5));
        y = -1.0;
        blocks::scatter(4, positions, ctx)(six, y);
        EXPECT_THAT(y.to_host(), testing::ElementsAre(0, 1, -1, -1, 4, 5, 6, 7));
    });
}

TEST(V24_amgcl, operations_of_two_precisions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 301;
        const auto host =
            random_matrix<float>(random, n, n, [&] { return random_numbers<float>(random, 1)[0]; });
        const auto matrix = amgcl_backend<float>::copy_matrix(host, ctx);
        const auto a = random_numbers<float>(random, n);
        const auto c = random_numbers<double>(random, n);
        const auto wanted = product(*host, a);
        const vector<double> x(ctx, std::vector<double>(a.begin(), a.end())), f(ctx, c);
        vector<float> r(ctx, n);
        backend::residual(f, *matrix, x, r);  // as the finest level of a preconditioner of floats does
        std::vector<long double> rest(n), sums(n);
        for (std::size_t i = 0; i < n; ++i) rest[i] = exact(c[i]) - wanted[i];
        expect_near(r, rest);

        // Products are computed in double: with x rounded to float they would be wrong by 1e-8.
        const auto wide = random_numbers<double>(random, n);
        const auto product_of_wide = product(*host, wide);
        const vector<double> w(ctx, wide);
        vector<double> v(ctx, n);
        backend::spmv(1.f, *matrix, w, 0.f, v);
        expect_near(v, product_of_wide);
        backend::residual(f, *matrix, w, v);
        for (std::size_t i = 0; i < n; ++i) sums[i] = exact(c[i]) - product_of_wide[i];
        expect_near(v, sums);

        vector<double> y = f;
        backend::spmv(2.f, *matrix, x, 1.f, y);
        const auto got = y.to_host();
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], double(exact(c[i]) + 2 * wanted[i]), 1e-5);
        y = f;
        backend::vmul(1.f, r, r, 1.f, y);
        const auto rounded = r.to_host();
        for (std::size_t i = 0; i < n; ++i) sums[i] = exact(c[i]) + exact(rounded[i]) * exact(rounded[i]);
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i], double(sums[i]), 1e-5);
        backend::copy(f, r);
        EXPECT_EQ(r[n - 1], static_cast<float>(c[n - 1]));
        backend::copy(r, y);
        EXPECT_EQ(y[n - 1], static_cast<float>(c[n - 1]));
    });
}

/// Poisson's equation in a cube of `width`^3 points, with 7 entries a row; `diagonal` in place of 6.
template <class T>
struct poisson {
    std::ptrdiff_t rows;
    std::vector<std::ptrdiff_t> row_pointers{0}, columns;
    std::vector<T> values, right_hand_side;

    explicit poisson(std::ptrdiff_t width, T diagonal = T(6)) : rows(width * width * width) {
        const std::ptrdiff_t strides[] = {width * width, width, 1};
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            for (const std::ptrdiff_t stride : strides)
                if (i / stride % width > 0) put(i - stride, T(-1));
            put(i, diagonal);
            for (const std::ptrdiff_t stride : {strides[2], strides[1], strides[0]})
                if (i / stride % width < width - 1) put(i + stride, T(-1));
            row_pointers.push_back(static_cast<std::ptrdiff_t>(columns.size()));
            right_hand_side.push_back(T(precision_of<T>(1 + i % 3)));
        }
    }
    auto matrix() const { return std::tie(rows, row_pointers, columns, values); }

private:
    void put(std::ptrdiff_t column, T value) {
        columns.push_back(column);
        values.push_back(value);
    }
};

template <class Preconditioner, class Solver>
using solver_of = ::amgcl::make_solver<Preconditioner, Solver>;
template <class B>
using smoothed = ::amgcl::amg<B, ::amgcl::coarsening::smoothed_aggregation, ::amgcl::relaxation::spai0>;
template <class B>
using plain = ::amgcl::amg<B, ::amgcl::coarsening::aggregation, ::amgcl::relaxation::damped_jacobi>;

template <class Solver>
typename Solver::params with_levels() {
    typename Solver::params how;
    how.precond.coarse_enough = 60;  // three levels of 4,096 rows
    return how;
}

/// Both solvers take as many iterations, and end at the same solution, which is one.
template <template <class> class Preconditioner, template <class...> class Solver, class T>
void compare_solvers(const context& ctx, const poisson<T>& problem, std::size_t expected_least) {
    using host_backend = backend::builtin<T>;
    using on_host = solver_of<Preconditioner<host_backend>, Solver<host_backend>>;
    using on_devices = solver_of<Preconditioner<amgcl_backend<T>>, Solver<amgcl_backend<T>>>;
    const on_host host(problem.matrix(), with_levels<on_host>());
    const on_devices devices(problem.matrix(), with_levels<on_devices>(), ctx);
    std::vector<T> wanted(problem.right_hand_side.size());
    const vector<T> f(ctx, problem.right_hand_side);
    vector<T> x(ctx, wanted);
    const auto [iterations_on_host, error_on_host] = host(problem.right_hand_side, wanted);
    const auto [iterations, error] = devices(f, x);
    EXPECT_GE(iterations, expected_least);
    EXPECT_EQ(iterations, iterations_on_host);
    EXPECT_LT(error, 1e-8);
    EXPECT_NEAR(error, error_on_host, 1e-9);
    const sparse_matrix<T> a(ctx, f.size(), f.size(), problem.row_pointers, problem.columns, problem.values);
    EXPECT_LT(norm2(f - a * x), 2e-8 * norm2(f));
    EXPECT_GT(devices.precond().bytes(), a.size_bytes());
    const auto got = x.to_host();
    for (std::size_t i = 0; i < wanted.size(); ++i)
        ASSERT_LT(std::abs(got[i] - wanted[i]), 1e-5 * std::abs(wanted[i])) << "element " << i;
}

TEST(V24_amgcl, solvers_take_the_iterations_of_the_backend_on_the_host) {
    on_all_contexts([&](const context& ctx) {
        const poisson<double> problem(16);
        compare_solvers<smoothed, solver::cg>(ctx, problem, 5);
        compare_solvers<plain, solver::bicgstab>(ctx, problem, 5);
    });
}

template <class B>
using with_spai1 = ::amgcl::amg<B, ::amgcl::coarsening::smoothed_aggregation, ::amgcl::relaxation::spai1>;
template <class B>
using with_chebyshev =
    ::amgcl::amg<B, ::amgcl::coarsening::smoothed_aggregation, ::amgcl::relaxation::chebyshev>;

TEST(V24_amgcl, other_solvers_and_smoothers) {
    on_all_contexts([&](const context& ctx) {
        const poisson<double> problem(16);
        compare_solvers<smoothed, solver::gmres>(ctx, problem, 5);
        compare_solvers<smoothed, solver::fgmres>(ctx, problem, 5);
        compare_solvers<smoothed, solver::lgmres>(ctx, problem, 5);
        compare_solvers<smoothed, solver::bicgstabl>(ctx, problem, 3);
        compare_solvers<with_spai1, solver::cg>(ctx, problem, 5);
        compare_solvers<with_chebyshev, solver::cg>(ctx, problem, 3);
    });
}

TEST(V24_amgcl, complex_numbers) {
    on_all_contexts([&](const context& ctx) {
        using number = std::complex<double>;
        compare_solvers<smoothed, solver::bicgstab>(ctx, poisson<number>(12, number(7, 0.5)), 3);
    });
}

TEST(V24_amgcl, preconditioners_of_lower_precision) {
    on_all_contexts([&](const context& ctx) {
        using devices = amgcl_backend<double>;
        using solver = solver_of<smoothed<amgcl_backend<float>>, ::amgcl::solver::cg<devices>>;
        const poisson<double> problem(16);
        const solver solve(problem.matrix(), with_levels<solver>(), ctx);
        const vector<double> f(ctx, problem.right_hand_side);
        const sparse_matrix<double> a(ctx, f.size(), f.size(), problem.row_pointers, problem.columns,
                                      problem.values);
        vector<double> x(ctx, f.size(), 0.0);
        const auto [iterations, error] = solve(a, f, x);
        EXPECT_GT(iterations, 4u);
        EXPECT_LT(iterations, 30u);
        EXPECT_LT(error, 1e-8);
        EXPECT_LT(norm2(f - a * x), 2e-8 * norm2(f));
        static_assert(std::is_same_v<decltype(solve.precond().system_matrix()), const sparse_matrix<float>&>);
    });
}

TEST(V24_amgcl, systems_of_blocks) {
    on_all_contexts([&](const context& ctx) {
        using block = ::amgcl::static_matrix<double, 2, 2>;
        using host = backend::builtin<block>;
        using devices = amgcl_backend<block>;
        // Two equations a point: Poisson's, coupled by a skew term.
        const poisson<double> scalar(12);
        std::vector<std::ptrdiff_t> row_pointers{0}, columns;
        std::vector<double> values;
        std::ptrdiff_t rows = 2 * scalar.rows;
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            const auto point = static_cast<std::size_t>(i / 2);
            for (auto j = scalar.row_pointers[point]; j < scalar.row_pointers[point + 1]; ++j) {
                const std::ptrdiff_t c = scalar.columns[static_cast<std::size_t>(j)];
                const bool is_diagonal = c == i / 2;
                for (std::ptrdiff_t k = 0; k < 2; ++k) {
                    if (k != i % 2 && !is_diagonal) continue;
                    columns.push_back(2 * c + k);
                    values.push_back(k == i % 2 ? scalar.values[static_cast<std::size_t>(j)]
                                                : (i % 2 ? 0.75 : -0.75));
                }
            }
            row_pointers.push_back(static_cast<std::ptrdiff_t>(columns.size()));
        }
        std::vector<double> right_hand_side(static_cast<std::size_t>(rows));
        for (std::size_t i = 0; i < right_hand_side.size(); ++i) right_hand_side[i] = 1 + double(i % 5);

        using on_host = solver_of<smoothed<host>, ::amgcl::solver::bicgstab<host>>;
        using on_devices = solver_of<smoothed<devices>, ::amgcl::solver::bicgstab<devices>>;
        const auto numbers = std::tie(rows, row_pointers, columns, values);
        const auto matrix = ::amgcl::adapter::block_matrix<block>(numbers);
        const on_host solve_on_host(matrix, with_levels<on_host>());
        const on_devices solve(matrix, with_levels<on_devices>(), ctx);

        const vector<double> f(ctx, right_hand_side);
        vector<double> x(ctx, f.size(), 0.0);
        const auto [iterations, error] = solve(f, x);
        using part = ::amgcl::static_matrix<double, 2, 1>;
        std::vector<part> g(f.size() / 2), wanted(g.size(), part{});
        for (std::size_t i = 0; i < right_hand_side.size(); ++i)
            g[i / 2](static_cast<int>(i % 2)) = right_hand_side[i];
        const backend::numa_vector<part> g_on_host(g);
        backend::numa_vector<part> x_on_host(wanted);
        const auto [iterations_on_host, error_on_host] = solve_on_host(g_on_host, x_on_host);
        EXPECT_GE(iterations, 3u);
        EXPECT_EQ(iterations, iterations_on_host);
        EXPECT_NEAR(error, error_on_host, 1e-9);
        const sparse_matrix<double> a(ctx, f.size(), f.size(), row_pointers, columns, values);
        EXPECT_LT(norm2(f - a * x), 2e-8 * norm2(f));

        using of_numbers = ::amgcl::make_block_solver<smoothed<devices>, ::amgcl::solver::bicgstab<devices>>;
        const of_numbers solve_numbers(numbers, with_levels<of_numbers>(), ctx);
        vector<double> y(ctx, f.size(), 0.0);
        EXPECT_EQ(std::get<0>(solve_numbers(f, y)), iterations);
        EXPECT_EQ(y.to_host(), x.to_host());
    });
}

/// Three unknowns a point: two that are coupled as blocks, and a pressure.
struct coupled_problem {
    std::ptrdiff_t rows;
    std::vector<std::ptrdiff_t> row_pointers{0}, columns;
    std::vector<double> values, right_hand_side;
    std::vector<char> is_pressure;

    explicit coupled_problem(std::ptrdiff_t width) {
        const poisson<double> scalar(width);
        rows = 3 * scalar.rows;
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            const auto point = static_cast<std::size_t>(i / 3);
            for (auto j = scalar.row_pointers[point]; j < scalar.row_pointers[point + 1]; ++j) {
                const std::ptrdiff_t c = scalar.columns[static_cast<std::size_t>(j)];
                const double of_scalar = scalar.values[static_cast<std::size_t>(j)];
                for (std::ptrdiff_t k = 0; k < 3; ++k) {
                    if (k != i % 3 && c != i / 3) continue;
                    columns.push_back(3 * c + k);
                    values.push_back(k == i % 3 ? of_scalar * (k == 2 ? 0.5 : 1) : i % 3 < k ? 0.75 : -0.75);
                }
            }
            row_pointers.push_back(static_cast<std::ptrdiff_t>(columns.size()));
            right_hand_side.push_back(1 + double(i % 5));
            is_pressure.push_back(i % 3 == 2);
        }
    }
};
/// A pressure correction whose first solver works on blocks, and second one on numbers.
template <class Blocks, class Numbers>
using corrected =
    solver_of<::amgcl::preconditioner::schur_pressure_correction<
                  ::amgcl::make_block_solver<smoothed<Blocks>, ::amgcl::solver::bicgstab<Blocks>>,
                  solver_of<smoothed<Numbers>, ::amgcl::solver::bicgstab<Numbers>>>,
              ::amgcl::solver::fgmres<Numbers>>;

TEST(V24_amgcl, pressure_corrections_of_blocks) {
    using block = ::amgcl::static_matrix<double, 2, 2>;
    on_all_contexts([&](const context& ctx) {
        const coupled_problem problem(8);
        const auto numbers = std::tie(problem.rows, problem.row_pointers, problem.columns, problem.values);
        using on_host = corrected<backend::builtin<block>, backend::builtin<double>>;
        using on_devices = corrected<amgcl_backend<block>, amgcl_backend<double>>;
        typename on_host::params how_on_host;
        typename on_devices::params how;
        how_on_host.precond.pmask = how.precond.pmask = problem.is_pressure;
        const on_host solve_on_host(numbers, how_on_host);
        const on_devices solve(numbers, how, ctx);
        std::vector<double> wanted(problem.right_hand_side.size());
        const vector<double> f(ctx, problem.right_hand_side);
        vector<double> x(ctx, wanted);
        const auto [iterations_on_host, error_on_host] = solve_on_host(problem.right_hand_side, wanted);
        const auto [iterations, error] = solve(f, x);
        EXPECT_EQ(iterations, iterations_on_host);
        EXPECT_LT(error, 1e-8);
        const auto got = x.to_host();
        for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got[i], wanted[i], 1e-6);
    });
}

TEST(V24_amgcl, functions_are_found_for_what_is_made_of_the_backend) {
    EXPECT_EQ(rows(made_of<amgcl_backend<double>>()), 7u);
}

TEST(V24_amgcl_of_several_devices, does_the_same) { run_on_three_devices("test_array", "V24_amgcl.*"); }

#ifndef AMGCL_NO_BOOST
TEST(V24_amgcl, a_property_tree_passes_the_context) {
    on_all_devices([&](const device& each) {
        context where(std::vector<device>{each});
        boost::property_tree::ptree tree;
        tree.put("context", &where);
        EXPECT_EQ(amgcl_parameters(tree).context, where);
        boost::property_tree::ptree written;
        amgcl_parameters(where).get(written, "backend.");
        EXPECT_EQ(amgcl_parameters(written.get_child("backend")).context, where);
    });
}
#endif

}  // namespace

}  // namespace balm::test

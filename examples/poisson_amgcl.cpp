// Poisson's equation in a cube, solved by AMGCL: conjugate gradients with algebraic multigrid as the
// preconditioner, in double, and with a preconditioner that computes in float. multigrid.cpp solves it
// without AMGCL, on known grids.

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>
#include <balm/amgcl.hpp>
#include <balm/balm.hpp>
#include <cstddef>
#include <cstdio>
#include <tuple>
#include <vector>

using precise = balm::amgcl_backend<double>;
using fast = balm::amgcl_backend<float>;

template <class Backend>
using multigrid = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;

int main() {
    constexpr std::ptrdiff_t width = 48, n = width * width * width;

    // -Δu = 1 with u = 0 on the border, by differences of 7 points.
    std::vector<std::ptrdiff_t> row_pointers{0}, columns;
    std::vector<double> values;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        const auto put = [&](bool is_inside, std::ptrdiff_t column, double value) {
            if (!is_inside) return;
            columns.push_back(column);
            values.push_back(value);
        };
        const std::ptrdiff_t x = i % width, y = i / width % width, z = i / (width * width);
        put(z > 0, i - width * width, -1);
        put(y > 0, i - width, -1);
        put(x > 0, i - 1, -1);
        put(true, i, 6);
        put(x < width - 1, i + 1, -1);
        put(y < width - 1, i + width, -1);
        put(z < width - 1, i + width * width, -1);
        row_pointers.push_back(static_cast<std::ptrdiff_t>(columns.size()));
    }
    const auto host = std::tie(n, row_pointers, columns, values);

    balm::context ctx;
    const balm::sparse_matrix<double> A(ctx, n, n, row_pointers, columns, values);
    const balm::vector<double> f(ctx, n, 1.0 / ((width + 1) * (width + 1)));
    balm::vector<double> u(ctx, n, 0.0);
    const auto report = [&](const char* how, std::size_t iterations) {
        const double residual = balm::norm2(f - A * u) / balm::norm2(f);
        std::printf("%s: %s 30 iterations, a residual %s 1e-7, the largest value is %.4f\n", how,
                    iterations < 30 ? "less than" : "MORE THAN", residual < 1e-7 ? "below" : "ABOVE",
                    balm::max(u));
    };

    using solver = amgcl::make_solver<multigrid<precise>, amgcl::solver::cg<precise>>;
    solver::params parameters;
    parameters.precond.coarse_enough = 500;
    const solver solve(host, parameters, ctx);
    report("double", std::get<0>(solve(f, u)));

    // The hierarchy in float takes half the memory; the solver's own matrix is in double.
    using mixed_solver = amgcl::make_solver<multigrid<fast>, amgcl::solver::cg<precise>>;
    mixed_solver::params mixed_parameters;
    mixed_parameters.precond.coarse_enough = 500;
    const mixed_solver solve_mixed(host, mixed_parameters, ctx);
    u = 0.0;
    report("float in double", std::get<0>(solve_mixed(A, f, u)));
    std::printf(
        "the hierarchy takes %s of the memory\n",
        10 * solve_mixed.precond().bytes() < 7 * solve.precond().bytes() ? "less than 7 tenths" : "TOO MUCH");
}

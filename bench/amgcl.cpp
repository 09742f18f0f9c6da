// Poisson's equation in a cube of 150^3 points, solved by AMGCL: conjugate gradients with smoothed
// aggregation, with Balm's backend on each device; on GPUs against a backend over cuSPARSE, on CPUs against
// AMGCL's built-in backend on all cores. The hierarchies are the same; they are built on the host and not
// timed.

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>
#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

#include "balm/amgcl.hpp"
#include "peer_cuda.hpp"
#include "support/amgcl_on_cuda.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.95;  // 1.0, within noise
constexpr std::ptrdiff_t width = 150;

/// The 7-point stencil, in AMGCL's host memory.
std::shared_ptr<amgcl::backend::crs<double>> poisson() {
    constexpr std::ptrdiff_t n = width * width * width;
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
    return std::make_shared<amgcl::backend::crs<double>>(n, n, row_pointers, columns, values);
}

/// A solver on the backend Krylov, with a preconditioner on the backend Cycle.
template <class Cycle, class Krylov>
using solver =
    amgcl::make_solver<amgcl::amg<Cycle, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>,
                       amgcl::solver::cg<Krylov>>;
template <class Solver>
typename Solver::params with_small_coarsest_level() {
    typename Solver::params how;
    how.precond.coarse_enough = 500;
    return how;
}

/// Solves with a vector of ones on the right-hand side and of zeros at first; counts iterations.
template <class Solver, class Matrix, class Vector>
struct task {
    const Solver& solve;
    const Matrix& matrix;
    const Vector& f;
    Vector& x;
    std::size_t iterations = 0;

    void run() {
        amgcl::backend::clear(x);
        iterations = std::get<0>(solve(matrix, f, x));
    }
};

using on_host = amgcl::backend::builtin<double>;
using on_cuda = peer::amgcl_on_cuda;

template <class T>
void measure(benchmark::State& state, const balm::device& on) {
    using ours = solver<balm::amgcl_backend<T>, balm::amgcl_backend<double>>;
    const auto host = poisson();
    const std::size_t n = host->nrows;

    const balm::context where({on});
    const auto matrix = balm::amgcl_backend<double>::copy_matrix(host, where);
    const ours solve(*host, with_small_coarsest_level<ours>(), where);
    const balm::vector<double> f(where, n, 1.0);
    balm::vector<double> x(where, n);
    task balm_task{solve, *matrix, f, x};
    const auto balm_solves = [&](int times) {
        for (int k = 0; k < times; ++k) balm_task.run();
        on.finish();
    };
    balm_solves(1);

    const auto beside = [&](auto backend, const auto& their_matrix, const auto& their_f, auto& their_x,
                            const auto& finish) {
        using theirs = solver<decltype(backend), decltype(backend)>;
        const theirs their_solve(*host, with_small_coarsest_level<theirs>());
        task their_task{their_solve, their_matrix, their_f, their_x};
        const auto peer_solves = [&](int times) {
            for (int k = 0; k < times; ++k) their_task.run();
            finish();
        };
        peer_solves(1);
        if (balm_task.iterations > their_task.iterations + 1 ||
            !(balm::norm2(f - *matrix * x) < 2e-8 * balm::norm2(f)))
            return state.SkipWithError("the two differ");
        for (auto iteration : state) {
            static_cast<void>(iteration);
            report(state,
                   is_cpu(on) ? compare_in_pairs([&] { balm_solves(1); }, [&] { peer_solves(1); }, 3)
                              : compare_samples(balm_solves, peer_solves, 1, 9),
                   bar);
        }
    };
    const std::vector<double> ones(n, 1.0);
    if (is_cpu(on)) {
        const amgcl::backend::numa_vector<double> their_f(ones);
        amgcl::backend::numa_vector<double> their_x(n);
        beside(on_host(), *host, their_f, their_x, [] {});
    } else {
        const char* why = nullptr;
        peer::amgcl_functions = peer::cuda_functions_on<peer::cuda_amgcl_functions>(
            on.info().pci_address.c_str(), "peer_cuda_amgcl_functions", why);
        if (peer::amgcl_functions == nullptr) return state.SkipWithError(why);
        const peer::cuda_vector their_f(n, ones.data());
        peer::cuda_vector their_x(n);
        beside(on_cuda(), peer::cuda_matrix(*host), their_f, their_x, peer::amgcl_functions->finish);
    }
    state.counters["iterations"] = static_cast<double>(balm_task.iterations);
    state.SetItemsProcessed(static_cast<std::int64_t>(n * balm_task.iterations));
}

void register_all() {
    on_every_device("AMGCL, Poisson 150³, f64", measure<double>);
    on_every_device("AMGCL, Poisson 150³, f32 inside f64", measure<float>);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

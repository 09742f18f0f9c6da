// Products of sparse matrices in f64, the Galerkin product R A P of multigrid: on GPUs against cuSPARSE and a
// device copy of the bytes, on CPUs against OpenMP. Also assembly from triplets and transposes.

#include <cmath>
#include <cstdint>
#include <vector>

#include "balm/balm.hpp"
#include "peer_cuda.hpp"
#include "peer_sparse_products.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 1.0, cpu_bar = 0.5;
constexpr int calls = 5;

using peer::openmp::host_csr;

host_csr empty(std::size_t columns) {
    host_csr m;
    m.columns = columns;
    m.row_pointers.push_back(0);
    return m;
}
void add(host_csr& m, std::size_t column, double value) {
    m.column_indices.push_back(static_cast<int>(column));
    m.values.push_back(value);
}
void end_row(host_csr& m) {
    m.row_pointers.push_back(static_cast<int>(m.values.size()));
    ++m.rows;
}

/// The seven-point stencil on n x n x n points.
host_csr poisson(std::size_t n) {
    host_csr m = empty(n * n * n);
    for (std::size_t r = 0; r < m.columns; ++r) {
        const std::size_t i = r % n, j = r / n % n, k = r / n / n;
        if (k > 0) add(m, r - n * n, -1);
        if (j > 0) add(m, r - n, -1);
        if (i > 0) add(m, r - 1, -1);
        add(m, r, 6);
        if (i + 1 < n) add(m, r + 1, -1);
        if (j + 1 < n) add(m, r + n, -1);
        if (k + 1 < n) add(m, r + n * n, -1);
        end_row(m);
    }
    return m;
}

/// Trilinear interpolation from n / 2 points per dimension: coarse point c is fine point 2 c.
host_csr interpolation(std::size_t n) {
    const std::size_t half = n / 2;
    host_csr m = empty(half * half * half);
    for (std::size_t r = 0; r < n * n * n; ++r) {
        const std::size_t at[3] = {r % n, r / n % n, r / n / n};
        for (std::size_t corner = 0; corner < 8; ++corner) {
            std::size_t column = 0;
            double weight = 1;
            bool is_there = true;
            for (std::size_t d = 3; d-- > 0;) {
                const std::size_t side = corner >> d & 1, coarse = at[d] / 2 + side;
                is_there = is_there && coarse < half && (side == 0 || at[d] % 2 == 1);
                column = column * half + coarse;
                if (at[d] % 2 == 1) weight *= 0.5;
            }
            if (is_there) add(m, column, weight);
        }
        end_row(m);
    }
    return m;
}
host_csr transposed(const host_csr& m) {
    host_csr made = empty(m.rows);
    made.rows = m.columns;
    made.row_pointers.assign(m.columns + 1, 0);
    for (const int column : m.column_indices) ++made.row_pointers[static_cast<std::size_t>(column) + 1];
    for (std::size_t c = 0; c < m.columns; ++c) made.row_pointers[c + 1] += made.row_pointers[c];
    made.column_indices.resize(m.values.size());
    made.values.resize(m.values.size());
    std::vector<int> next = made.row_pointers;
    for (std::size_t r = 0; r < m.rows; ++r)
        for (int k = m.row_pointers[r]; k < m.row_pointers[r + 1]; ++k) {
            const auto from = static_cast<std::size_t>(k);
            const auto to =
                static_cast<std::size_t>(next[static_cast<std::size_t>(m.column_indices[from])]++);
            made.column_indices[to] = static_cast<int>(r);
            made.values[to] = m.values[from];
        }
    return made;
}

template <class A, class B>
bool are_near(const A& got, const B& wanted) {
    if (!std::equal(got.row_pointers.begin(), got.row_pointers.end(), wanted.row_pointers.begin(),
                    wanted.row_pointers.end()) ||
        !std::equal(got.column_indices.begin(), got.column_indices.end(), wanted.column_indices.begin(),
                    wanted.column_indices.end()))
        return false;
    for (std::size_t k = 0; k < wanted.values.size(); ++k)
        if (!(std::abs(got.values[k] - wanted.values[k]) <= 1e-12)) return false;
    return true;
}

balm::sparse_matrix<double> on_device(const balm::context& ctx, const host_csr& m,
                                      balm::storage how = balm::storage::automatic) {
    return {ctx, m.rows, m.columns, m.row_pointers, m.column_indices, m.values, how};
}

void galerkin(benchmark::State& state, const balm::device& on) {
    const std::size_t n = is_cpu(on) ? 64 : 128;
    const host_csr a = poisson(n), p = interpolation(n), r = transposed(p);
    const host_csr wanted = peer::openmp::product(r.view(), peer::openmp::product(a.view(), p.view()).view());
    const balm::context ctx({on});
    const auto A = on_device(ctx, a, balm::storage::rows), P = on_device(ctx, p, balm::storage::rows),
               R = on_device(ctx, r, balm::storage::rows);
    const auto ours = [&] { return multiply(R, multiply(A, P, balm::storage::rows), balm::storage::rows); };
    if (!are_near(to_csr(ours()), wanted)) return state.SkipWithError("the result is wrong");
    const auto make = [&](const peer::cuda_sparse_product_functions& cuda) -> void* {
        void* const theirs = cuda.make(r.view(), a.view(), p.view());
        if (theirs == nullptr) {
            state.SkipWithError("no cuSPARSE");
            return nullptr;
        }
        host_csr got;
        got.row_pointers.resize(wanted.rows + 1);
        got.column_indices.resize(cuda.entries(theirs));
        got.values.resize(got.column_indices.size());
        cuda.read(theirs, got.row_pointers.data(), got.column_indices.data(), got.values.data());
        if (are_near(got, wanted)) return theirs;
        cuda.on_work.release(theirs);
        state.SkipWithError("the peer's result is wrong");
        return nullptr;
    };
    const auto on_cpu = [&] {
        return compare_in_pairs(
            [&] {
                ours();
                on.finish();
            },
            [&] {
                const auto by_peer =
                    peer::openmp::product(r.view(), peer::openmp::product(a.view(), p.view()).view());
                benchmark::DoNotOptimize(by_peer.values[0]);
            });
    };
    measure_work<peer::cuda_sparse_product_functions>(
        state, on, {"peer_cuda_sparse_product_functions", calls, gpu_bar, cpu_bar}, ours, make, on_cpu);
}

/// Reports the median time of several calls, and entries per second.
template <class F>
void measure_alone(benchmark::State& state, const balm::device& on, std::size_t entries, const F& work) {
    std::vector<double> times;
    for (auto iteration : state) {
        static_cast<void>(iteration);
        for (int k = 0; k < 12; ++k)
            times.push_back(seconds([&] {
                work();
                on.finish();
            }));
        times.erase(times.begin());  // compiles
        state.SetIterationTime(median(times));
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(entries));
}
void transposing(benchmark::State& state, const balm::device& on) {
    const balm::context ctx({on});
    const auto P = on_device(ctx, interpolation(is_cpu(on) ? 64 : 128), balm::storage::rows);
    measure_alone(state, on, P.nonzeros(), [&] { transpose(P, balm::storage::rows); });
}
/// The triplets of finite elements: a matrix of 8 x 8 entries for each element.
void assembling(benchmark::State& state, const balm::device& on) {
    const auto n = static_cast<std::int64_t>(is_cpu(on) ? 40 : 128);
    const balm::context ctx({on});
    const auto entries = static_cast<std::size_t>(64 * n * n * n);
    const auto k = balm::element_index(0, entries);
    const auto point = [&](const auto& element, const auto& corner) {
        const auto i = element % n + corner % 2, j = element / n % n + corner / 2 % 2,
                   l = element / n / n + corner / 4;
        return (l * (n + 1) + j) * (n + 1) + i;
    };
    balm::vector<std::int32_t> rows(ctx, entries), columns(ctx, entries);
    rows = balm::cast<std::int32_t>(point(k / 64, k % 8));
    columns = balm::cast<std::int32_t>(point(k / 64, k / 8 % 8));
    const balm::vector<double> values(ctx, entries, 1.0);
    const auto points = static_cast<std::size_t>((n + 1) * (n + 1) * (n + 1));
    measure_alone(state, on, entries,
                  [&] { balm::sparse_matrix<double>::from_triplets(points, points, rows, columns, values); });
}

void register_all() {
    on_every_device("sparse R (A P), Poisson", galerkin);
    on_every_device("sparse transpose, interpolation", transposing);
    on_every_device("sparse assembly, finite elements", assembling);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

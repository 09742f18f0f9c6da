// Products of sparse matrices and vectors in f64: on GPUs against cuSPARSE and the device's copy of the
// bytes, on CPUs against OpenMP.

#include "balm/sparse_matrix.hpp"

#include <cmath>
#include <cstdint>

#include "peer_cuda.hpp"
#include "peer_sparse.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

/// Diagonals take two thirds of the bytes of CSR.
constexpr double gpu_poisson_bar = 1.2, gpu_bar = 1.0, cpu_bar = 0.97;
constexpr int calls = 20;

struct matrix {
    std::size_t columns = 0;
    std::vector<int> pointers{0}, indices;
    std::vector<double> values, x;

    std::size_t rows() const { return pointers.size() - 1; }
    void add(std::size_t column, double value) {
        indices.push_back(static_cast<int>(column));
        values.push_back(value);
    }
    void end_row() { pointers.push_back(static_cast<int>(values.size())); }
    peer::sparse_problem problem() const {
        return {rows(), columns, values.size(), pointers.data(), indices.data(), values.data(), x.data()};
    }
};

std::uint32_t hash(std::size_t k) {
    auto h = static_cast<std::uint32_t>(k) * 2654435769u;
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}
double number(std::size_t k) { return static_cast<double>(hash(k)) / 4294967296.0 - 0.5; }

/// The seven-point stencil of n x n x n points.
matrix poisson(std::size_t n) {
    matrix m;
    m.columns = n * n * n;
    for (std::size_t r = 0; r < m.columns; ++r) {
        const std::size_t i = r % n, j = r / n % n, k = r / n / n;
        if (k > 0) m.add(r - n * n, -1);
        if (j > 0) m.add(r - n, -1);
        if (i > 0) m.add(r - 1, -1);
        m.add(r, 6);
        if (i + 1 < n) m.add(r + 1, -1);
        if (j + 1 < n) m.add(r + n, -1);
        if (k + 1 < n) m.add(r + n * n, -1);
        m.end_row();
    }
    return m;
}
/// Rows' lengths have the density of 1 / length^2, from 4 entries on, as many graphs have.
matrix power_law(std::size_t rows) {
    matrix m;
    m.columns = rows;
    std::size_t next = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const double u = (hash(r) + 1.0) / 4294967297.0;
        const auto length = static_cast<std::size_t>(std::min(4.0 / u, static_cast<double>(rows) / 8));
        for (std::size_t k = 0; k < length; ++k, ++next) m.add(hash(next + 77) % rows, number(next));
        m.end_row();
    }
    return m;
}
matrix one_dense_row(std::size_t rows) {
    matrix m;
    m.columns = rows;
    for (std::size_t r = 0; r < rows; ++r) {
        if (r == rows / 3)
            for (std::size_t c = 0; c < rows; ++c) m.add(c, number(c));
        else
            for (std::size_t k = 0; k < 4; ++k) m.add((r + k * 5) % rows, number(r + k));
        m.end_row();
    }
    return m;
}
/// 27 neighbours, three unknowns a point, as in elasticity.
matrix blocks(std::size_t n) {
    matrix m;
    m.columns = 3 * n * n * n;
    for (std::size_t r = 0; r < m.columns; ++r) {
        const std::size_t p = r / 3, i = p % n, j = p / n % n, k = p / n / n;
        for (std::size_t c = k - (k > 0); c <= std::min(k + 1, n - 1); ++c)
            for (std::size_t b = j - (j > 0); b <= std::min(j + 1, n - 1); ++b)
                for (std::size_t a = i - (i > 0); a <= std::min(i + 1, n - 1); ++a)
                    for (std::size_t q = 0; q < 3; ++q) m.add(3 * ((c * n + b) * n + a) + q, number(r + q));
        m.end_row();
    }
    return m;
}

bool is_near(const std::vector<double>& got, const matrix& m) {
    std::vector<double> wanted(m.rows());
    peer::openmp::sparse_product(m.problem(), wanted.data());
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        double size = 0;
        for (auto k = static_cast<std::size_t>(m.pointers[r]);
             k < static_cast<std::size_t>(m.pointers[r + 1]); ++k)
            size += std::abs(m.values[k] * m.x[static_cast<std::size_t>(m.indices[k])]);
        if (!(std::abs(got[r] - wanted[r]) <= 1e-11 * size)) return false;
    }
    return true;
}

void measure(benchmark::State& state, const balm::device& on, matrix m, double bar) {
    m.x.resize(m.columns);
    for (std::size_t k = 0; k < m.columns; ++k) m.x[k] = number(k + 12345);
    const balm::context ctx({on});
    const balm::sparse_matrix<double> A(ctx, m.rows(), m.columns, m.pointers, m.indices, m.values);
    const balm::vector<double> x(ctx, m.x);
    balm::vector<double> y(ctx, m.rows());
    y = A * x;
    const auto host = y.to_host();
    if (!is_near({host.begin(), host.end()}, m)) return state.SkipWithError("the result is wrong");
    std::fprintf(stderr, "%s\n", describe(A).c_str());
    const auto make = [&](const peer::cuda_sparse_functions& cuda) -> void* {
        void* const theirs = cuda.make(m.problem());
        if (theirs == nullptr) {
            state.SkipWithError("no cuSPARSE");
            return nullptr;
        }
        std::vector<double> by_peer(m.rows());
        cuda.read(theirs, by_peer.data());
        if (is_near(by_peer, m)) return theirs;
        cuda.on_work.release(theirs);
        state.SkipWithError("the peer's result is wrong");
        return nullptr;
    };
    const auto on_cpu = [&] {
        std::vector<double> by_peer(m.rows());
        return compare_in_pairs(
            [&] {
                y = A * x;
                on.finish();
            },
            [&] {
                peer::openmp::sparse_product(m.problem(), by_peer.data());
                benchmark::DoNotOptimize(by_peer[0]);
            });
    };
    measure_work<peer::cuda_sparse_functions>(
        state, on, {"peer_cuda_sparse_functions", calls, bar, bar}, [&] { y = A * x; }, make, on_cpu);
    // What CSR and both vectors take.
    state.SetBytesProcessed(
        static_cast<std::int64_t>(12 * m.values.size() + 4 * m.rows() + 8 * (m.rows() + m.columns)));
}

template <class Make>
void register_for(const std::string& words, const Make& make, std::size_t on_gpu, std::size_t on_cpu,
                  double bar = gpu_bar) {
    on_every_device(words, [=](benchmark::State& state, const balm::device& on) {
        measure(state, on, make(is_cpu(on) ? on_cpu : on_gpu), is_cpu(on) ? cpu_bar : bar);
    });
}

void register_all() {
    register_for("sparse product, Poisson", poisson, 256, 128, gpu_poisson_bar);
    register_for("sparse product, power law", power_law, std::size_t{1} << 21, std::size_t{1} << 18);
    register_for("sparse product, one dense row", one_dense_row, std::size_t{1} << 24, std::size_t{1} << 21);
    register_for("sparse product, 3 x 3 blocks", blocks, 80, 36);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

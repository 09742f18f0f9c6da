// Products of sparse matrices in f64 with vectors and with several right-hand sides: on GPUs against cuSPARSE
// and a device copy of the bytes, on CPUs against OpenMP.

#include "balm/sparse_matrix.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
    peer::sparse_problem problem(std::size_t sides = 1) const {
        return {rows(),         columns,       values.size(), pointers.data(),
                indices.data(), values.data(), x.data(),      sides};
    }
};

/// A matrix that consists of dense square blocks, stored by blocks.
struct matrix_of_blocks {
    std::size_t block;
    std::vector<int> pointers{0}, indices;
    std::vector<double> values;

    matrix_of_blocks(const matrix& m, std::size_t size) : block(size) {
        for (std::size_t r = 0; r < m.rows(); r += block) {
            const auto first = static_cast<std::size_t>(m.pointers[r]);
            const std::size_t count = (static_cast<std::size_t>(m.pointers[r + 1]) - first) / block;
            for (std::size_t k = 0; k < count; ++k) {
                indices.push_back(m.indices[first + k * block] / static_cast<int>(block));
                for (std::size_t i = 0; i < block; ++i)
                    for (std::size_t j = 0; j < block; ++j)
                        values.push_back(
                            m.values[static_cast<std::size_t>(m.pointers[r + i]) + k * block + j]);
            }
            pointers.push_back(static_cast<int>(indices.size()));
        }
    }
    peer::sparse_problem problem(const matrix& m) const {
        return {m.rows(),   m.columns, values.size(), pointers.data(), indices.data(), values.data(),
                m.x.data(), 1,         block};
    }
};

std::uint32_t hash(std::size_t k) {
    auto h = static_cast<std::uint32_t>(k) * 2654435769u;
    h ^= h >> 15;
    h *= 2246822519u;
    return h ^ h >> 13;
}
double number(std::size_t k) { return static_cast<double>(hash(k)) / 4294967296.0 - 0.5; }

/// The seven-point stencil on n x n x n points.
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
/// The lengths of rows have density 1 / length^2, from 4 entries on, as in many graphs.
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
/// 27 neighbours, with several unknowns per point: three as in elasticity, four as in flow.
template <std::size_t Unknowns>
matrix blocks(std::size_t n) {
    matrix m;
    m.columns = Unknowns * n * n * n;
    for (std::size_t r = 0; r < m.columns; ++r) {
        const std::size_t p = r / Unknowns, i = p % n, j = p / n % n, k = p / n / n;
        for (std::size_t c = k - (k > 0); c <= std::min(k + 1, n - 1); ++c)
            for (std::size_t b = j - (j > 0); b <= std::min(j + 1, n - 1); ++b)
                for (std::size_t a = i - (i > 0); a <= std::min(i + 1, n - 1); ++a)
                    for (std::size_t q = 0; q < Unknowns; ++q)
                        m.add(Unknowns * ((c * n + b) * n + a) + q, number(r + q));
        m.end_row();
    }
    return m;
}

bool is_near(const std::vector<double>& got, const matrix& m, std::size_t sides) {
    for (std::size_t r = 0; r < m.rows(); ++r)
        for (std::size_t c = 0; c < sides; ++c) {
            double wanted = 0, size = 0;
            for (auto k = static_cast<std::size_t>(m.pointers[r]);
                 k < static_cast<std::size_t>(m.pointers[r + 1]); ++k) {
                const double term = m.values[k] * m.x[static_cast<std::size_t>(m.indices[k]) * sides + c];
                wanted += term;
                size += std::abs(term);
            }
            if (!(std::abs(got[r * sides + c] - wanted) <= 1e-11 * size)) return false;
        }
    return true;
}

/// Variants of the product: right-hand sides and storage.
struct variant {
    std::size_t sides = 1;       ///< right-hand sides
    std::size_t peer_block = 1;  ///< rows of the peer's blocks
    balm::storage how = balm::storage::automatic;
};

void measure(benchmark::State& state, const balm::device& on, matrix m, double bar, const variant& of) {
    m.x.resize(m.columns * of.sides);
    for (std::size_t k = 0; k < m.x.size(); ++k) m.x[k] = number(k + 12345);
    const balm::context ctx({on});
    const balm::sparse_matrix<double> A(ctx, m.rows(), m.columns, m.pointers, m.indices, m.values, of.how);
    const balm::vector<double> x(ctx, m.x);
    const balm::view<const double> columns(x, {m.columns, of.sides});
    balm::vector<double> y(ctx, m.rows() * of.sides);
    const auto multiply = [&] {
        if (of.sides > 1)
            y = A * columns;
        else
            y = A * x;
    };
    multiply();
    const auto host = y.to_host();
    if (!is_near({host.begin(), host.end()}, m, of.sides)) return state.SkipWithError("the result is wrong");
    std::fprintf(stderr, "%s\n", describe(A).c_str());
    const std::unique_ptr<const matrix_of_blocks> in_blocks =
        of.peer_block > 1 ? std::make_unique<matrix_of_blocks>(m, of.peer_block) : nullptr;
    const peer::sparse_problem problem = in_blocks ? in_blocks->problem(m) : m.problem(of.sides);
    const auto make = [&](const peer::cuda_sparse_functions& cuda) -> void* {
        void* const theirs = cuda.make(problem);
        if (theirs == nullptr) {
            state.SkipWithError("no cuSPARSE");
            return nullptr;
        }
        std::vector<double> by_peer(m.rows() * of.sides);
        cuda.read(theirs, by_peer.data());
        if (is_near(by_peer, m, of.sides)) return theirs;
        cuda.on_work.release(theirs);
        state.SkipWithError("the peer's result is wrong");
        return nullptr;
    };
    const auto on_cpu = [&] {
        std::vector<double> by_peer(m.rows() * of.sides);
        return compare_in_pairs(
            [&] {
                multiply();
                on.finish();
            },
            [&] {
                peer::openmp::sparse_product(problem, by_peer.data());
                benchmark::DoNotOptimize(by_peer[0]);
            });
    };
    measure_work<peer::cuda_sparse_functions>(state, on, {"peer_cuda_sparse_functions", calls, bar, bar},
                                              multiply, make, on_cpu);
    // The bytes of the peer's matrix and of both operands.
    const std::size_t indices = m.values.size() / (of.peer_block * of.peer_block);
    state.SetBytesProcessed(static_cast<std::int64_t>(8 * m.values.size() + 4 * indices +
                                                      4 * m.rows() / of.peer_block +
                                                      8 * of.sides * (m.rows() + m.columns)));
}

template <class Make>
void register_for(const std::string& words, const Make& make, std::size_t on_gpu, std::size_t on_cpu,
                  double bar = gpu_bar, const variant& of = {}) {
    on_every_device(words, [=](benchmark::State& state, const balm::device& on) {
        measure(state, on, make(is_cpu(on) ? on_cpu : on_gpu), is_cpu(on) ? cpu_bar : bar, of);
    });
}

void register_all() {
    register_for("sparse product, Poisson", poisson, 256, 128, gpu_poisson_bar);
    register_for("sparse product, power law", power_law, std::size_t{1} << 21, std::size_t{1} << 18);
    register_for("sparse product, one dense row", one_dense_row, std::size_t{1} << 24, std::size_t{1} << 21);
    register_for("sparse product, 3 x 3 blocks", blocks<3>, 80, 36);
    register_for("sparse product, 3 x 3 blocks beside BSR", blocks<3>, 80, 36, gpu_bar, {1, 3});
    register_for("sparse product, 4 x 4 blocks beside BSR", blocks<4>, 64, 32, gpu_bar, {1, 4});
    for (const std::size_t sides : {4, 8}) {
        const std::string words = ", " + std::to_string(sides) + " right-hand sides";
        register_for("sparse product, Poisson" + words, poisson, 192, 96, gpu_bar, {sides});
        register_for("sparse product, 3 x 3 blocks" + words, blocks<3>, 80, 36, gpu_bar, {sides});
        register_for("sparse product, power law" + words, power_law, std::size_t{1} << 20,
                     std::size_t{1} << 17, gpu_bar, {sides});
    }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

// Convolutions of floats along rows and columns: on GPUs against CUDA kernels with tiles in shared memory and
// a device copy, which moves as many bytes; on CPUs against OpenMP.

#include <cmath>
#include <vector>

#include "balm/stencil.hpp"
#include "peer_convolution.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 0.97, cpu_bar = 0.95;
constexpr int calls = 20;

/// The dimension of the convolution, and where the weights are.
enum class layout { rows, rows_by_device_weights, columns };

struct problem {
    std::size_t n, count;
    layout how;
    std::vector<float> weights;
    balm::vector<float> x, y, on_device;

    problem(const balm::context& where, std::size_t size, std::size_t width, layout which)
        : n(size), count(width), how(which), x(where, n), y(where, n) {
        for (std::size_t k = 0; k < count; ++k) weights.push_back(peer::convolution_weight(k));
        x = balm::cast<float>(balm::element_index() % 1009) * 0.001f;
        on_device = balm::vector<float>(where, weights);
    }
    void run() {
        constexpr balm::constant_border<float> nothing;
        switch (how) {
            case layout::rows: y = balm::convolve(nothing, x, weights); return;
            case layout::rows_by_device_weights: y = balm::convolve(nothing, x, on_device); return;
            case layout::columns:
                y = balm::convolve(nothing, balm::view(x, {side(), n / side()}), weights, {.dimension = 0});
        }
    }
    std::size_t side() const { return std::size_t{1} << static_cast<int>(std::log2(n)) / 2; }
    /// The expected result; for columns, of every 61st column.
    std::vector<float> wanted() const {
        const auto from = x.to_host();
        std::vector<float> to(n);
        if (how != layout::columns) {
            peer::openmp::convolve(to.data(), from.begin(), n, weights.data(), count);
            return to;
        }
        const std::size_t rows = side(), columns = n / rows;
        std::vector<float> column(rows), made(rows);
        for (std::size_t c = 0; c < columns; c += 61) {
            for (std::size_t r = 0; r < rows; ++r) column[r] = from.begin()[r * columns + c];
            peer::openmp::convolve(made.data(), column.data(), rows, weights.data(), count);
            for (std::size_t r = 0; r < rows; ++r) to[r * columns + c] = made[r];
        }
        return to;
    }
    bool is_near(const float* got, const std::vector<float>& to) const {
        const std::size_t step = how == layout::columns ? 61 : 1, columns = n / side();
        const auto bound = static_cast<float>(count) * 1e-6f;
        for (std::size_t i = 0; i < n; ++i)
            if ((step == 1 || i % columns % step == 0) && !(std::abs(got[i] - to[i]) <= bound)) return false;
        return true;
    }
};

void measure(benchmark::State& state, const balm::device& on, std::size_t n, std::size_t count, layout how) {
    problem p(balm::context({on}), n, count, how);
    const std::vector<float> wanted = p.wanted();
    p.run();
    if (!p.is_near(p.y.to_host().begin(), wanted)) return state.SkipWithError("the result is wrong");
    const auto make = [&](const peer::cuda_convolution_functions& cuda) -> void* {
        void* const theirs = cuda.make(n, p.weights.data(), count);
        if (how == layout::columns) return theirs;
        std::vector<float> got(n);
        cuda.read(theirs, got.data());
        if (p.is_near(got.data(), wanted)) return theirs;
        cuda.on_work.release(theirs);
        state.SkipWithError("the peer's result is wrong");
        return nullptr;
    };
    const auto on_cpu = [&] {
        const auto from = p.x.to_host();
        std::vector<float> to(n);
        return compare_in_pairs(
            [&] {
                p.run();
                on.finish();
            },
            [&] {
                peer::openmp::convolve(to.data(), from.begin(), n, p.weights.data(), count);
                benchmark::DoNotOptimize(to[0]);
            });
    };
    measure_work<peer::cuda_convolution_functions>(
        state, on, {"peer_cuda_convolution_functions", calls, gpu_bar, cpu_bar}, [&] { p.run(); }, make,
        on_cpu);
    state.SetBytesProcessed(static_cast<std::int64_t>(2 * n * sizeof(float)));
    state.SetItemsProcessed(static_cast<std::int64_t>(n * count));
}

/// `gpu_bits` and `cpu_bits`: binary logarithms of the number of elements on GPUs and on CPUs.
void register_one(const std::string& name, std::size_t count, layout how, int gpu_bits, int cpu_bits) {
    on_every_device(name, [=](benchmark::State& state, const balm::device& on) {
        measure(state, on, std::size_t{1} << (is_cpu(on) ? cpu_bits : gpu_bits), count, how);
    });
}

void register_all() {
    register_one("rows by 5", 5, layout::rows, 28, 24);
    register_one("rows by 33", 33, layout::rows, 28, 24);
    register_one("rows by 5 in memory", 5, layout::rows_by_device_weights, 28, 24);
    register_one("rows by 33 in memory", 33, layout::rows_by_device_weights, 28, 24);
    register_one("rows by 65", 65, layout::rows, 28, 22);
    register_one("rows by 1001", 1001, layout::rows, 24, 18);
    // Against the same work on rows.
    register_one("columns by 3", 3, layout::columns, 28, 24);
    register_one("columns by 5", 5, layout::columns, 28, 24);
    register_one("columns by 33", 33, layout::columns, 28, 24);
    register_one("columns by 65", 65, layout::columns, 28, 22);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

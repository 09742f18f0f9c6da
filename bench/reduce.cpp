// `sum(x * y)` in double precision: on GPUs against the bandwidth of the device's own copy, on CPUs against
// an OpenMP reduction. The call blocks, so each includes bringing the result to the host.

#include <cmath>
#include <memory>

#include "peer_cuda.hpp"
#include "peer_openmp.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 0.95, cpu_bar = 0.9;
constexpr int calls = 20;

using host_memory = std::unique_ptr<double, decltype(&peer::openmp::release)>;
using device_memory = std::unique_ptr<double, void (*)(double*)>;

comparison on_cpu(const balm::vector<double>& x, const balm::vector<double>& y) {
    const std::size_t n = x.size();
    const host_memory a(peer::openmp::allocate(n, 1), peer::openmp::release);
    const host_memory b(peer::openmp::allocate(n, 2), peer::openmp::release);
    return compare_in_pairs(
        [&] { benchmark::DoNotOptimize(balm::sum(x * y)); },
        [&] { benchmark::DoNotOptimize(peer::openmp::sum_of_products(a.get(), b.get(), n)); });
}

/// The copy reads n elements and writes n, as many bytes as the sum reads of its two arrays: the ratio of the
/// times is that of the bandwidths.
comparison on_gpu(const balm::vector<double>& x, const balm::vector<double>& y,
                  const peer::cuda_functions& cuda) {
    const std::size_t n = x.size();
    const device_memory from(cuda.allocate(n, 1), cuda.release);
    const device_memory to(cuda.allocate(n, 2), cuda.release);
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) benchmark::DoNotOptimize(balm::sum(x * y));
        },
        [&](int count) {
            for (int k = 0; k < count; ++k) cuda.copy(to.get(), from.get(), n);
            cuda.finish();
        },
        calls);
}

/// Of (1 + u_i)(2 + u_i), u_i = 1e-6 (i mod 1,000,003).
bool is_right(double sum, std::size_t n) {
    long double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double u = 1e-6 * static_cast<double>(i % 1000003);
        expected += (1 + u) * (2 + u);
    }
    return std::abs(sum - static_cast<double>(expected)) <= 1e-12 * static_cast<double>(expected);
}

void measure(benchmark::State& state, const balm::device& on) {
    // Twice the usual on large GPUs (the 2^28 of shared/targets.md): the wait for the result, some 15 µs, is
    // then 1 %.
    const std::size_t n = is_cpu(on) ? large(on) : 2 * large(on);
    const balm::context where({on});
    balm::vector<double> x(where, n), y(where, n);
    const auto i = balm::element_index();
    x = 1 + 1e-6 * balm::cast<double>(i % 1000003);
    y = 2 + 1e-6 * balm::cast<double>(i % 1000003);
    if (!is_right(balm::sum(x * y), n)) return state.SkipWithError("the result is wrong");
    const char* why = "";
    const peer::cuda_functions* const cuda =
        is_cpu(on) ? nullptr : peer::cuda_on(on.info().pci_address.c_str(), why);
    if (!is_cpu(on) && cuda == nullptr) return state.SkipWithError(why);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = is_cpu(on) ? on_cpu(x, y) : on_gpu(x, y, *cuda);
        state.SetIterationTime(made.balm);
        state.counters["ratio"] = made.ratio;
        state.counters["bar"] = is_cpu(on) ? cpu_bar : gpu_bar;
        state.counters["peer_seconds"] = made.peer;
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(2 * n * sizeof(double)));
}

void register_all() { on_every_device("sum(x * y), f64", measure); }

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

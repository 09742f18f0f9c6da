// Prefix sums: on GPUs against CUB and a device copy, which moves as many bytes as a scan that reads each
// element once; on CPUs against OpenMP.

#include <numeric>

#include "peer_cuda.hpp"
#include "peer_scan.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 1.0, cpu_bar = 0.95;
constexpr int calls = 20;

template <class T>
struct problem {
    balm::vector<T> x, y;

    problem(const balm::context& where, std::size_t n) : x(where, n), y(where, n) {
        x = balm::cast<T>(balm::element_index() % 1000003);
    }
    void run() { y = balm::inclusive_scan(x); }
    bool is_right() {
        run();
        std::vector<T> expected(x.size());
        const auto from = x.to_host(), got = y.to_host();
        std::inclusive_scan(from.begin(), from.end(), expected.begin());
        return std::equal(got.begin(), got.end(), expected.begin());
    }
};

template <class T>
comparison compare_on_cpu(problem<T>& p) {
    const auto from = p.x.to_host();
    std::vector<T> to(from.size());
    return compare_in_pairs(
        [&] {
            p.run();
            benchmark::DoNotOptimize(p.y[0]);
        },
        [&] {
            peer::openmp::inclusive_scan(from.data(), to.data(), to.size());
            benchmark::DoNotOptimize(to[0]);
        });
}

template <class T>
void measure(benchmark::State& state, const balm::device& on, std::size_t n) {
    problem<T> p(balm::context({on}), n);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    measure_work<peer::cuda_scan_functions>(
        state, on, {"peer_cuda_scan_functions", calls, gpu_bar, cpu_bar}, [&] { p.run(); },
        [&](const auto& cuda) { return cuda.make(sizeof(T) == 8, n); }, [&] { return compare_on_cpu(p); });
    state.SetBytesProcessed(static_cast<std::int64_t>(2 * p.x.size_bytes()));
}

template <class T>
void register_for(const std::string& type) {
    on_every_device("inclusive_scan, " + type, [](benchmark::State& state, const balm::device& on) {
        measure<T>(state, on, is_cpu(on) ? large(on) : 2 * large(on));
    });
    for (int bits = 10; bits <= 16; bits += 2)
        on_every_device("inclusive_scan of 2^" + std::to_string(bits) + ", " + type,
                        [bits](benchmark::State& state, const balm::device& on) {
                            measure<T>(state, on, std::size_t{1} << bits);
                        });
}

void register_all() {
    register_for<std::uint32_t>("u32");
    register_for<double>("f64");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

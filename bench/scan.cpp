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

/// Sums in runs of equal keys, without a peer on CPUs.
struct problem_by_key {
    static constexpr std::size_t run_length = 100;
    balm::vector<std::int32_t> keys;
    balm::vector<std::uint32_t> x, y;

    problem_by_key(const balm::context& where, std::size_t n) : keys(where, n), x(where, n), y(where, n) {
        keys = balm::cast<std::int32_t>(balm::element_index() / static_cast<std::int64_t>(run_length));
        x = balm::cast<std::uint32_t>(balm::element_index() % 1000003);
    }
    void run() { y = balm::inclusive_scan_by_key(keys, x); }
    bool is_right() {
        run();
        const auto from = x.to_host(), got = y.to_host();
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < from.size(); ++k) {
            sum = (k % run_length == 0 ? 0 : sum) + from[k];
            if (got[k] != sum) return false;
        }
        return true;
    }
};

void measure_by_key(benchmark::State& state, const balm::device& on) {
    const std::size_t n = 2 * large(on);
    problem_by_key p(balm::context({on}), n);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    measure_work<peer::cuda_scan_functions>(
        state, on, {"peer_cuda_scan_functions", calls, gpu_bar, cpu_bar}, [&] { p.run(); },
        [&](const auto& cuda) { return cuda.make_by_key(problem_by_key::run_length, n); },
        [] { return comparison{}; });
    state.SetBytesProcessed(static_cast<std::int64_t>(3 * p.x.size_bytes()));
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
    on_devices_that([](const balm::device& on) { return !is_cpu(on); },
                    "inclusive_scan_by_key, u32 in runs of 100", measure_by_key);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

// Histograms: on GPUs against CUB and a device copy of the elements, on CPUs against OpenMP.

#include "balm/histogram.hpp"

#include "peer_cuda.hpp"
#include "peer_histogram.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 1.0, cpu_bar = 0.8;
constexpr int calls = 20;

template <class T>
struct problem {
    static constexpr bool of_floats = sizeof(T) == 4;
    static constexpr std::size_t bins = of_floats ? 1024 : 256;
    balm::vector<T> x;
    balm::vector<std::int64_t> counts;

    problem(const balm::context& where, std::size_t n, bool are_equal) : x(where, n), counts(where, bins) {
        const auto hash = balm::cast<unsigned>(balm::element_index()) * 2654435769u;
        const auto set = [&](const auto& bits) {
            if constexpr (of_floats)
                x = balm::cast<float>(bits >> 8) / 16777216.f;
            else
                x = balm::cast<std::uint8_t>(bits >> 24);
        };
        if (are_equal)
            set(0u * hash + (42u << 24));
        else
            set(hash);
    }
    void run() {
        if constexpr (of_floats)
            counts = balm::histogram(x, bins, 0.0, 1.0);
        else
            counts = balm::bincount(x, bins);
    }
    bool is_right() {
        run();
        std::vector<std::int64_t> wanted(bins);
        peer::openmp::histogram(x.to_host().data(), x.size(), wanted.data());
        const auto got = counts.to_host();
        return std::equal(got.begin(), got.end(), wanted.begin());
    }
};

template <class T>
void measure(benchmark::State& state, const balm::device& on, std::size_t n, bool are_equal) {
    problem<T> p(balm::context({on}), n, are_equal);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    const auto on_cpu = [&] {
        const auto from = p.x.to_host();
        std::vector<std::int64_t> counts(problem<T>::bins);
        return compare_in_pairs(
            [&] {
                p.run();
                benchmark::DoNotOptimize(p.counts[0]);
            },
            [&] {
                peer::openmp::histogram(from.data(), n, counts.data());
                benchmark::DoNotOptimize(counts[0]);
            });
    };
    measure_work<peer::cuda_histogram_functions>(
        state, on, {"peer_cuda_histogram_functions", calls, gpu_bar, cpu_bar}, [&] { p.run(); },
        [&](const auto& cuda) { return cuda.make(sizeof(T) == 4, are_equal, n); }, on_cpu);
    state.SetBytesProcessed(static_cast<std::int64_t>(p.x.size_bytes()));
}

template <class T>
void register_for(const std::string& words) {
    for (const bool are_equal : {false, true})
        on_every_device("histogram of " + words + (are_equal ? ", all equal" : ""),
                        [are_equal](benchmark::State& state, const balm::device& on) {
                            measure<T>(state, on, is_cpu(on) ? large(on) : 2 * large(on), are_equal);
                        });
}

void register_all() {
    register_for<std::uint8_t>("bytes");
    register_for<float>("f32 in 1,024 bins");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

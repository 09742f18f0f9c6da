// Reductions of expressions: on GPUs against the bandwidth of a device copy and against CUB, on CPUs against
// OpenMP. The calls block, so each time includes the transfer of the results to the host.

#include <cmath>
#include <cstdlib>
#include <memory>

#include "peer_cuda.hpp"
#include "peer_reduce.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using peer::reduction;

constexpr double bar = 0.97;  // of the copy's bandwidth, and of OpenMP's
constexpr int calls = 20;

template <class T>
struct release_host {
    void operator()(T* memory) const { std::free(memory); }
};
template <class T>
using host_memory = std::unique_ptr<T[], release_host<T>>;

/// A reduction and its operands.
template <class T>
struct problem {
    reduction what;
    balm::vector<T> x, y;

    problem(reduction which, const balm::context& where, std::size_t n)
        : what(which), x(where, n), y(where, n) {
        const auto i = balm::element_index();
        x = balm::cast<T>(1 + 1e-6 * balm::cast<double>(i % 1000003));
        y = balm::cast<T>(2 + 1e-6 * balm::cast<double>(i % 1000003));
    }
    void run() const {
        switch (what) {
            case reduction::dot: benchmark::DoNotOptimize(balm::sum(x * y)); break;
            case reduction::most_of_abs: benchmark::DoNotOptimize(balm::max(balm::abs(x))); break;
            case reduction::least_most_sum:
                benchmark::DoNotOptimize(balm::reduce(balm::min_of(x), balm::max_of(x), balm::sum_of(x)));
        }
    }
    std::size_t bytes() const { return (what == reduction::dot ? 2 : 1) * x.size_bytes(); }

    /// Compares with reductions of 1 + u_i and 2 + u_i, where u_i = 1e-6 (i mod 1,000,003).
    bool is_right() const {
        const auto near = [](double got, long double expected, double bound) {
            return std::abs(got - static_cast<double>(expected)) <=
                   bound * std::abs(static_cast<double>(expected));
        };
        long double products = 0, sum = 0;
        T least = 10, most = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto k = static_cast<double>(i % 1000003);
            const T own = static_cast<T>(std::fma(1e-6, k, 1));  // Balm contracts to fma
            products += static_cast<long double>(own) * static_cast<T>(std::fma(1e-6, k, 2));
            sum += own;
            least = std::min(least, own);
            most = std::max(most, own);
        }
        const double bound = sizeof(T) == 8 ? 1e-14 : 2e-6;
        switch (what) {
            case reduction::dot: return near(balm::sum(x * y), products, bound);
            case reduction::most_of_abs: return balm::max(balm::abs(x)) == most;
            default:
                const auto got = balm::reduce(balm::min_of(x), balm::max_of(x), balm::sum_of(x));
                return std::get<0>(got) == least && std::get<1>(got) == most &&
                       near(std::get<2>(got), sum, bound);
        }
    }
};

template <class T>
comparison on_cpu(const problem<T>& p) {
    const std::size_t n = p.x.size();
    const host_memory<T> a(peer::openmp::numbers<T>(n, 1)), b(peer::openmp::numbers<T>(n, 2));
    return compare_in_pairs(
        [&] { p.run(); },
        [&] {
            T least, most;
            switch (p.what) {
                case reduction::dot: benchmark::DoNotOptimize(peer::openmp::dot(a.get(), b.get(), n)); break;
                case reduction::most_of_abs:
                    benchmark::DoNotOptimize(peer::openmp::most_of_abs(a.get(), n));
                    break;
                case reduction::least_most_sum:
                    benchmark::DoNotOptimize(peer::openmp::least_most_sum(a.get(), n, &least, &most));
            }
        });
}

template <class T>
void measure_gpu(benchmark::State& state, const problem<T>& p, const peer::cuda_reduce_functions& cuda) {
    const auto ours = [&](int count) {
        for (int k = 0; k < count; ++k) p.run();
    };
    const auto [with_copy, with_cub] =
        compare_work(cuda.on_work, cuda.make(sizeof(T) == 8, p.what, p.x.size()), ours, calls);
    report(state, with_copy, bar);
    state.counters["cub_seconds"] = with_cub.peer;
    state.counters["of_cub"] = with_cub.ratio;
}

template <class T>
void measure(benchmark::State& state, const balm::device& on, reduction what) {
    // The same number of bytes for all; on large GPUs twice the usual one (the 2^28 doubles of
    // shared/targets.md), so that the wait for the result, some 15 µs, is 1 %.
    const std::size_t doubles = is_cpu(on) ? large(on) : 2 * large(on);
    const problem<T> p(what, balm::context({on}), doubles * (sizeof(double) / sizeof(T)));
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    const char* why = "";
    const peer::cuda_reduce_functions* const cuda =
        is_cpu(on) ? nullptr
                   : peer::cuda_functions_on<peer::cuda_reduce_functions>(on.info().pci_address.c_str(),
                                                                          "peer_cuda_reduce_functions", why);
    if (!is_cpu(on) && cuda == nullptr) return state.SkipWithError(why);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        if (cuda != nullptr)
            measure_gpu(state, p, *cuda);
        else
            report(state, on_cpu(p), bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(p.bytes()));
}

template <class T>
void register_for(const std::string& type) {
    const auto one = [&](const char* words, reduction what) {
        on_every_device(words + (", " + type), [what](benchmark::State& state, const balm::device& on) {
            measure<T>(state, on, what);
        });
    };
    one("sum(x * y)", reduction::dot);
    one("max(abs(x))", reduction::most_of_abs);
    one("min, max and sum of x at once", reduction::least_most_sum);
}

void register_all() {
    register_for<double>("f64");
    register_for<float>("f32");
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

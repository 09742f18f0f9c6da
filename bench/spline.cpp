// Splines of two dimensions, evaluated at points and fitted to scattered points: on GPUs against CUDA kernels
// and a device copy of the coordinates and values, on CPUs against OpenMP.

#include "balm/spline.hpp"

#include <cmath>
#include <vector>

#include "balm/random.hpp"
#include "peer_spline.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double gpu_bar = 0.95, cpu_bar = 0.9;
/// Fits add in a fixed order, unlike the peers. PoCL on 2 cores: 0.93 f32, 0.77 f64.
constexpr double cpu_fit_bar = 0.75;
constexpr balm::spline_bounds<2> unit_square{{0, 0}, {1, 1}};

/// Points of the unit square, unordered or row by row, with a value each.
template <class T>
struct some_points {
    std::size_t n;
    balm::vector<T> x, y, values;

    some_points(const balm::context& where, std::size_t count, bool in_rows)
        : n(count), x(where, n), y(where, n), values(where, n) {
        const auto i = balm::element_index();
        if (in_rows) {
            const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
            x = (balm::cast<T>(i / side) + T(0.5)) / static_cast<T>(side);
            y = (balm::cast<T>(i % side) + T(0.5)) / static_cast<T>(side);
        } else {
            x = balm::uniform<T>()(i, 1);
            y = balm::uniform<T>()(i, 2);
        }
        values = sin(T(9) * x) * cos(T(7) * y) + x;
    }
};

template <class T>
bool are_near(const T* got, const std::vector<T>& wanted, double bound) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (!(std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i])) <= bound)) return false;
    return true;
}

/// The peer's work; null if its result differs from `wanted`.
template <class T>
void* checked(benchmark::State& state, const peer::cuda_spline_functions& cuda, void* theirs,
              const std::vector<T>& wanted, double bound) {
    std::vector<T> got(wanted.size());
    cuda.read(theirs, got.data());
    if (are_near(got.data(), wanted, bound)) return theirs;
    cuda.on_work.release(theirs);
    state.SkipWithError("the peer's result is wrong");
    return nullptr;
}

template <class T>
void measure_evaluation(benchmark::State& state, const balm::device& on, std::size_t n, bool in_rows) {
    const balm::context where({on});
    constexpr std::size_t cells = 256;
    constexpr double bound = sizeof(T) == 4 ? 1e-4 : 1e-12;
    some_points<T> p(where, n, in_rows);
    const balm::scattered_spline<2, T> spline(unit_square, std::tie(p.x, p.y), p.values,
                                              {.levels = 9, .trend = balm::spline_trend::none});
    balm::vector<T> to(where, n);
    const auto lattice = spline.lattice().to_host();
    const auto x = p.x.to_host(), y = p.y.to_host();
    std::vector<T> wanted(n);
    peer::openmp::evaluate_spline(wanted.data(), lattice.data(), cells, n, x.data(), y.data());
    const auto run = [&] { to = spline(p.x, p.y); };
    run();
    if (!are_near(to.to_host().data(), wanted, bound)) return state.SkipWithError("the result is wrong");
    const auto on_cpu = [&] {
        return compare_in_pairs(
            [&] {
                run();
                on.finish();
            },
            [&] {
                peer::openmp::evaluate_spline(wanted.data(), lattice.data(), cells, n, x.data(), y.data());
                benchmark::DoNotOptimize(wanted[0]);
            });
    };
    measure_work<peer::cuda_spline_functions>(
        state, on, {"peer_cuda_spline_functions", 20, gpu_bar, cpu_bar}, run,
        [&](const peer::cuda_spline_functions& cuda) {
            return checked(state, cuda,
                           cuda.make_evaluation(sizeof(T) == 8, cells, lattice.data(), n, x.data(), y.data()),
                           wanted, bound);
        },
        on_cpu);
    state.SetBytesProcessed(static_cast<std::int64_t>(3 * n * sizeof(T)));
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

template <class T>
void measure_fit(benchmark::State& state, const balm::device& on, std::size_t n) {
    const balm::context where({on});
    constexpr int levels = 8;
    constexpr double bound = sizeof(T) == 4 ? 1e-2 : 1e-8;
    some_points<T> p(where, n, false);
    const auto x = p.x.to_host(), y = p.y.to_host(), values = p.values.to_host();
    constexpr std::size_t extent = (1u << (levels - 1)) + 3;
    std::vector<T> wanted(extent * extent);
    peer::openmp::fit_spline(wanted.data(), levels, n, x.data(), y.data(), values.data());
    balm::scattered_spline<2, T> spline;
    const auto run = [&] {
        spline = balm::scattered_spline<2, T>(unit_square, std::tie(p.x, p.y), p.values,
                                              {.levels = levels, .trend = balm::spline_trend::none});
    };
    run();
    if (!are_near(spline.lattice().to_host().data(), wanted, bound))
        return state.SkipWithError("the result is wrong");
    const auto on_cpu = [&] {
        return compare_in_pairs(
            [&] {
                run();
                on.finish();
            },
            [&] {
                peer::openmp::fit_spline(wanted.data(), levels, n, x.data(), y.data(), values.data());
                benchmark::DoNotOptimize(wanted[0]);
            });
    };
    measure_work<peer::cuda_spline_functions>(
        state, on, {"peer_cuda_spline_functions", 5, gpu_bar, cpu_fit_bar}, run,
        [&](const peer::cuda_spline_functions& cuda) {
            return checked(state, cuda,
                           cuda.make_fit(sizeof(T) == 8, levels, n, x.data(), y.data(), values.data()),
                           wanted, bound);
        },
        on_cpu);
    state.SetItemsProcessed(static_cast<std::int64_t>(n));
}

/// The prefilter and the ends of the lattice, against a copy.
void measure_interpolation(benchmark::State& state, const balm::device& on, std::size_t n) {
    const balm::context where({on});
    balm::vector<float> values(where, n), other(where, n);
    values = sin(0.001f * balm::cast<float>(balm::element_index()));
    const auto run = [&] { const balm::cubic_spline<1, float> s({{0}, {1}}, values); };
    const auto copy = [&] { other = values; };
    run();
    copy();
    const auto repeated = [&](const auto& work) {
        return [&](int times) {
            for (int k = 0; k < times; ++k) work();
            on.finish();
        };
    };
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state, compare_samples(repeated(run), repeated(copy), is_cpu(on) ? 1 : 20), 0);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(2 * n * sizeof(float)));
}

template <class T>
void register_for(const std::string& words) {
    for (const bool in_rows : {false, true})
        on_every_device("spline of " + words + (in_rows ? " at points in rows" : " at points in no order"),
                        [in_rows](benchmark::State& state, const balm::device& on) {
                            measure_evaluation<T>(state, on, std::size_t{1} << (is_cpu(on) ? 20 : 24),
                                                  in_rows);
                        });
    on_every_device("fit of " + words, [](benchmark::State& state, const balm::device& on) {
        measure_fit<T>(state, on, std::size_t{1} << (is_cpu(on) ? 18 : 20));
    });
}

void register_all() {
    register_for<float>("f32");
    register_for<double>("f64");
    on_every_device("cubic spline of f32 beside a copy", [](benchmark::State& state, const balm::device& on) {
        measure_interpolation(state, on, std::size_t{1} << (is_cpu(on) ? 20 : 26));
    });
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

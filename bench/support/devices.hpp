#pragma once
// The devices to measure on: all that are available and have f64, a GPU once for each backend.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "runtime/device/platform.hpp"
#include "support/measure.hpp"

namespace balm::bench {

inline std::vector<device> all_devices() {
    std::vector<device> all;
    for (const auto& each : runtime::platforms().devices)
        if (each->info().is_available && each->info().has_double) all.emplace_back(each);
    return all;
}

inline bool is_cpu(const device& on) { return on.info().type == device_type::cpu; }

/// "NVIDIA H100 80GB HBM3 (cuda, CUDA)": the label of a measurement, by which the table is divided.
inline std::string label(const device& on) {
    return fmt::format("{} ({}, {})", on.name(), to_string(on.info().api), on.info().platform);
}

/// Elements of an array that is far larger than any cache, and of which several fit on the device.
inline std::size_t large(const device& on) {
    return !is_cpu(on) && on.info().global_memory >= std::uint64_t{16} << 30 ? std::size_t{1} << 27
                                                                             : std::size_t{1} << 24;
}

/// Registers a measurement for each device for which `is_one(device)` is true. `measure(state, device)` sets
/// the iteration's time itself.
template <class Which, class Measure>
void on_devices_that(Which is_one, const std::string& name, Measure measure) {
    for (const device& each : all_devices()) {
        if (!is_one(each)) continue;
        const std::string full = fmt::format("{}/{}", name, label(each));
        benchmark::RegisterBenchmark(full.c_str(),
                                     [measure, each](benchmark::State& state) {
                                         state.SetLabel(label(each));
                                         measure(state, each);
                                     })
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
    }
}
/// Registers a measurement for each device.
template <class Measure>
void on_every_device(const std::string& name, Measure measure) {
    on_devices_that([](const device&) { return true; }, name, measure);
}

/// Sets the values of a row of the table.
inline void report(benchmark::State& state, const comparison& made, double bar) {
    state.SetIterationTime(made.balm);
    state.counters["ratio"] = made.ratio;
    state.counters["peer_seconds"] = made.peer;
    state.counters["bar"] = bar;
}

/// OpenMP's threads spin for milliseconds after a loop, on cores that the next timed code needs. libgomp
/// reads the variable before main() begins, so the program starts itself again.
inline void let_openmp_threads_sleep(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
}

/// main() of a program whose benchmarks `register_all` registers.
inline int run(int argc, char** argv, void (*register_all)()) {
    let_openmp_threads_sleep(argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    register_all();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

}  // namespace balm::bench

#pragma once
// Compares Balm with a library's algorithm and with a copy on GPUs, with a host function on CPUs.

#include <memory>

#include "peer_cuda.hpp"
#include "peer_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace balm::bench {

struct work_comparison {
    comparison with_copy, with_peer;
};

/// `ours` takes the number of calls. Releases the peer's work.
template <class Balm>
work_comparison compare_work(const peer::cuda_work_functions& cuda, void* theirs, const Balm& ours,
                             int calls) {
    const std::unique_ptr<void, void (*)(void*)> work(theirs, cuda.release);
    const auto repeated = [&](void (*run)(void*)) {
        return [&cuda, &work, run](int count) {
            for (int k = 0; k < count; ++k) run(work.get());
            cuda.finish();
        };
    };
    const comparison with_copy = compare_samples(ours, repeated(cuda.copy), calls);
    return {with_copy, compare_samples(ours, repeated(cuda.run), calls)};
}

/// How work is measured.
struct work_task {
    const char* functions;  ///< the function that returns the peer's functions
    int calls;              ///< per sample, on GPUs
    double gpu_bar, cpu_bar;
};

/// Measures calls of `run`: on GPUs against the work that `make` creates with the peer's functions (if there
/// is none, `make` reports why in the state and returns null); on CPUs by `compare_on_cpu`.
template <class Functions, class Run, class Make, class OnCpu>
void measure_work(benchmark::State& state, const device& on, const work_task& task, const Run& run,
                  const Make& make, const OnCpu& compare_on_cpu) {
    const char* why = "";
    const Functions* const cuda =
        is_cpu(on) ? nullptr
                   : peer::cuda_functions_on<Functions>(on.info().pci_address.c_str(), task.functions, why);
    if (!is_cpu(on) && cuda == nullptr) return state.SkipWithError(why);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        if (cuda == nullptr) {
            report(state, compare_on_cpu(), task.cpu_bar);
            continue;
        }
        void* const theirs = make(*cuda);
        if (theirs == nullptr) return;
        const auto ours = [&](int times) {
            for (int k = 0; k < times; ++k) run();
            on.finish();
        };
        const work_comparison made = compare_work(cuda->on_work, theirs, ours, task.calls);
        report(state, made.with_peer, task.gpu_bar);
        state.counters["of_copy"] = made.with_copy.ratio;
    }
}

}  // namespace balm::bench

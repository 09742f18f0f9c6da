#pragma once
// Balm beside CUB and beside a copy, on a GPU.

#include <memory>

#include "peer_work.hpp"
#include "support/measure.hpp"

namespace balm::bench {

struct work_comparison {
    comparison with_copy, with_cub;
};

/// `ours` is called with a count of calls. Releases the peer's work.
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

}  // namespace balm::bench

#pragma once
// The search for the fastest plan of a device. In: plans and a way to measure them. Out: the fastest. The
// table in plan.cpp distinguishes only kinds of devices, and two devices of a kind may differ.

#include <functional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace balm {
class context;
}

namespace heat {

/// A plan and its rate.
struct plan_trial {
    heat::plan plan;
    double cells_per_second = 0;  ///< 0: it failed
    std::string fault;            ///< why
};

struct plan_search {
    std::vector<plan_trial> trials;  ///< in the order of the candidates, those tried in time
    plan_trial fastest;
};

struct search_options {
    /// No further candidate is started after this many seconds. The first is always tried.
    double seconds = 0;
    /// Called before each candidate.
    std::function<void(std::size_t done, std::size_t candidates)> progress;
};

/// Returns the cells per second of a plan; throws if the device cannot run it.
using plan_measure = std::function<double(const plan&)>;

/// Measures each candidate, twice if there is time, then the fastest few again, and selects the fastest of
/// these. The first candidate is kept unless another is faster by more than 2 %, so that noise does not
/// change a plan. A candidate that fails is skipped. Throws std::runtime_error if all fail.
plan_search search_plans(const std::vector<plan>& candidates, const plan_measure& measure,
                         const search_options& options);

/// Measures plans on the first device of a context, each on the same slalom world, which fills the device.
/// Uncached kernels are compiled, which takes most of the time.
plan_measure measure_on(balm::context& context);

}  // namespace heat

#pragma once
// The search for the fastest plan of a device. Plans and a way to measure them come in, the fastest goes out.
// Here because the table in plan.cpp knows kinds of devices, and two devices of a kind may differ.

#include <functional>
#include <string>
#include <vector>

#include "plan.hpp"

namespace balm {
class context;
}

namespace heat {

/// A plan and how fast it was.
struct plan_trial {
    heat::plan plan;
    double cells_per_second = 0;  ///< 0: it failed
    std::string fault;            ///< why
};

struct plan_search {
    std::vector<plan_trial> trials;  ///< in the order of the candidates, those that there was time for
    plan_trial fastest;
};

struct search_options {
    /// No other candidate is begun after so many seconds. The first is always tried.
    double seconds = 0;
    /// Called before each candidate.
    std::function<void(std::size_t done, std::size_t candidates)> progress;
};

/// Cells per second by a plan; throws where the device cannot run it.
using plan_measure = std::function<double(const plan&)>;

/// Measures each candidate, twice if there is time, then the fastest few again, and takes the one that is
/// fastest then. The first candidate is taken unless another is faster by more than 2 %, so that noise does
/// not change a plan. A candidate that fails is left out. Throws std::runtime_error when all fail.
plan_search search_plans(const std::vector<plan>& candidates, const plan_measure& measure,
                         const search_options& options);

/// Measures plans on the first device of a context, each on the same slalom world, which fills the device.
/// Kernels that are in no cache are compiled, which takes most of the time.
plan_measure measure_on(balm::context& context);

}  // namespace heat

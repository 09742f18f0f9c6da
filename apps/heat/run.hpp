#pragma once
// A run of many steps with stops: to check whether the world is steady, to paint it, to report progress. In:
// a stepper. Out: the advanced stepper. Stops split the steps into launches, so they must be few.

#include <functional>
#include <optional>
#include <vector>

#include "step.hpp"

namespace heat {

struct run_options {
    unsigned steps = 1;                 ///< at most
    std::optional<float> until_steady;  ///< stop once a step changes no temperature by more than this
    unsigned frame_every = 1;           ///< steps from one frame to the next, at least 1
    /// Called with the state of the world at the beginning, after every `frame_every` steps, and at the end.
    std::function<void(unsigned done, const std::vector<float>& state)> frame;
    /// Called about five times a second.
    std::function<void(unsigned done)> progress;
};

struct run_result {
    unsigned steps = 0;      ///< done
    bool is_steady = false;  ///< according to `until_steady`
    float change = 0;        ///< the largest of a temperature in the last step, if `until_steady` is set
};

/// The steps between checks whether a world is steady, which also follow the last step: a few dozen launches
/// of several steps, and one step whose change is measured.
inline constexpr unsigned steps_between_checks = 256 + 1;

/// Advances a stepper.
run_result run(stepper& stepper, const run_options& options);

}  // namespace heat

#pragma once
// A run of many steps with stops: to see whether the world is steady, to paint it, to say how far the run is.
// A stepper comes in, it goes out advanced. Here because the stops cut the steps into launches, and few of
// them shall.

#include <functional>
#include <optional>
#include <vector>

#include "step.hpp"

namespace heat {

struct run_options {
    unsigned steps = 1;                 ///< at most
    std::optional<float> until_steady;  ///< stop once a step changes no temperature by more than this
    unsigned frame_every = 1;           ///< steps from one frame to the next, at least 1
    /// Called with the world as it is at the beginning, after every `frame_every` steps, and at the end.
    std::function<void(unsigned done, const std::vector<float>& state)> frame;
    /// Called about five times a second.
    std::function<void(unsigned done)> progress;
};

struct run_result {
    unsigned steps = 0;      ///< done
    bool is_steady = false;  ///< by the measure of `until_steady`
    float change = 0;        ///< the largest of a temperature in the last step, where `until_steady` is there
};

/// Whether a world is steady is looked at after every so many steps, and after the last: one step that is
/// compared, after as many as a few dozen launches of several steps make.
inline constexpr unsigned steps_between_checks = 256 + 1;

/// Advances a stepper.
run_result run(stepper& stepper, const run_options& options);

}  // namespace heat

// A run with stops. In: a stepper, options. Out: the stepper some steps later. Between two stops all steps
// are enqueued at once.

#include "run.hpp"

#include <algorithm>
#include <chrono>

namespace heat {
namespace {

constexpr double batch_seconds = 0.2;
constexpr unsigned usual_batch = 8;  // steps of a launch

// Steps until the next multiple of `unit`.
unsigned steps_to_next(unsigned done, unsigned unit) { return unit - done % unit; }

}  // namespace

run_result run(stepper& stepper, const run_options& options) {
    run_result result;
    if (options.frame) options.frame(0, stepper.state());
    const unsigned smallest_batch = std::max(usual_batch, stepper.division().stay);
    unsigned batch = smallest_batch;  // grows or shrinks until it takes batch_seconds
    while (result.steps < options.steps && !result.is_steady) {
        unsigned count = options.steps - result.steps;
        if (options.frame) count = std::min(count, steps_to_next(result.steps, options.frame_every));
        if (options.until_steady) count = std::min(count, steps_to_next(result.steps, steps_between_checks));
        if (options.progress) count = std::min(count, batch);
        const unsigned done = result.steps + count;
        const bool is_last = done == options.steps;

        const auto start = std::chrono::steady_clock::now();
        if (options.until_steady && (is_last || done % steps_between_checks == 0)) {
            result.change = stepper.advance_and_compare(count);
            result.is_steady = result.change <= *options.until_steady;
        } else {
            stepper.advance(count);
        }
        result.steps = done;
        if (options.progress) {
            stepper.finish();
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            if (count == batch && taken.count() < batch_seconds / 2) batch = std::min(2 * batch, 1u << 24);
            if (taken.count() > batch_seconds * 2) batch = std::max(batch / 2, smallest_batch);
            options.progress(result.steps);
        }
        if (options.frame && (is_last || result.is_steady || done % options.frame_every == 0))
            options.frame(done, stepper.state());
    }
    return result;
}

}  // namespace heat

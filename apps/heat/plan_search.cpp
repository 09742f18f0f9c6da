// The search. In: candidates, a way to measure them. Out: the fastest. Two rounds find the finalists, further
// rounds rank them.

#include "plan_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>

#include "generate.hpp"
#include "step.hpp"

namespace heat {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t finalists = 4;
constexpr int final_rounds = 3;
constexpr double worth_a_change = 1.02;

double seconds_since(steady::time_point start) {
    return std::chrono::duration<double>(steady::now() - start).count();
}

plan_trial tried(const plan& candidate, const plan_measure& measure) {
    try {
        return {candidate, measure(candidate), {}};
    } catch (const std::exception& fault) {
        return {candidate, 0, fault.what()};
    }
}

void measure_again(plan_trial& trial, const plan_measure& measure) {
    if (trial.cells_per_second > 0)
        trial.cells_per_second =
            std::max(trial.cells_per_second, tried(trial.plan, measure).cells_per_second);
}

bool is_slower(const plan_trial& one, const plan_trial& other) {
    return one.cells_per_second < other.cells_per_second;
}

}  // namespace

plan_search search_plans(const std::vector<plan>& candidates, const plan_measure& measure,
                         const search_options& options) {
    plan_search result;
    const auto start = steady::now();
    for (const plan& each : candidates) {
        if (!result.trials.empty() && seconds_since(start) > options.seconds) break;
        if (options.progress) options.progress(result.trials.size(), candidates.size());
        result.trials.push_back(tried(each, measure));
    }
    // Measures again, backwards, while there is time: other load on the machine comes and goes.
    for (std::size_t left = result.trials.size(); left > 0 && seconds_since(start) <= options.seconds; --left)
        measure_again(result.trials[left - 1], measure);
    if (options.progress) options.progress(candidates.size(), candidates.size());

    // The table's plan is always a finalist.
    std::vector<plan_trial> last = result.trials;
    if (last.empty()) throw std::runtime_error("there are no plans to search");
    std::stable_sort(last.begin() + 1, last.end(),
                     [](const plan_trial& one, const plan_trial& other) { return is_slower(other, one); });
    last.resize(std::min(last.size(), 1 + finalists));
    if (last.size() > 1)
        for (int round = 0; round < final_rounds; ++round)
            for (plan_trial& each : last) measure_again(each, measure);
    const plan_trial& best = *std::max_element(last.begin(), last.end(), is_slower);
    const bool is_clear = best.cells_per_second > worth_a_change * last.front().cells_per_second;
    result.fastest = is_clear ? best : last.front();
    if (!(result.fastest.cells_per_second > 0))
        throw std::runtime_error(fmt::format("no plan runs on this device: {}", last.front().fault));
    return result;
}

plan_measure measure_on(balm::context& context) {
    constexpr float alpha = 0.1f, dt = 0.1f;
    constexpr double sample_seconds = 0.003;
    constexpr int samples = 3;
    // Fills a GPU of 132 multiprocessors: the table's sweep has 30 strips, whose 1,056 segments (8 sub-groups
    // per multiprocessor) have some 90 rows each; its tile plan has 28 x 28 tiles, several waves of
    // work-groups. On a CPU: more than the caches of a core.
    const unsigned size = context.device(0).info().type == balm::device_type::cpu ? 1024 : 3072;
    const auto world = std::make_shared<heat::world>(make_slalom(size, size, alpha));
    return [world, &context](const plan& plan) {
        stepper stepper(*world, dt, context, plan);
        stepper.prepare();
        const auto seconds_of = [&](unsigned steps) {
            const auto start = steady::now();
            stepper.advance(steps);
            stepper.finish();
            return seconds_since(start);
        };
        unsigned steps = plan.steps;  // more until they take long enough
        double seconds = seconds_of(steps);
        while (seconds < sample_seconds && steps < (1u << 20)) {
            steps *= 2;
            seconds = seconds_of(steps);
        }
        for (int sample = 1; sample < samples; ++sample) seconds = std::min(seconds, seconds_of(steps));
        return static_cast<double>(world->size()) * steps / seconds;
    };
}

}  // namespace heat

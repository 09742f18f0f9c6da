// heat_demo [--size N] [--steps N] [--output heat.png] [--animation FILE] [--frames 60]: heat winds its way
// through a slalom on the best device; the first steps are checked against the serial reference, the run is
// timed and painted. It is the first program that a newcomer runs.

#include <fmt/format.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <vector>

#include "animation.hpp"
#include "command.hpp"
#include "generate.hpp"
#include "image.hpp"
#include "plan_store.hpp"
#include "reference.hpp"
#include "step.hpp"
#include "terminal/progress.hpp"

namespace {

using balm::terminal::progress;

constexpr float dt = 10;  // alpha * dt = 1: heat spreads by about a cell in 5 steps
constexpr float alpha = 0.1f;
constexpr double tolerance = 2e-5;
constexpr unsigned checked_steps = 1000;
constexpr unsigned frames_per_second = 15, last_milliseconds = 3000;
constexpr unsigned still_side = 700, animation_side = 300;  // pixels; pictures have less than twice as many

struct arguments {
    unsigned size = 0;   ///< 0: by the type of the device
    unsigned steps = 0;  ///< 0: until heat is everywhere
    unsigned frames = 60;
    std::string output = "heat.png", animation;
};

// The size at which heat crosses the slalom within seconds: the work grows with its fourth power.
unsigned default_size(balm::device_type type) { return type == balm::device_type::gpu ? 1000 : 200; }

// The time of diffusion grows with the square of the distance. After this many steps the last chamber has
// seven eighths of its final warmth (100 x 100 and 200 x 200 cells, alpha * dt = 1).
unsigned steps_through(unsigned size) { return static_cast<unsigned>(std::min(6.0 * size * size, 4e9)); }

// The steps after which a frame is painted, from 0 to all: heat advances with the square root of time. Where
// frames are far enough apart, whole launches of this many steps lie between them: plans have a kernel for
// each number of steps, and each takes time to compile.
std::vector<unsigned> frame_steps(unsigned steps, unsigned frames, unsigned launch) {
    std::vector<unsigned> result;
    for (unsigned i = 0; i < frames; ++i) {
        const double share = static_cast<double>(i) / (frames - 1);
        auto at = static_cast<unsigned>(std::llround(share * share * steps));
        const unsigned whole = at / launch * launch;
        if (!result.empty() && whole > result.back() && i + 1 < frames) at = whole;
        if (result.empty() || at > result.back()) result.push_back(at);
    }
    return result;
}

// The numbers of steps from each stop to the next.
std::vector<unsigned> steps_between(const std::vector<unsigned>& stops) {
    std::vector<unsigned> result(stops.size());
    std::adjacent_difference(stops.begin(), stops.end(), result.begin());
    return result;
}

heat::picture_scale scale_for(unsigned size, unsigned side) {
    return {std::max(1u, side / size), std::max(1u, size / side)};
}

// The captions below the legend of a picture. All pictures have the same number of lines: the last line,
// which changes, fits into the narrowest picture.
std::vector<std::string> captions(const balm::device_info& device, const heat::world& world, unsigned done,
                                  unsigned steps, double seconds) {
    std::string now = fmt::format("step {}", done);
    if (done > 0)
        now += ", " + balm::terminal::rate_text(static_cast<double>(world.size()) * done / seconds, "cell");
    return {fmt::format("{} ({})", device.name, balm::to_string(device.api)),
            fmt::format("{} x {} cells, {} steps", world.width, world.height, steps), now};
}

struct device_run {
    double seconds = 0;          ///< of the steps alone
    std::vector<float> checked;  ///< the state after min(steps, checked_steps)
    std::vector<float> end;
};

// Runs all steps on the device and paints the frames.
device_run run_on_device(const heat::world& start, unsigned steps, const arguments& chosen,
                         balm::context& context) {
    const heat::chosen_plan plan = heat::choose_plan(heat::plan_folder(), context.device(0).info());
    if (!plan.warning.empty()) std::cerr << fmt::format("heat_demo: {}\n", plan.warning);
    heat::stepper stepper(start, dt, context, plan.plan);
    heat::paint_options paint{heat::colour_map::perceptual, scale_for(start.width, animation_side), true, {}};
    heat::animation film(chosen.animation, frames_per_second);
    const unsigned checked = std::min(steps, checked_steps);
    const std::vector<unsigned> painted = frame_steps(steps, chosen.frames, plan.plan.steps);
    std::vector<unsigned> stops = painted;
    if (const auto at = std::lower_bound(stops.begin(), stops.end(), checked); *at != checked)
        stops.insert(at, checked);
    // What is timed below neither compiles nor plans.
    stepper.prepare(steps_between(stops));

    progress bar(
        "device", steps,
        {.each = {static_cast<double>(start.size()), "cell"}, .else_what = progress::elsewhere::lines});
    device_run result;
    heat::world world = start;
    unsigned done = 0;
    for (const unsigned stop : stops) {
        const auto begin = std::chrono::steady_clock::now();
        stepper.advance(stop - done);
        stepper.finish();
        result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        done = stop;
        bar.show(done);
        world.state = stepper.state();
        if (done == checked) result.checked = world.state;
        if (std::binary_search(painted.begin(), painted.end(), done)) {
            paint.captions = captions(context.device(0).info(), world, done, steps, result.seconds);
            film.add(heat::paint(world, paint));
        }
    }
    film.complete(last_milliseconds);
    result.end = world.state;
    return result;
}

double run_serially(heat::world& world, unsigned steps) {
    const auto cells = static_cast<double>(world.size());
    progress bar("serial reference", steps,
                 {.each = {cells, "cell"}, .else_what = progress::elsewhere::lines});
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned done = 0; done < steps;) {
        const unsigned count = std::min(std::max(1u, steps / 25), steps - done);
        heat::step_serial(world, dt, count);
        bar.show(done += count);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Single-precision rounding accumulates over a long run, also in the serial reference. So if device and
// serial reference differ by more than the tolerance, both are compared with double precision: the device's
// error may be twice that of the serial reference.
bool is_right(const heat::world& start, const std::vector<float>& serial, const std::vector<float>& result,
              unsigned steps) {
    const double difference = heat::max_difference(result, serial);
    std::cout << fmt::format("largest difference from the serial reference after {} steps: {:.2e}\n", steps,
                             difference);
    if (difference <= tolerance) return true;
    const std::vector<double> exact = heat::step_serial_double(start, dt, steps);
    const double error = heat::max_difference(result, exact);
    const double serial_error = heat::max_difference(serial, exact);
    std::cout << fmt::format(
        "largest difference from double precision: {:.2e} (the serial reference: {:.2e})\n", error,
        serial_error);
    return error <= std::max(tolerance, 2 * serial_error);
}

int demonstrate(arguments chosen) {
    heat::check_image_name(chosen.output);
    if (chosen.animation.empty()) {
        const std::filesystem::path still = chosen.output;
        chosen.animation = (still.parent_path() / (still.stem().string() + "-animated.png")).string();
    }
    heat::check_animation_name(chosen.animation);
    if (chosen.animation == chosen.output)
        throw std::invalid_argument("the picture and the animation need different names");

    balm::context context;
    const balm::device_info& device = context.device(0).info();
    const unsigned size = chosen.size > 0 ? chosen.size : default_size(device.type);
    const unsigned steps = chosen.steps > 0 ? chosen.steps : steps_through(size);
    heat::world world = heat::make_slalom(size, size, alpha);
    std::cout << fmt::format("{0} x {0} slalom world, {1} steps of {2} s on {3}\n", size, steps, dt,
                             device.name)
              << std::flush;
    const device_run run = run_on_device(world, steps, chosen, context);

    const unsigned checked = std::min(steps, checked_steps);
    heat::world serial = world;
    const double serial_seconds = run_serially(serial, checked);
    const bool right = is_right(world, serial.state, run.checked, checked);
    const auto cells = static_cast<double>(world.size());
    const double rate = cells * steps / run.seconds, serial_rate = cells * checked / serial_seconds;
    std::cout << fmt::format("device: {:.3g} cells per second, {:.3g} s\n", rate, run.seconds)
              << fmt::format("serial: {:.3g} cells per second\n", serial_rate)
              << fmt::format("ratio:  {:.3g}\n", rate / serial_rate);

    world.state = run.end;
    heat::render(world, chosen.output,
                 {heat::colour_map::perceptual, scale_for(size, still_side), true,
                  captions(device, world, steps, steps, run.seconds)});
    std::cout << fmt::format("wrote {} and the animation {} (open it in a browser)\n", chosen.output,
                             chosen.animation)
              << std::flush;
    if (!right)
        throw std::runtime_error(
            fmt::format("the result on {} is off by more than {}", device.name, tolerance));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    arguments chosen;
    const auto app = heat::command_line(
        "Simulates heat flow through a slalom on the best device, checks the result, and paints it.",
        "heat_demo");
    heat::add_number(*app, "--size", chosen.size, 1, 100000,
                     "cells per row, and rows; by default a size that suits the device");
    heat::add_number(*app, "--steps", chosen.steps, 1, 0xFFFFFFFF,
                     "number of steps; by default enough for the heat to get through");
    heat::add_text(*app, "--output", chosen.output, "the picture, a .bmp or .png file");
    heat::add_text(*app, "--animation", chosen.animation,
                   "the run as an animated PNG; by default the picture's name with -animated appended");
    heat::add_number(*app, "--frames", chosen.frames, 2, 10000, "pictures in the animation");
    return heat::run_command(*app, argc, argv, [&] { return demonstrate(chosen); });
}

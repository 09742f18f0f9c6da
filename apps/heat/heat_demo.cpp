// heat_demo [--size 1000] [--steps 1000] [--output heat.png]: steps a slalom world on the best device and
// serially, compares results and speeds, and paints the world. It is the first thing a newcomer runs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <balm/balm.hpp>
#include <chrono>
#include <iostream>

#include "command.hpp"
#include "generate.hpp"
#include "image.hpp"
#include "reference.hpp"
#include "step.hpp"
#include "terminal/progress.hpp"

namespace {

constexpr float dt = 0.1f;
constexpr float alpha = 0.1f;
constexpr double tolerance = 2e-5;

// Runs `advance(batch)` until `steps` are done, showing progress; returns the seconds it took.
template <class Advance>
double timed(const char* label, unsigned steps, double cells, Advance advance) {
    using balm::terminal::progress;
    progress bar(label, steps, {.each = {cells, "cell"}, .else_what = progress::elsewhere::lines});
    const unsigned batch = std::max(1u, steps / 25);  // of 1000: 40, a multiple of what a launch does
    double seconds = 0;
    for (unsigned done = 0; done < steps;) {
        const unsigned count = std::min(batch, steps - done);
        const auto start = std::chrono::steady_clock::now();
        advance(count);
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        done += count;
        bar.show(done);
    }
    return seconds;
}

// The rounding of single precision adds up over a long run, in the serial steps too. So where device and
// serial reference differ by more than the tolerance, both are judged by double precision: the device may be
// off by twice as much as the serial reference is.
bool is_right(const heat::world& start, const std::vector<float>& serial, const std::vector<float>& result,
              unsigned steps) {
    const double difference = heat::max_difference(result, serial);
    std::cout << fmt::format("largest difference from the serial reference: {:.2e}\n", difference);
    if (difference <= tolerance) return true;
    const std::vector<double> exact = heat::step_serial_double(start, dt, steps);
    const double error = heat::max_difference(result, exact);
    const double serial_error = heat::max_difference(serial, exact);
    std::cout << fmt::format(
        "largest difference from double precision: {:.2e} (the serial reference: {:.2e})\n", error,
        serial_error);
    return error <= std::max(tolerance, 2 * serial_error);
}

int demonstrate(unsigned size, unsigned steps, const std::string& output) {
    heat::check_image_name(output);
    const heat::world start = heat::make_slalom(size, size, alpha);
    const auto cells = static_cast<double>(start.size());

    balm::context context;
    const std::string device = context.device(0).info().name;
    std::cout << fmt::format("{0} x {0} slalom world, {1} steps of {2} s on {3}\n", size, steps, dt, device)
              << std::flush;
    heat::stepper stepper(start, dt, context);
    stepper.prepare();
    const double device_seconds = timed("device", steps, cells, [&](unsigned count) {
        stepper.advance(count);
        stepper.finish();
    });
    heat::world result = start;
    result.state = stepper.state();

    heat::world serial = start;
    const double serial_seconds = timed("serial reference", steps, cells,
                                        [&](unsigned count) { heat::step_serial(serial, dt, count); });

    const bool right = is_right(start, serial.state, result.state, steps);
    const double updates = cells * steps;
    std::cout << fmt::format("device: {:.3g} cells per second\n", updates / device_seconds)
              << fmt::format("serial: {:.3g} cells per second\n", updates / serial_seconds)
              << fmt::format("ratio:  {:.3g}\n", serial_seconds / device_seconds);
    heat::render(result, output);
    std::cout << fmt::format("painted {}\n", output) << std::flush;
    if (!right)
        throw std::runtime_error(fmt::format("the result on {} is off by more than {}", device, tolerance));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    unsigned size = 1000, steps = 1000;
    std::string output = "heat.png";
    CLI::App app("Steps a slalom heat world on the best device, checks it, and paints it.", "heat_demo");
    heat::add_number(app, "--size", size, 1, 100000, "cells in a row, and rows");
    heat::add_number(app, "--steps", steps, 1, 0xFFFFFFFF, "number of steps");
    app.add_option("--output", output, "the picture; its name ends in .bmp or .png")->capture_default_str();
    return heat::run_command(app, argc, argv, [&] { return demonstrate(size, steps, output); });
}

// step_world [dt] [n] [binary] [--until-steady EPS] [--frames DIR] [--every N]: reads a heat world from
// stdin, advances it by n steps of dt seconds on the best device, and writes it to stdout.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <balm/balm.hpp>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "command.hpp"
#include "image.hpp"
#include "run.hpp"
#include "stage.hpp"
#include "terminal/progress.hpp"

namespace {

// Paints states of a world into a folder, by the number of steps.
std::function<void(unsigned, const std::vector<float>&)> frame_painter(const heat::world& world,
                                                                       const std::string& folder) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        throw std::runtime_error(
            fmt::format("the folder \"{}\" cannot be made: {}", folder, fault.message()));
    return [folder, painted = world](unsigned done, const std::vector<float>& state) mutable {
        painted.state = state;
        heat::render(painted, fmt::format("{}/step_{:010}.png", folder, done));
    };
}

heat::run_result advance(heat::world& world, float dt, heat::run_options options) {
    balm::context context;
    heat::stepper stepper(world, dt, context);
    balm::terminal::progress bar("stepping", options.steps,
                                 {.each = {static_cast<double>(world.size()), "cell"}});
    if (bar.is_shown()) options.progress = [&](unsigned done) { bar.show(done); };
    const heat::run_result result = heat::run(stepper, options);
    world.state = stepper.state();
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    float until_steady = 0;
    unsigned every = 100;
    std::string folder;
    CLI::App app("Advances the heat world on stdin and writes it to stdout.", "step_world");
    heat::add_number(app, "--until-steady", until_steady,
                     "stop before n steps once a step changes no temperature by more than this");
    const CLI::Option* frames =
        app.add_option("--frames", folder, "folder for pictures of the world as it changes");
    heat::add_number(app, "--every", every, 1, 0xFFFFFFFF, "steps from one picture to the next");
    return heat::run_stage(app, argc, argv, [&](heat::world& world, float dt, unsigned n) {
        heat::run_options options;
        options.steps = n;
        options.frame_every = every;
        if (frames->count() > 0) options.frame = frame_painter(world, folder);
        if (app.count("--until-steady") > 0) options.until_steady = until_steady;
        if (n == 0) {  // needs no device
            if (options.frame) options.frame(0, world.state);
            return;
        }
        const heat::run_result result = advance(world, dt, options);
        if (!options.until_steady) return;
        std::cerr << (result.is_steady
                          ? fmt::format(
                                "Steady after {} steps: the last changed no temperature by more than {:g}\n",
                                result.steps, until_steady)
                          : fmt::format(
                                "Not steady after {} steps: the last changed a temperature by {:.3g}\n",
                                result.steps, result.change));
    });
}

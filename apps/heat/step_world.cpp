// step_world [dt] [n] [binary] [--until-steady EPS] [--frames DIR] [--animate FILE] [--every N] …: reads a
// heat world from stdin, advances it by n steps of dt seconds on the best device, and writes it to stdout.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <balm/balm.hpp>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

#include "animation.hpp"
#include "command.hpp"
#include "image.hpp"
#include "paint_arguments.hpp"
#include "run.hpp"
#include "stage.hpp"
#include "terminal/progress.hpp"

namespace {

/// What the options say about pictures of a run.
struct picture_options {
    std::string folder;     ///< a file for each picture
    std::string animation;  ///< all pictures in a file
    unsigned frames_per_second = 20;
    heat::paint_options paint;
};

/// The pictures of a run: the world as it changes, in a folder by the number of steps, and in an animation.
class film {
public:
    film(const heat::world& world, float dt, picture_options options)
        : painted_(world), dt_(dt), options_(std::move(options)) {
        if (!options_.folder.empty()) {
            std::error_code fault;
            std::filesystem::create_directories(options_.folder, fault);
            if (fault)
                throw std::runtime_error(
                    fmt::format("the folder \"{}\" cannot be made: {}", options_.folder, fault.message()));
        }
        if (!options_.animation.empty()) animation_.emplace(options_.animation, options_.frames_per_second);
    }

    void add(unsigned done, const std::vector<float>& state) {
        painted_.state = state;
        options_.paint.captions = {fmt::format("step {}, {:g} s", done, static_cast<double>(dt_) * done)};
        const heat::picture picture = heat::paint(painted_, options_.paint);
        if (!options_.folder.empty())
            heat::write_picture(picture, fmt::format("{}/step_{:010}.png", options_.folder, done));
        if (animation_) animation_->add(picture);
    }

    void complete() {
        if (animation_) animation_->complete(last_milliseconds);
    }

private:
    static constexpr unsigned last_milliseconds = 2000;  // time to look at the end

    heat::world painted_;
    float dt_;
    picture_options options_;
    std::optional<heat::animation> animation_;
};

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

void report(const heat::run_result& result, const heat::run_options& options) {
    if (!options.until_steady) return;
    std::cerr << (result.is_steady
                      ? fmt::format(
                            "Steady after {} steps: the last changed no temperature by more than {:g}\n",
                            result.steps, *options.until_steady)
                      : fmt::format("Not steady after {} steps: the last changed a temperature by {:.3g}\n",
                                    result.steps, result.change));
}

}  // namespace

int main(int argc, char** argv) {
    float until_steady = 0;
    unsigned every = 100;
    picture_options pictures;
    CLI::App app("Advances the heat world on stdin and writes it to stdout.", "step_world");
    heat::add_number(app, "--until-steady", until_steady,
                     "stop before n steps once a step changes no temperature by more than this");
    app.add_option("--frames", pictures.folder, "folder for pictures of the world as it changes");
    app.add_option("--animate", pictures.animation,
                   "the same pictures in an animated PNG; its name ends in .png or .apng");
    heat::add_number(app, "--every", every, 1, 0xFFFFFFFF, "steps from one picture to the next");
    heat::add_number(app, "--frames-per-second", pictures.frames_per_second, 1, 1000, "of the animation");
    heat::add_paint_arguments(app, pictures.paint);
    return heat::run_stage(app, argc, argv, [&](heat::world& world, float dt, unsigned n) {
        heat::run_options options;
        options.steps = n;
        options.frame_every = every;
        if (app.count("--until-steady") > 0) options.until_steady = until_steady;
        std::optional<film> film;
        if (app.count("--frames") + app.count("--animate") > 0) {
            film.emplace(world, dt, pictures);
            options.frame = [&](unsigned done, const std::vector<float>& state) { film->add(done, state); };
        }
        if (n > 0) {
            report(advance(world, dt, options), options);
        } else if (film) {  // needs no device
            film->add(0, world.state);
        }
        if (film) film->complete();
    });
}

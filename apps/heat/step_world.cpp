// step_world [dt] [n] [binary] [--until-steady EPS] [--frames DIR] [--animate FILE] [--every N] …: reads a
// heat world from stdin, advances it by n steps of dt seconds on the best device or on several, and writes it
// to stdout.

#include <fmt/format.h>

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
#include "plan_search.hpp"
#include "plan_store.hpp"
#include "run.hpp"
#include "stage.hpp"
#include "terminal/progress.hpp"

namespace {

/// The options for the pictures of a run.
struct picture_options {
    std::string folder;     ///< one file per picture
    std::string animation;  ///< all pictures in one file
    unsigned frames_per_second = 20;
    heat::paint_options paint;
};

/// The pictures of a run: in a folder, named by the number of steps, and in an animation.
class film {
public:
    film(const heat::world& world, float dt, picture_options options)
        : painted_(world), dt_(dt), options_(std::move(options)) {
        if (!options_.folder.empty()) {
            std::error_code fault;
            std::filesystem::create_directories(options_.folder, fault);
            if (fault)
                throw std::runtime_error(
                    fmt::format("the folder \"{}\" cannot be created: {}", options_.folder, fault.message()));
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

/// Searches for the device's fastest plan, stores it, and reports it on stderr.
heat::plan tuned_plan(const balm::device& on, double seconds, bool verbose) {
    const balm::device_info& device = on.info();
    balm::context context({on});
    const std::vector<heat::plan> candidates = heat::candidate_plans(device);
    heat::plan_search found;
    {
        balm::terminal::progress bar("tuning", candidates.size(), {.each = {}, .stays = false});
        found = heat::search_plans(candidates, heat::measure_on(context),
                                   {seconds, [&](std::size_t done, std::size_t) { bar.show(done); }});
    }
    if (verbose)
        for (const heat::plan_trial& each : found.trials)
            std::cerr << fmt::format(
                "  {}: {}\n", heat::describe(each.plan),
                each.fault.empty() ? balm::terminal::rate_text(each.cells_per_second, "cell") : each.fault);
    const double rate = found.fastest.cells_per_second;
    std::cerr << fmt::format("Fastest of {} plans of {}: {}, {}\n", found.trials.size(), candidates.size(),
                             heat::describe(found.fastest.plan), balm::terminal::rate_text(rate, "cell"));
    try {
        const auto folder = heat::plan_folder();
        if (!folder) throw std::runtime_error("BALM_CACHE is 0, or there is no home directory");
        std::cerr << fmt::format("Saved in \"{}\"\n",
                                 heat::store_plan(*folder, device, found.fastest.plan, rate).string());
    } catch (const std::runtime_error& fault) {
        std::cerr << fmt::format("Not saved for later runs: {}\n", fault.what());
    }
    return found.fastest.plan;
}

/// The options for the devices and the plan of a run.
struct device_options {
    std::optional<unsigned> devices;  ///< 0: all
    std::optional<std::uint64_t> memory;
    bool tune = false;
    float seconds = 0;
    bool verbose = false;
};

/// The best device, or several of its type, as the environment allows.
balm::context chosen_devices(const device_options& options) {
    balm::context best;
    if (!options.devices) return best;
    const auto is_alike = [type = best.device(0).info().type](const balm::device_info& each) {
        return each.type == type;
    };
    balm::context all(balm::filter::env && is_alike);
    if (*options.devices == 0) return all;
    if (*options.devices > all.size())
        throw std::runtime_error(fmt::format(
            "--devices is {}, but there {} of type {} (balm devices lists them)", *options.devices,
            all.size() == 1 ? "is 1 device" : fmt::format("are {} devices", all.size()),
            balm::to_string(best.device(0).info().type)));
    return balm::context(balm::filter::env && is_alike && balm::filter::count(*options.devices));
}

/// The plan for the first device.
heat::plan plan_of(const balm::context& context, const device_options& options) {
    if (options.verbose)
        for (const balm::device& each : context.devices())
            std::cerr << fmt::format("Device: {} ({})\n", each.name(), balm::to_string(each.info().api));
    const balm::device& first = context.device(0);
    if (options.tune) return tuned_plan(first, static_cast<double>(options.seconds), options.verbose);
    const balm::device_info& device = first.info();
    const heat::chosen_plan chosen = heat::choose_plan(heat::plan_folder(), device);
    if (!chosen.warning.empty()) std::cerr << fmt::format("step_world: {}\n", chosen.warning);
    if (options.verbose)
        std::cerr << fmt::format("Plan: {}, from {}\n", heat::describe(chosen.plan), chosen.origin);
    return chosen.plan;
}

heat::run_result advance(heat::world& world, float dt, heat::run_options options, const device_options& how) {
    const balm::context context = chosen_devices(how);
    const heat::plan plan = plan_of(context, how);
    heat::stepper stepper(world, dt, context, {plan, how.memory});
    if (how.verbose) std::cerr << fmt::format("World: {}\n", heat::describe(stepper.division()));
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
    const auto app =
        heat::command_line("Advances the heat world on stdin and writes it to stdout.", "step_world");
    heat::add_number(*app, "--until-steady", until_steady,
                     "stop before n steps once a step changes no temperature by more than this");
    heat::add_text(*app, "--frames", pictures.folder, "folder for pictures of the world as it changes");
    heat::add_text(*app, "--animate", pictures.animation,
                   "the same pictures in an animated PNG, a .png or .apng file");
    heat::add_number(*app, "--every", every, 1, 0xFFFFFFFF, "steps from one picture to the next");
    heat::add_number(*app, "--frames-per-second", pictures.frames_per_second, 1, 1000, "of the animation");
    heat::add_paint_arguments(*app, pictures.paint);
    device_options how;
    heat::add_number_or_all(
        *app, "--devices", how.devices,
        "split the world by rows over this many devices of the best device's type, or all");
    heat::add_bytes(
        *app, "--memory", how.memory,
        "device memory that the world may use on each device; a larger world is streamed in bands");
    heat::add_number(
        *app, "--tune", how.seconds,
        "search for the device's fastest plan for this many seconds, and save it for later runs");
    heat::add_flag(*app, "--verbose", how.verbose,
                   "report on stderr the device and plan used, and what a search finds");
    return heat::run_stage(*app, argc, argv, [&](heat::world& world, float dt, unsigned n) {
        heat::run_options options;
        options.steps = n;
        options.frame_every = every;
        how.tune = heat::is_given(*app, "--tune");
        if (heat::is_given(*app, "--until-steady")) options.until_steady = until_steady;
        std::optional<film> film;
        if (heat::is_given(*app, "--frames") || heat::is_given(*app, "--animate")) {
            film.emplace(world, dt, pictures);
            options.frame = [&](unsigned done, const std::vector<float>& state) { film->add(done, state); };
        }
        if (n > 0 || how.tune) {
            report(advance(world, dt, options, how), options);
        } else if (film) {  // needs no device
            film->add(0, world.state);
        }
        if (film) film->complete();
    });
}

// The heat step on a slalom world of 5000 x 5000 cells, 1000 steps: on GPUs against the best CUDA kernel with
// one cell per thread, on CPUs against an OpenMP loop. Also the serial reference, for the record, and other
// plans for tuning (--benchmark_filter=plan).

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conductance.hpp"
#include "generate.hpp"
#include "peer_cuda.hpp"
#include "peer_heat.hpp"
#include "reference.hpp"
#include "step.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr unsigned size = 5000, steps = 1000;
constexpr float dt = 0.1f, alpha = 0.1f;
constexpr int gpu_steps = 1000, gpu_samples = 5;
constexpr unsigned cpu_steps = 40;  // a multiple of every plan's, so that the kernel under test does them all
constexpr int cpu_pairs = 9;
/// The two round differently over a thousand steps.
constexpr double tolerance = 2e-4;

const heat::world& slalom() {
    static const heat::world made = heat::make_slalom(size, size, alpha);
    return made;
}

/// The world in the peers' layout.
struct bordered_world {
    bordered_world()
        : factors(heat::make_conductance(alpha, dt)), codes(cells, heat::hold_code), state(cells) {
        const std::vector<std::uint8_t> inner = heat::cell_codes(slalom());
        for (std::size_t y = 0, i = 0; y < size; ++y)
            for (std::size_t x = 0; x < size; ++x, ++i) {
                codes[place(x, y)] = inner[i];
                if (slalom().properties[i] != heat::insulator) state[place(x, y)] = slalom().state[i];
            }
    }
    peer::heat_world view() const {
        return {size, size, codes.data(), factors.keep.data(), factors.take.data(), state.data()};
    }
    static std::size_t place(std::size_t x, std::size_t y) { return (y + 1) * (size + 2) + x + 1; }

    static constexpr std::size_t cells = std::size_t{size + 2} * (size + 2);
    heat::conductance factors;
    std::vector<std::uint8_t> codes;
    std::vector<float> state;
};

bool agree(const std::vector<float>& ours, const float* theirs) {
    for (std::size_t y = 0, i = 0; y < size; ++y)
        for (std::size_t x = 0; x < size; ++x, ++i)
            if (slalom().properties[i] != heat::insulator &&
                !(std::abs(ours[i] - theirs[bordered_world::place(x, y)]) <= tolerance))
                return false;
    return true;
}

void count_cells(benchmark::State& state, double seconds_a_step) {
    state.counters["cells_per_second"] = double{size} * size / seconds_a_step;
}

/// `made` has the times of one step.
void report(benchmark::State& state, const comparison& made) {
    report(state, comparison{made.balm * steps, made.peer * steps, made.ratio}, 1);
    count_cells(state, made.balm);
}
void report(benchmark::State& state, double seconds_a_step) {
    state.SetIterationTime(seconds_a_step * steps);
    count_cells(state, seconds_a_step);
}

void on_cpu(benchmark::State& state, const balm::device& on) {
    balm::context context({on});
    heat::stepper ours(slalom(), dt, context);
    ours.prepare();
    const std::unique_ptr<peer::openmp::heat, decltype(&peer::openmp::heat_release)> theirs(
        peer::openmp::heat_make(bordered_world().view()), peer::openmp::heat_release);
    ours.advance(cpu_steps);
    ours.finish();
    peer::openmp::heat_advance(theirs.get(), cpu_steps);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        comparison made = compare_in_pairs(
            [&] {
                ours.advance(cpu_steps);
                ours.finish();
            },
            [&] { peer::openmp::heat_advance(theirs.get(), cpu_steps); }, cpu_pairs);
        made.balm /= cpu_steps;
        made.peer /= cpu_steps;
        report(state, made);
    }
    if (!agree(ours.state(), peer::openmp::heat_state(theirs.get())))
        state.SkipWithError("the result is wrong");
}

const peer::cuda_heat_functions* cuda_heat_on(const char* pci_address, const char*& why) {
    if (peer::cuda_on(pci_address, why) == nullptr) return nullptr;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libpeer_cuda.so";
    void* const module = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto get =
        reinterpret_cast<const peer::cuda_heat_functions* (*)()>(dlsym(module, "peer_cuda_heat_functions"));
    if (get == nullptr) why = "libpeer_cuda.so has no heat step";
    return get != nullptr ? get() : nullptr;
}

void on_gpu(benchmark::State& state, const balm::device& on) {
    const char* why = "";
    const peer::cuda_heat_functions* const cuda = cuda_heat_on(on.info().pci_address.c_str(), why);
    if (cuda == nullptr) return state.SkipWithError(why);
    balm::context context({on});
    heat::stepper ours(slalom(), dt, context);
    ours.prepare();
    const std::unique_ptr<void, void (*)(void*)> theirs(cuda->make(bordered_world().view()), cuda->release);
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state, compare_samples(
                          [&](int count) {
                              ours.advance(static_cast<unsigned>(count));
                              ours.finish();
                          },
                          [&](int count) {
                              cuda->advance(theirs.get(), static_cast<unsigned>(count));
                              cuda->finish(theirs.get());
                          },
                          gpu_steps, gpu_samples));
    }
    std::vector<float> result(bordered_world::cells);
    cuda->read(theirs.get(), result.data());
    if (!agree(ours.state(), result.data())) state.SkipWithError("the result is wrong");
}

// ---- the same program on a divided world and on an undivided one

/// The approximate size of a world on a device, in bytes.
std::uint64_t bytes_of(const heat::world& world) { return std::uint64_t{9} * world.size(); }

void compare_steppers(benchmark::State& state, std::size_t cells, heat::stepper& divided,
                      heat::stepper& whole, unsigned how_many, int samples, double least) {
    for (heat::stepper* each : {&divided, &whole}) {
        each->prepare();
        each->advance(how_many);
        each->finish();
    }
    if (divided.state() != whole.state()) return state.SkipWithError("the results differ");
    const auto run = [&](heat::stepper& of) {
        of.advance(how_many);
        of.finish();
    };
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const comparison made = compare_in_pairs([&] { run(divided); }, [&] { run(whole); }, samples);
        balm::bench::report(state, made, least);
        state.counters["cells_per_second"] = static_cast<double>(cells) * how_many / made.balm;
    }
}

/// A band stays on the device for 264 steps if a quarter of a large world has enough rows. Transfers, 9 bytes
/// per cell, overlap with the steps; halo rows are computed twice.
constexpr double bands_bar = 0.7;

void bands(benchmark::State& state, const balm::device& on) {
    const unsigned side = is_cpu(on) ? size : 20'000;
    const heat::world world = heat::make_slalom(side, side, alpha);
    const balm::context context({on});
    heat::stepper whole(world, dt, context),
        banded(world, dt, context, heat::step_options{{}, bytes_of(world) / 4});
    compare_steppers(state, world.size(), banded, whole, banded.division().stay, is_cpu(on) ? 5 : 9,
                     bands_bar);
}

constexpr double two_devices_bar = 1.85;

void two_devices(benchmark::State& state, const balm::device& one, const balm::device& other) {
    constexpr unsigned side = 40'000;
    const heat::world world = heat::make_slalom(side, side, alpha);
    heat::stepper whole(world, dt, balm::context({one})), halves(world, dt, balm::context({one, other}));
    compare_steppers(state, world.size(), halves, whole, 240, 5, two_devices_bar);
}

// ---- tuning: the median of a few runs, without a peer

struct candidate {
    const char* name;
    heat::plan plan;
    bool on_cpu;
};

const candidate candidates[] = {
    {"one cell", heat::single_plan(balm::device_type::gpu), false},
    {"tile 128x128 of 4x16, 8 steps", {heat::method::tile, 8, 128, 128, 4, 16}, false},
    {"tile 128x128 of 4x16, 16 steps", {heat::method::tile, 16, 128, 128, 4, 16}, false},
    {"tile 128x64 of 4x16, 8 steps", {heat::method::tile, 8, 128, 64, 4, 16}, false},
    {"sweep of 4x4, 8 steps", {heat::method::sweep, 8, 128, 4 + 16, 4, 4, 8}, false},
    {"sweep of 4x2, 8 steps, 12 at once", {heat::method::sweep, 8, 128, 2 + 16, 4, 2, 12}, false},
    {"sweep of 4x4, 12 steps", {heat::method::sweep, 12, 128, 4 + 24, 4, 4, 8}, false},
    {"sweep of 4x3, 12 steps", {heat::method::sweep, 12, 128, 3 + 24, 4, 3, 8}, false},
    {"sweep of 4x2, 16 steps", {heat::method::sweep, 16, 128, 2 + 32, 4, 2, 8}, false},
    {"one cell", heat::single_plan(balm::device_type::cpu), true},
    {"stream 128x256, 16 steps", {heat::method::stream, 16, 128 + 32, 256 + 32}, true},
    {"stream 256x256, 16 steps", {heat::method::stream, 16, 256 + 32, 256 + 32}, true},
    {"stream 512x256, 16 steps", {heat::method::stream, 16, 512 + 32, 256 + 32}, true},
    {"stream 256x256, 32 steps", {heat::method::stream, 32, 256 + 64, 256 + 64}, true},
};

void try_plan(benchmark::State& state, const balm::device& on, const candidate& tried) {
    balm::context context({on});
    const unsigned count = is_cpu(on) ? cpu_steps : 240;
    heat::stepper stepper(slalom(), dt, context, tried.plan);
    const auto run = [&] {
        stepper.advance(count);
        stepper.finish();
    };
    try {
        run();
    } catch (const balm::usage_error& beyond_the_device) {
        return state.SkipWithError(beyond_the_device.what());
    }
    for (auto iteration : state) {
        static_cast<void>(iteration);
        std::vector<double> times;
        for (int k = 0; k < 5; ++k) times.push_back(seconds(run));
        report(state, median(times) / count);
    }
}

void serial(benchmark::State& state) {
    heat::world world = slalom();
    for (auto iteration : state) {
        static_cast<void>(iteration);
        report(state, seconds([&] { heat::step_serial(world, dt, 2); }) / 2);
    }
}

void register_all() {
    on_every_device("heat step, 5000 x 5000 slalom, 1000 steps",
                    [](benchmark::State& state, const balm::device& on) {
                        is_cpu(on) ? on_cpu(state, on) : on_gpu(state, on);
                    });
    benchmark::RegisterBenchmark("heat step, 5000 x 5000 slalom, 1000 steps/serial reference", serial)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    on_every_device("heat step, a world in bands (streamed), against one that stays", bands);
    std::map<std::string, std::vector<balm::device>> gpus;
    for (const balm::device& each : all_devices())
        if (each.info().type == balm::device_type::gpu) gpus[label(each)].push_back(each);
    for (const auto& [kind, alike] : gpus) {
        if (alike.size() < 2) continue;
        const std::string words = "2 x " + kind;
        benchmark::RegisterBenchmark(("heat step, 40,000 x 40,000 slalom, two against one/" + words).c_str(),
                                     [words, pair = alike](benchmark::State& state) {
                                         state.SetLabel(words);
                                         two_devices(state, pair[0], pair[1]);
                                     })
            ->Iterations(1)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
    }
    for (const candidate& each : candidates)
        for (const balm::device& device : all_devices())
            if (each.on_cpu == is_cpu(device) && heat::runs_on(device.info(), each.plan)) {
                const std::string name = fmt::format("heat plan: {}/{}", each.name, label(device));
                benchmark::RegisterBenchmark(
                    name.c_str(), [&each, device](benchmark::State& state) { try_plan(state, device, each); })
                    ->Iterations(1)
                    ->UseManualTime()
                    ->Unit(benchmark::kMillisecond);
            }
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }

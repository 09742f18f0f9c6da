// The step on devices: every plan on every device, held to the golden results and to the serial reference.

#include "step.hpp"

#include <balm/balm.hpp>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "conductance.hpp"
#include "generate.hpp"
#include "golden.hpp"
#include "plans.hpp"
#include "reference.hpp"
#include "streamed.hpp"

namespace {

using heat_test::golden;
using heat_test::parse;

std::vector<float> stepped(const heat::world& world, float dt, unsigned n, balm::context& context,
                           const heat::plan& plan) {
    heat::stepper stepper(world, dt, context, plan);
    stepper.advance(n);
    return stepper.state();
}

void in_every_context_and_plan(const std::function<void(balm::context&, const heat::plan&)>& body) {
    heat_test::on_every_device_and_plan([&](const balm::device& device, const heat::plan& plan) {
        balm::context context({device});
        body(context, plan);
    });
}

/// The golden runs of fewer than this many steps, and the others.
constexpr unsigned many_steps = 5000;

void reach_the_golden_results(const std::function<bool(unsigned)>& is_tested) {
    for (const heat_test::golden_run& run : heat_test::golden_runs) {
        if (!is_tested(run.n)) continue;
        const heat::world world = parse(golden(run.input)), expected = parse(golden(run.result));
        in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
            EXPECT_LE(heat::max_difference(stepped(world, run.dt, run.n, context, plan), expected.state),
                      2e-5)
                << run.result;
        });
    }
}

TEST(H1_step, reaches_the_golden_results) {
    reach_the_golden_results([](unsigned n) { return n < many_steps; });
}

TEST(H1_many_steps, reach_the_golden_results) {
    reach_the_golden_results([](unsigned n) { return n >= many_steps; });
}

std::size_t kernels_made_while(const std::function<void()>& body) {
    ::setenv("BALM_SHOW_KERNELS", "1", 1);
    testing::internal::CaptureStderr();
    body();
    ::unsetenv("BALM_SHOW_KERNELS");
    const std::string shown = testing::internal::GetCapturedStderr();
    const std::string mark = "// Balm: kernel 'heat_";
    std::size_t count = 0;
    for (std::size_t at = shown.find(mark); at != std::string::npos; at = shown.find(mark, at + 1)) ++count;
    return count;
}

TEST(H4_prepared_steps, make_no_kernel) {
    const heat::world world = heat::make_slalom(60, 200, 0.1f);
    // Shapes that no other test has: nothing is made yet.
    const heat::plan shapes[] = {{heat::method::stream, 16, 32 + 32, 16 + 32},
                                 {heat::method::tile, 4, 64, 16, 4, 8}};
    const balm::context all(balm::filter::any);
    for (const balm::device& device : all.devices())
        for (const heat::plan& plan : shapes) {
            if (!heat::runs_on(device.info(), plan)) continue;
            SCOPED_TRACE(device.name() + ", " + heat::describe(plan));
            heat::plan own = plan;
            // Resident on one device and on two, and in bands.
            for (const std::size_t devices : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
                // The next division, too, has kernels of its own.
                if (plan.method == heat::method::stream)
                    own.tile_width += 16;
                else
                    own.tile_height += 16;
                if (!heat::runs_on(device.info(), own)) continue;
                const balm::context context(
                    std::vector<balm::device>(std::max<std::size_t>(devices, 1), device));
                heat::step_options options{own, {}};
                if (devices == 0) options.memory = heat::least_memory_for_bands(world.width, own);
                heat::stepper stepper(world, 0.3f, context, options);
                EXPECT_EQ(stepper.division().bands > 1, devices == 0);
                const unsigned advances[] = {0, 5, 1, 16, 33, 40};
                EXPECT_GT(kernels_made_while([&] { stepper.prepare(advances); }), 0u);
                EXPECT_EQ(kernels_made_while([&] {
                              for (const unsigned steps : advances) stepper.advance(steps);
                              stepper.finish();
                          }),
                          0u);
                heat::world serial = world;
                heat::step_serial(serial, 0.3f, 95);
                EXPECT_LE(heat::max_difference(stepper.state(), serial.state), 2e-5);
            }
        }
}

TEST(H4_prepared_steps, are_whole_launches_and_what_is_left) {
    const heat::plan plan{heat::method::stream, 16, 64, 64};
    const auto sizes = [&](const std::vector<unsigned>& advances) {
        const std::set<unsigned> made = heat::launch_steps(plan, advances);
        return std::vector<unsigned>(made.begin(), made.end());
    };
    EXPECT_EQ(sizes({}), std::vector<unsigned>{16});
    EXPECT_EQ(sizes({32, 16}), std::vector<unsigned>{16});
    EXPECT_EQ(sizes({3, 19, 0}), (std::vector<unsigned>{3, 16}));
    EXPECT_EQ(sizes({3, 7}), (std::vector<unsigned>{3, 7}));
}

TEST(H1_step, agrees_with_the_serial_steps_in_random_worlds) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    heat::random_options open;
    open.closed_border = false;
    const std::pair<unsigned, unsigned> shapes[] = {{1, 1},  {1, 70},   {70, 1},   {2, 2},
                                                    {3, 40}, {113, 97}, {300, 50}, {97, 260}};
    for (const auto& shape : shapes) {
        const auto width = shape.first, height = shape.second;
        const heat::world start = heat::make_random(width, height, 0.2f, seed + width, open);
        for (unsigned n : {1u, 2u, 3u, 7u, 8u, 29u}) {
            heat::world serial = start;
            heat::step_serial(serial, 0.3f, n);
            in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
                EXPECT_LE(heat::max_difference(stepped(start, 0.3f, n, context, plan), serial.state), 5e-6)
                    << width << " x " << height << ", " << n << " steps";
            });
        }
    }
}

TEST(H1_step, a_large_plain_world_agrees_too) {
    const heat::world start = heat::make_slalom(700, 430, 0.1f);
    heat::world serial = start;
    heat::step_serial(serial, 0.1f, 41);
    in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
        EXPECT_LE(heat::max_difference(stepped(start, 0.1f, 41, context, plan), serial.state), 5e-6);
    });
}

TEST(H1_step, a_time_step_too_large_still_gives_the_serial_world) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world start = heat::make_random(30, 20, 1, seed);
    for (float dt : {4.5f, 40.0f}) {
        heat::world serial = start;
        heat::step_serial(serial, dt, 2);
        in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
            heat::world result = start;
            result.state = stepped(start, dt, 2, context, plan);
            EXPECT_NO_THROW(heat::check(result)) << dt;
            EXPECT_LE(heat::max_difference(result.state, serial.state), 1e-4) << dt;
        });
    }
}

TEST(H1_step, advances_in_parts_and_keeps_what_is_not_normal) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world start = heat::make_random(50, 40, 0.1f, seed);
    in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
        heat::stepper stepper(start, 0.1f, context, plan);
        EXPECT_EQ(stepper.state(), start.state);
        for (unsigned part : {1u, 9u, 0u, 6u}) stepper.advance(part);
        stepper.finish();
        const std::vector<float> state = stepper.state();
        EXPECT_LE(heat::max_difference(state, stepped(start, 0.1f, 16, context, plan)), 1e-6);
        for (std::size_t i = 0; i < start.size(); ++i)
            EXPECT_TRUE(start.properties[i] == heat::normal || state[i] == start.state[i]) << "cell " << i;
    });
}

TEST(H1_step, a_step_is_compared_with_the_one_before) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world start = heat::make_random(50, 40, 0.1f, seed);
    in_every_context_and_plan([&](balm::context& context, const heat::plan& plan) {
        heat::stepper stepper(start, 0.1f, context, plan);
        for (unsigned before : {0u, 8u, 3u}) {
            stepper.advance(before);
            const std::vector<float> old = stepper.state();
            const float change = stepper.advance_and_compare();
            EXPECT_NEAR(double{change}, heat::max_difference(stepper.state(), old), 1e-7);
            EXPECT_GT(change, 0.0f);
        }
    });
}

TEST(H5_step, refuses_what_cannot_be_stepped) {
    balm::context context;
    heat::world world = heat::make_slalom(10, 10, 10);
    EXPECT_THROW(heat::step(world, -0.1f, 1, context), std::invalid_argument);
    EXPECT_THROW(heat::step(world, 3e38f, 1, context), std::invalid_argument);
    world.state.pop_back();
    EXPECT_THROW(heat::step(world, 0.1f, 1, context), std::invalid_argument);
}

TEST(H1_conductance, codes_count_the_neighbours_that_conduct) {
    const heat::world world = parse(golden("random_37x21.in.txt"));
    const std::vector<std::uint8_t> codes = heat::cell_codes(world);
    const auto conducts = [&](int x, int y) {
        return x >= 0 && y >= 0 && x < 37 && y < 21 &&
               world.properties[static_cast<std::size_t>(y * 37 + x)] != heat::insulator;
    };
    for (int y = 0, i = 0; y < 21; ++y)
        for (int x = 0; x < 37; ++x, ++i) {
            const int open =
                conducts(x - 1, y) + conducts(x + 1, y) + conducts(x, y - 1) + conducts(x, y + 1);
            const bool normal = world.properties[static_cast<std::size_t>(i)] == heat::normal;
            EXPECT_EQ(codes[static_cast<std::size_t>(i)], normal ? open : heat::hold_code) << x << ", " << y;
        }
}

}  // namespace

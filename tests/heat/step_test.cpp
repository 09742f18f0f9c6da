// The step on devices: every plan on every device, held to the golden results and to the serial reference.

#include "step.hpp"

#include <balm/balm.hpp>
#include <functional>

#include "conductance.hpp"
#include "generate.hpp"
#include "golden.hpp"
#include "plans.hpp"
#include "reference.hpp"

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

// The serial step, held to the golden results and to what the heat equation promises.

#include "reference.hpp"

#include <limits>

#include "generate.hpp"
#include "golden.hpp"

namespace {

using heat_test::golden;
using heat_test::parse;

TEST(H1_reference, steps_the_golden_inputs_to_the_golden_results) {
    for (const heat_test::golden_run& run : heat_test::golden_runs) {
        heat::world world = parse(golden(run.input));
        const heat::world expected = parse(golden(run.result));
        heat::step_serial(world, run.dt, run.n);
        EXPECT_EQ(world.properties, expected.properties) << run.result;
        EXPECT_LE(heat::max_difference(world.state, expected.state), 2e-6) << run.result;
    }
}

// The golden results are those of single precision, which drifts: by 1.4e-5 in 333 steps of the random world,
// by 4.6e-5 in 10000 steps of the slalom.
TEST(H1_reference, double_precision_agrees_with_the_golden_results) {
    for (const heat_test::golden_run& run : heat_test::golden_runs) {
        const std::vector<double> state = heat::step_serial_double(parse(golden(run.input)), run.dt, run.n);
        EXPECT_LE(heat::max_difference(parse(golden(run.result)).state, state), 5e-5) << run.result;
    }
}

TEST(H1_reference, zero_steps_change_nothing) {
    const heat::world world = heat::make_random(9, 5, 0.1f, 3);
    heat::world stepped = world;
    heat::step_serial(stepped, 0.1f, 0);
    EXPECT_EQ(stepped.state, world.state);
}

TEST(H1_reference, only_normal_cells_change) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world world = heat::make_random(50, 40, 0.1f, seed);
    heat::world stepped = world;
    heat::step_serial(stepped, 0.1f, 7);
    EXPECT_EQ(stepped.properties, world.properties);
    for (std::size_t i = 0; i < world.size(); ++i)
        EXPECT_TRUE(world.properties[i] == heat::normal || stepped.state[i] == world.state[i])
            << "cell " << i;
}

TEST(H5_reference, outside_the_world_counts_as_insulator) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    heat::random_options open;
    open.closed_border = false;
    const std::pair<unsigned, unsigned> shapes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {13, 4}, {5, 31}};
    for (const auto& [width, height] : shapes) {
        heat::world bare = heat::make_random(width, height, 0.3f, seed, open);
        heat::world framed = heat::make_random(width + 2, height + 2, 0.3f, seed + 1);
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < width; ++x) {
                framed.properties[(y + 1) * framed.width + x + 1] = bare.properties[y * width + x];
                framed.state[(y + 1) * framed.width + x + 1] = bare.state[y * width + x];
            }
        heat::step_serial(bare, 0.2f, 25);
        heat::step_serial(framed, 0.2f, 25);
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < width; ++x)
                EXPECT_EQ(bare.state[y * width + x], framed.state[(y + 1) * framed.width + x + 1])
                    << width << " x " << height << ", cell " << x << ", " << y;
    }
}

TEST(H1_reference, a_time_step_too_large_still_gives_a_valid_world) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    heat::random_options open;
    open.closed_border = false;
    for (float dt : {1.0f, 4.0f, 40.0f, 1e20f, 3e38f}) {
        heat::world world = heat::make_random(30, 20, 1, seed, open);
        heat::step_serial(world, dt, 5);
        EXPECT_NO_THROW(heat::check(world)) << dt;
    }
}

TEST(H5_reference, refuses_what_cannot_be_stepped) {
    heat::world world = heat::make_slalom(10, 10, 10);
    for (float dt :
         {-0.1f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38f})
        EXPECT_THROW(heat::step_serial(world, dt, 1), std::invalid_argument) << dt;
    world.state.pop_back();
    EXPECT_THROW(heat::step_serial(world, 0.1f, 1), std::invalid_argument);
}

}  // namespace

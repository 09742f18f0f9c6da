// Runs with stops: until a world is steady, with frames, with a bar.

#include "run.hpp"

#include <algorithm>
#include <balm/balm.hpp>
#include <cmath>

#include "generate.hpp"
#include "golden.hpp"
#include "reference.hpp"
#include "terminal/progress.hpp"

namespace {

// The largest change of a temperature in step n, counted from 1.
double change_of_step(const heat::world& start, float dt, unsigned n) {
    heat::world world = start;
    heat::step_serial(world, dt, n - 1);
    const std::vector<float> before = world.state;
    heat::step_serial(world, dt, 1);
    return heat::max_difference(world.state, before);
}

TEST(H4_run, stops_after_the_first_check_that_finds_no_change_above_the_bound) {
    const heat::world start = heat::make_slalom(12, 12, 0.5f);
    const float dt = 0.5f, epsilon = 3e-5f;
    unsigned expected = heat::steps_between_checks;
    while (change_of_step(start, dt, expected) > double{epsilon}) expected += heat::steps_between_checks;
    ASSERT_GT(expected, heat::steps_between_checks) << "the first check is no test";

    balm::context context;
    heat::stepper stepper(start, dt, context);
    heat::run_options options;
    options.steps = 1'000'000;
    options.until_steady = epsilon;
    const heat::run_result result = heat::run(stepper, options);
    EXPECT_TRUE(result.is_steady);
    EXPECT_EQ(result.steps, expected);
    EXPECT_NEAR(double{result.change}, change_of_step(start, dt, expected), 2e-6);
    heat::world serial = start;
    heat::step_serial(serial, dt, expected);
    EXPECT_LE(heat::max_difference(stepper.state(), serial.state), 2e-5);
}

TEST(H4_run, the_last_step_is_compared_where_the_world_never_is_steady) {
    const heat::world start = heat::make_slalom(12, 12, 0.5f);
    balm::context context;
    for (unsigned n : {1u, 7u, heat::steps_between_checks, heat::steps_between_checks + 1}) {
        heat::stepper stepper(start, 0.5f, context);
        heat::run_options options;
        options.steps = n;
        options.until_steady = 1e-12f;
        const heat::run_result result = heat::run(stepper, options);
        EXPECT_FALSE(result.is_steady);
        EXPECT_EQ(result.steps, n);
        EXPECT_NEAR(double{result.change}, change_of_step(start, 0.5f, n), 2e-6) << n;
    }
}

TEST(H4_run, frames_and_progress_come_between_the_steps) {
    const heat::world start = heat::make_slalom(12, 12, 0.5f);
    balm::context context;
    for (unsigned n : {0u, 1u, 20u, 23u}) {
        heat::stepper stepper(start, 0.5f, context);
        std::vector<unsigned> frames, progress;
        heat::run_options options;
        options.steps = n;
        options.frame_every = 10;
        options.frame = [&](unsigned done, const std::vector<float>& state) {
            frames.push_back(done);
            heat::world serial = start;
            heat::step_serial(serial, 0.5f, done);
            EXPECT_LE(heat::max_difference(state, serial.state), 5e-6) << done;
        };
        options.progress = [&](unsigned done) { progress.push_back(done); };
        EXPECT_EQ(heat::run(stepper, options).steps, n);
        std::vector<unsigned> expected;
        for (unsigned done = 0; done <= n; done += 10) expected.push_back(done);
        if (n % 10 != 0) expected.push_back(n);
        EXPECT_EQ(frames, expected);
        EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
        EXPECT_EQ(progress.empty() ? 0 : progress.back(), n);
    }
}

TEST(H4_progress, text_has_share_rate_and_time_left) {
    const std::string half(25, '#'), rest(25, ' ');
    EXPECT_EQ(balm::terminal::progress_text("stepping", 0, 100, {1e6, "cell"}, 0),
              "stepping          [" + std::string(50, ' ') + "]   0 %");
    EXPECT_EQ(balm::terminal::progress_text("stepping", 50, 100, {1e6, "cell"}, 2),
              "stepping          [" + half + rest + "]  50 %, 25 Mcell/s, 2 s left");
    EXPECT_EQ(balm::terminal::progress_text("stepping", 100, 100, {1e9, "cell"}, 40),
              "stepping          [" + half + half + "] 100 %, 2.5 Gcell/s, 40 s");
    EXPECT_EQ(balm::terminal::rate_text(1.419e12, "cell"), "1.42 Tcell/s");
    EXPECT_NE(balm::terminal::progress_text("stepping", 1, 1000, {10, "cell"}, 1)
                  .find("10 cell/s, 16 min 39 s left"),
              std::string::npos);
    EXPECT_NE(balm::terminal::progress_text("stepping", 1, 100000, {10000, "cell"}, 1)
                  .find("10 kcell/s, 27 h 46 min left"),
              std::string::npos);
    EXPECT_NE(balm::terminal::progress_text("stepping", 0, 0, {1, "cell"}, 0).find("100 %"),
              std::string::npos);
}

}  // namespace

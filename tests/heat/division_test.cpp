// Worlds that are divided: into parts on several devices, and into bands that pass through the devices. Held
// to the last bit to the world that stays on one device, which other tests hold to the serial reference.

#include <algorithm>
#include <balm/balm.hpp>
#include <set>
#include <vector>

#include "generate.hpp"
#include "golden.hpp"
#include "plans.hpp"
#include "reference.hpp"
#include "run.hpp"
#include "step.hpp"
#include "streamed.hpp"

namespace {

using heat_test::on_every_device_and_plan;

struct stepped {
    std::vector<float> state;
    float change;  // in the last step
    heat::division division;
};

// Some steps at once, some one by one, and one that is compared.
stepped advance(const heat::world& world, const balm::context& on, const heat::step_options& options) {
    heat::stepper stepper(world, 0.3f, on, options);
    stepper.prepare();
    for (const unsigned n : {17u, 1u, 2u, 0u}) stepper.advance(n);
    const float change = stepper.advance_and_compare(9);
    return {stepper.state(), change, stepper.division()};
}
constexpr unsigned steps = 17 + 1 + 2 + 9;

// Open and closed, wide and high, with fewer rows than some tiles, and with cells that are all plain.
std::vector<heat::world> worlds(std::uint64_t seed) {
    heat::random_options open;
    open.closed_border = false;
    return {heat::make_random(1, 1, 0.2f, seed, open),
            heat::make_random(70, 3, 0.2f, seed, open),
            heat::make_random(5, 61, 0.2f, seed, open),
            heat::make_random(130, 47, 0.2f, seed),
            heat::make_random(37, 40, 0.2f, seed, {0, 0, false}),
            heat::make_slalom(40, 250, 0.2f),
            heat::make_slalom(40, 291, 0.2f)};
}

balm::context several_times(const balm::device& device, std::size_t parts) {
    return balm::context(std::vector<balm::device>(parts, device));
}

void expect_same(const stepped& result, const stepped& expected) {
    EXPECT_EQ(result.state, expected.state);
    EXPECT_EQ(result.change, expected.change);
}

TEST(H9_parts, compute_what_one_device_computes) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    for (const heat::world& world : worlds(seed)) {
        SCOPED_TRACE(testing::Message() << world.width << " x " << world.height);
        std::set<std::size_t> parts;
        on_every_device_and_plan([&](const balm::device& device, const heat::plan& plan) {
            const stepped expected = advance(world, balm::context({device}), {plan, {}});
            EXPECT_EQ(expected.division.devices, 1u);
            for (const std::size_t devices : {2u, 3u, 4u}) {
                SCOPED_TRACE(devices);
                const stepped result = advance(world, several_times(device, devices), {plan, {}});
                expect_same(result, expected);
                EXPECT_EQ(result.division.bands, 1u);
                parts.insert(result.division.devices);
            }
        });
        if (world.height > 40) {
            EXPECT_EQ(parts.count(4), 1u) << "no plan has divided it among four";
        }
        if (world.height == 1) {
            EXPECT_EQ(parts, std::set<std::size_t>{1});
        }
    }
}

TEST(H9_parts, all_devices_of_the_machine_compute_what_one_does) {
    const balm::context all(balm::filter::any);
    const heat::world world = heat::make_random(90, 100, 0.2f, heat_test::fresh_seed());
    for (const heat_test::named_plan& each : heat_test::plans)
        if (each.plan.method == heat::method::stream || each.plan.tile_width * each.plan.tile_height <= 512)
            expect_same(advance(world, all, {each.plan, {}}),
                        advance(world, balm::context({all.device(0)}), {each.plan, {}}));
}

TEST(H10_bands, compute_what_a_world_that_stays_does) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::set<std::size_t> bands;
    for (const heat::world& world : worlds(seed)) {
        SCOPED_TRACE(testing::Message() << world.width << " x " << world.height);
        on_every_device_and_plan([&](const balm::device& device, const heat::plan& plan) {
            const stepped expected = advance(world, balm::context({device}), {plan, {}});
            const std::uint64_t least = heat::least_memory_for_bands(world.width, plan);
            for (const std::uint64_t memory : {least, least * 4}) {
                SCOPED_TRACE(memory);
                const stepped result = advance(world, balm::context({device}), {plan, memory});
                expect_same(result, expected);
                bands.insert(result.division.bands);
                device.finish();
            }
        });
    }
    const auto any_from_to = [&](std::size_t first, std::size_t last) {
        const auto found = bands.lower_bound(first);
        return found != bands.end() && *found <= last;
    };
    EXPECT_TRUE(any_from_to(2, 3)) << testing::PrintToString(bands);
    EXPECT_TRUE(any_from_to(4, 9)) << testing::PrintToString(bands);
    EXPECT_TRUE(any_from_to(10, 20)) << testing::PrintToString(bands);
}

TEST(H10_bands, pass_through_several_devices_by_turns) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world world = heat::make_random(60, 2500, 0.2f, seed);
    const heat::plan small{heat::method::stream, 16, 16 + 32, 4 + 32};
    const balm::context all(balm::filter::any);
    for (const balm::device& device : all.devices()) {
        SCOPED_TRACE(device.name());
        const stepped expected = advance(world, balm::context({device}), {small, {}});
        const std::uint64_t least = heat::least_memory_for_bands(world.width, small);
        for (const std::size_t devices : {2u, 3u}) {
            const stepped result = advance(world, several_times(device, devices), {small, least * 3 / 2});
            expect_same(result, expected);
            EXPECT_EQ(result.division.devices, devices);
            EXPECT_GT(result.division.bands, 4u);
        }
    }
}

TEST(H10_bands, take_no_more_memory_than_is_allowed) {
    const heat::world world = heat::make_slalom(900, 1000, 0.1f);
    const heat::plan plan = heat_test::stream;
    const balm::context context;
    const balm::device& device = context.device(0);
    for (const std::uint64_t memory : {std::uint64_t{3} << 20, std::uint64_t{6} << 20}) {
        device.finish();
        const std::size_t before = device.memory().in_use;
        device.reset_high_water();
        heat::stepper stepper(world, 0.1f, context, {plan, memory});
        stepper.advance(40);
        stepper.finish();
        EXPECT_GT(stepper.division().bands, 1u);
        EXPECT_LE(device.memory().high_water - before, memory / 8 * 9)
            << "the pool rounds sizes up by less than an eighth";
    }
}

TEST(H10_bands, are_long_stays_where_there_is_room_and_none_where_no_row_fits) {
    const heat::plan plan = heat_test::tile;
    constexpr std::uint64_t gib = std::uint64_t{1} << 30, any = ~std::uint64_t{0};
    const auto wide = heat::shape_of_bands(200'000, 200'000, plan, 70 * gib, any);
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->halo, 264u);
    EXPECT_GE(wide->rows, 6 * wide->halo);
    EXPECT_GE(wide->rows * wide->count, 200'000u);
    EXPECT_LT(wide->rows * (wide->count - 1), 200'000u);
    const auto narrow = heat::shape_of_bands(200'000, 200'000, plan, 70 * gib, gib);
    ASSERT_TRUE(narrow);
    EXPECT_LT(narrow->rows + 2 * narrow->halo, gib / 4 / 200'000) << "no buffer has more than 1 GiB";
    const std::uint64_t least = heat::least_memory_for_bands(1000, plan);
    EXPECT_TRUE(heat::shape_of_bands(1000, 10, plan, least, any));
    EXPECT_FALSE(heat::shape_of_bands(1000, 10, plan, least - 1, any));
}

TEST(H10_bands, a_limit_that_no_band_meets_is_refused) {
    const heat::world world = heat::make_slalom(50, 50, 0.1f);
    try {
        heat::stepper stepper(world, 0.1f, balm::context(), heat::step_options{{}, 1000});
        FAIL() << "1000 bytes were enough";
    } catch (const std::invalid_argument& fault) {
        EXPECT_NE(std::string(fault.what()).find("1000 bytes of device memory are not enough"),
                  std::string::npos)
            << fault.what();
    }
}

TEST(H10_bands, runs_stop_at_the_same_steps_with_the_same_frames) {
    const heat::world world = heat::make_slalom(12, 240, 0.5f);
    const heat::plan small{heat::method::stream, 16, 16 + 32, 4 + 32};
    const balm::context one, thrice = several_times(one.device(0), 3);
    heat::run_options options;
    options.steps = 2000;
    options.until_steady = 3e-4f;
    options.frame_every = 300;
    const auto run = [&](const balm::context& on, const heat::step_options& how, bool shows_progress) {
        std::vector<std::vector<float>> frames;
        options.frame = [&](unsigned, const std::vector<float>& state) { frames.push_back(state); };
        options.progress = shows_progress ? [](unsigned) {} : std::function<void(unsigned)>();
        heat::stepper stepper(world, 0.5f, on, how);
        const heat::run_result result = heat::run(stepper, options);
        return std::tuple(result.steps, result.is_steady, result.change, frames);
    };
    const auto expected = run(one, {small, {}}, false);
    EXPECT_TRUE(std::get<1>(expected));
    EXPECT_EQ(run(thrice, {small, {}}, false), expected);
    EXPECT_EQ(run(one, {small, heat::least_memory_for_bands(12, small) * 2}, false), expected);
    // With progress the steps fall into other launches, and rounding differs.
    const auto shown = run(one, {small, heat::least_memory_for_bands(12, small) * 2}, true);
    EXPECT_EQ(std::get<0>(shown), std::get<0>(expected));
    EXPECT_LE(heat::max_difference(std::get<3>(shown).back(), std::get<3>(expected).back()), 1e-5);
}

TEST(H10_bands, agree_with_the_serial_steps) {
    const heat::world world = heat::make_random(33, 120, 0.2f, heat_test::fresh_seed());
    heat::world serial = world;
    heat::step_serial(serial, 0.3f, steps);
    on_every_device_and_plan([&](const balm::device& device, const heat::plan& plan) {
        const std::uint64_t memory = heat::least_memory_for_bands(world.width, plan) * 5 / 4;
        EXPECT_LE(
            heat::max_difference(advance(world, balm::context({device}), {plan, memory}).state, serial.state),
            5e-6);
    });
}

}  // namespace

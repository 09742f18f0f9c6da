// The two formats and the world generators: what the golden files say, byte for byte.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <streambuf>

#include "generate.hpp"
#include "golden.hpp"

namespace {

using heat_test::golden;
using heat_test::parse;
using heat_test::print;

// Not so the two random inputs: their temperatures have more digits than a float holds.
TEST(H1_world_format, writes_golden_text_again_byte_for_byte) {
    for (const char* name :
         {"slalom_10.in.txt", "slalom_16.in.txt", "slalom_33.in.txt", "slalom_10.dt0.1.n1.txt",
          "slalom_10.dt0.1.n100.txt", "slalom_10.dt0.1.n10000.txt", "slalom_33.dt0.1.n1000.txt",
          "random_37x21.dt0.1.n50.txt", "random_64x64.dt0.05.n333.txt"})
        EXPECT_EQ(print(parse(golden(name)), heat::format::text), golden(name)) << name;
}

TEST(H1_world_format, writes_golden_binary_again_byte_for_byte) {
    for (const char* name : {"slalom_10.in.bin", "slalom_10.dt0.1.n100.bin"})
        EXPECT_EQ(print(parse(golden(name)), heat::format::binary), golden(name)) << name;
}

TEST(H1_world_format, turns_golden_binary_into_golden_text) {
    for (const std::string name : {"slalom_10.in", "slalom_10.dt0.1.n100"})
        EXPECT_EQ(print(parse(golden(name + ".bin")), heat::format::text), golden(name + ".txt"));
}

TEST(H1_world_format, keeps_every_bit_in_binary_and_eight_decimals_in_text) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    const heat::world world = heat::make_random(301, 457, 0.123456789f, seed);
    const heat::world binary = parse(print(world, heat::format::binary));
    const heat::world text = parse(print(world, heat::format::text));
    for (const heat::world* read : {&binary, &text}) {
        EXPECT_EQ(read->width, world.width);
        EXPECT_EQ(read->height, world.height);
        EXPECT_EQ(read->alpha, world.alpha);
        EXPECT_EQ(read->properties, world.properties);
    }
    EXPECT_EQ(binary.state, world.state);
    for (std::size_t i = 0; i < world.size(); ++i)
        ASSERT_NEAR(text.state[i], world.state[i], 5.1e-9 + 6e-8 * world.state[i]) << "cell " << i;
}

TEST(H1_world_format, prints_temperatures_as_printf_does) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    heat::world world = heat::make_random(1, 20000, 1, seed);
    for (std::size_t i = 0; i < world.size(); i += 2) world.state[i] *= 1e-6f;
    world.state[0] = 0.00390625f;  // 2^-8: eight decimals exactly
    world.state[1] = 0x1p-9f;      // a tie: 0.001953125
    world.state[2] = 3 * 0x1p-9f;  // a tie the other way: 0.005859375
    std::istringstream text(print(world, heat::format::text));
    std::string line;
    while (std::getline(text, line) && line != "-") continue;
    while (std::getline(text, line) && line != "-") continue;
    for (float temperature : world.state) {
        char expected[32];
        std::snprintf(expected, sizeof expected, " %.8f", static_cast<double>(temperature));
        std::getline(text, line);
        ASSERT_EQ(line, expected);
    }
}

TEST(H1_world_format, takes_any_space_between_numbers_and_any_line_ends) {
    const heat::world world =
        parse("HPCEHeatWorldV0\r\n\t2  1\n0.25 -\r\n0\r\n 2 -\n\n1e-3 -0.0\r\nEnd\r\n \n");
    EXPECT_EQ(world.width, 2u);
    EXPECT_EQ(world.height, 1u);
    EXPECT_EQ(world.alpha, 0.25f);
    EXPECT_EQ(world.properties, (std::vector<std::uint32_t>{heat::normal, heat::insulator}));
    EXPECT_EQ(world.state, (std::vector<float>{1e-3f, 0.0f}));
    EXPECT_FALSE(std::signbit(world.state[1]));
}

TEST(H1_world_format, reads_numbers_too_small_for_a_float_as_zero) {
    EXPECT_EQ(parse("HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 1e-60\nEnd\n").state[0], 0.0f);
}

// Takes some bytes, then no more: a full disk.
class full_disk : public std::streambuf {
public:
    explicit full_disk(std::size_t room) : room_(room) {}

protected:
    int_type overflow(int_type byte) override { return room_-- > 0 ? byte : (room_ = 0, traits_type::eof()); }

private:
    std::size_t room_;
};

TEST(H1_world_format, says_so_when_not_every_byte_was_written) {
    const heat::world world = heat::make_slalom(12, 7, 0.1f);
    for (heat::format format : {heat::format::text, heat::format::binary}) {
        const std::size_t size = print(world, format).size();
        for (std::size_t room : {std::size_t{0}, std::size_t{1}, size / 2, size - 1}) {
            full_disk buffer(room);
            std::ostream stream(&buffer);
            EXPECT_THROW(heat::write_world(stream, world, format), std::runtime_error) << room;
        }
        full_disk buffer(size);
        std::ostream stream(&buffer);
        EXPECT_NO_THROW(heat::write_world(stream, world, format));
    }
}

TEST(H1_world_format, writes_nothing_of_a_world_that_could_not_be_read_back) {
    std::ostringstream stream;
    heat::world world = heat::make_slalom(4, 4, 0.1f);
    world.state[5] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(heat::write_world(stream, world, heat::format::text), std::invalid_argument);
    world = heat::make_slalom(4, 4, 0.1f);
    world.properties[5] = 3;
    EXPECT_THROW(heat::write_world(stream, world, heat::format::binary), std::invalid_argument);
    EXPECT_EQ(stream.str(), "");
}

TEST(H1_generate, makes_the_golden_slaloms) {
    for (unsigned n : {10u, 16u, 33u})
        EXPECT_EQ(print(heat::make_slalom(n, n, 0.1f), heat::format::text),
                  golden("slalom_" + std::to_string(n) + ".in.txt"));
}

TEST(H5_generate, makes_slaloms_of_any_shape) {
    for (unsigned width = 1; width < 14; ++width)
        for (unsigned height = 1; height < 14; ++height) {
            const heat::world world = heat::make_slalom(width, height, 0.1f);
            EXPECT_NO_THROW(heat::check(world)) << width << " x " << height;
            EXPECT_EQ(world.properties.back(), heat::insulator);
        }
    EXPECT_THROW(heat::make_slalom(0, 5, 0.1f), std::invalid_argument);
    EXPECT_THROW(heat::make_slalom(5, 0, 0.1f), std::invalid_argument);
    EXPECT_THROW(heat::make_slalom(5, 5, -0.1f), std::invalid_argument);
}

TEST(H1_generate, makes_the_same_random_world_again) {
    EXPECT_EQ(print(heat::make_random(40, 30, 0.1f, 7), heat::format::binary),
              print(heat::make_random(40, 30, 0.1f, 7), heat::format::binary));
    EXPECT_NE(print(heat::make_random(40, 30, 0.1f, 7), heat::format::binary),
              print(heat::make_random(40, 30, 0.1f, 8), heat::format::binary));
    heat::random_options open;
    open.closed_border = false;
    const heat::world world = heat::make_random(1000, 100, 0.1f, 7, open);
    const auto share = [&](std::uint32_t kind) {
        return static_cast<double>(std::count(world.properties.begin(), world.properties.end(), kind)) / 1e5;
    };
    EXPECT_NEAR(share(heat::insulator), 0.05, 0.005);
    EXPECT_NEAR(share(heat::fixed), 0.05, 0.005);
}

}  // namespace

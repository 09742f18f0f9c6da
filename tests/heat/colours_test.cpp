// Colour maps by the formulas of OKLab from sRGB back; legends, whose letters are drawn here again; scales.

#include "colours.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "font.hpp"
#include "generate.hpp"
#include "golden.hpp"
#include "image.hpp"
#include "paint_arguments.hpp"

namespace {

// OKLab lightness of an sRGB colour.
double lightness(const heat::colour& of) {
    const auto linear = [](std::uint8_t part) {
        const double x = part / 255.0;
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    };
    const double r = linear(of[0]), g = linear(of[1]), b = linear(of[2]);
    return 0.2104542553 * std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) +
           0.7936177850 * std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) -
           0.0040720468 * std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

TEST(H1_colours, the_perceptual_map_grows_evenly_lighter) {
    const double first = lightness(heat::colour_of(heat::colour_map::perceptual, 0.0f));
    const double last = lightness(heat::colour_of(heat::colour_map::perceptual, 1.0f));
    EXPECT_LT(first, 0.25);
    EXPECT_GT(last, 0.9);
    double before = first;
    for (int shade = 1; shade <= 255; ++shade) {
        const double now =
            lightness(heat::colour_of(heat::colour_map::perceptual, static_cast<float>(shade) / 255));
        EXPECT_NEAR(now, first + (last - first) * shade / 255, 0.006) << shade;
        if (shade % 8 == 0) {
            EXPECT_GT(now, before) << shade;
            before = now;
        }
    }
}

TEST(H1_colours, insulators_differ_from_every_temperature) {
    for (heat::colour_map map : {heat::colour_map::course, heat::colour_map::perceptual})
        for (int shade = 0; shade <= 255; ++shade) {
            const heat::colour cell = heat::colour_of(map, static_cast<float>(shade) / 255);
            const heat::colour insulator = heat::insulator_colour(map);
            int distance = 0;
            for (std::size_t part = 0; part < 3; ++part) distance += std::abs(cell[part] - insulator[part]);
            EXPECT_GT(distance, 60) << shade;
        }
}

heat::colour pixel(const heat::picture& of, std::size_t x, std::size_t y) {
    const std::uint8_t* at = of.rgb.data() + 3 * (y * of.width + x);
    return {at[0], at[1], at[2]};
}

// Where dots that look like this (`#` black, `.` white, a character a dot) begin, at or below row `top`.
std::optional<std::pair<std::size_t, std::size_t>> find_dots(const heat::picture& in, std::size_t top,
                                                             std::size_t dot,
                                                             const std::vector<std::string>& look) {
    const auto is_here = [&](std::size_t left, std::size_t above) {
        for (std::size_t y = 0; y < look.size() * dot; ++y)
            for (std::size_t x = 0; x < look[0].size() * dot; ++x) {
                const std::uint8_t grey = look[y / dot][x / dot] == '#' ? 0 : 255;
                if (pixel(in, left + x, above + y) != heat::colour{grey, grey, grey}) return false;
            }
        return true;
    };
    for (std::size_t y = top; y + look.size() * dot <= in.height; ++y)
        for (std::size_t x = 0; x + look[0].size() * dot <= in.width; ++x)
            if (is_here(x, y)) return std::pair{x, y};
    return std::nullopt;
}

const std::vector<std::string> half = {
    ".###........#####.",  //
    "#...#.......#.....",  //
    "#..##.......####..",  //
    "#.#.#...........#.",  //
    "##..#...........#.",  //
    "#...#.......#...#.",  //
    ".###....#....###..",
};
const std::vector<std::string> step = {
    ".......#...............",  //
    ".......#...............",  //
    ".####.####...###..####.",  //
    "#......#....#...#.#...#",  //
    ".###...#....#####.#...#",  //
    "....#..#....#.....####.",  //
    "####....##...###..#....",  //
    "..................#....",
};

TEST(H1_colours, a_legend_is_added_below) {
    for (const auto& [width, height] : {std::pair{1u, 1u}, {31u, 5u}, {253u, 2u}, {600u, 10u}})
        for (heat::colour_map map : {heat::colour_map::course, heat::colour_map::perceptual}) {
            const heat::world world = heat::make_random(width, height, 0.1f, 3);
            heat::paint_options options{.colours = map};
            const heat::picture plain = heat::paint(world, options);
            options.legend = true;
            const heat::picture with = heat::paint(world, options);
            const std::size_t dot = std::max(1u, with.width / 256), bar = height + 4 * dot;
            const std::size_t letters_a_line = (with.width / dot - 2 * 2 + 1) / 6;
            options.captions = {std::string(letters_a_line, 'x') + " step"};
            const heat::picture captioned = heat::paint(world, options);
            ASSERT_GE(with.width, width);
            ASSERT_GT(with.height, height);
            ASSERT_GT(captioned.height, with.height);
            ASSERT_EQ(with.rgb.size(), 3 * std::size_t{with.width} * with.height);
            for (std::size_t y = 0; y < height; ++y)
                for (std::size_t x = 0; x < with.width; ++x)
                    ASSERT_EQ(pixel(with, x, y),
                              x < width ? pixel(plain, x, y) : (heat::colour{255, 255, 255}));
            // The bar goes from the coldest colour to the hottest; its numbers are below it.
            for (const std::size_t x :
                 {std::size_t{0}, std::size_t{with.width / 3}, std::size_t{with.width - 1}})
                EXPECT_EQ(pixel(with, x, bar),
                          heat::colour_of(map, static_cast<float>(x) / static_cast<float>(with.width - 1)));
            const auto middle = find_dots(with, bar, dot, half);
            ASSERT_TRUE(middle) << width;
            EXPECT_NEAR(static_cast<double>(middle->first + 9 * dot), with.width / 2.0,
                        1.5 * static_cast<double>(dot));
            EXPECT_FALSE(find_dots(with, bar, dot, step));
            const auto caption = find_dots(captioned, bar, dot, step);
            ASSERT_TRUE(caption);
            EXPECT_EQ(caption->first, 2 * dot) << "captions begin at the left, and go on there";
            EXPECT_GE(caption->second, with.height - 3 * dot) << "captions come last";
        }
}

TEST(H1_colours, text_outside_a_picture_is_left_out_and_bytes_without_glyphs_are_boxes) {
    heat::picture picture{20, 8, std::vector<std::uint8_t>(3 * 20 * 8, 255)};
    heat::print(picture, 2, 1, 1, "\xff...");
    const std::vector<std::string> box = {"#####", "#...#", "#...#", "#...#", "#...#", "#...#", "#####"};
    const auto found = find_dots(picture, 0, 1, box);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, (std::pair<std::size_t, std::size_t>{2, 1}));
    const heat::picture before = picture;
    heat::print(picture, 20, 0, 1, "x");
    heat::print(picture, 0, 8, 1, "x");
    EXPECT_EQ(picture.rgb, before.rgb);
    EXPECT_EQ(heat::text_width(""), 0u);
    EXPECT_EQ(heat::text_width("0.5"), 17u);
}

TEST(H1_colours, a_cell_is_a_square_of_pixels) {
    const heat::world world = heat::make_random(7, 5, 0.1f, 4);
    const heat::picture plain = heat::paint(world), large = heat::paint(world, {.scale = {3, 1}});
    ASSERT_EQ(large.width, 21u);
    ASSERT_EQ(large.height, 15u);
    for (std::size_t y = 0; y < 15; ++y)
        for (std::size_t x = 0; x < 21; ++x) EXPECT_EQ(pixel(large, x, y), pixel(plain, x / 3, y / 3));
}

TEST(H1_colours, a_pixel_is_the_mean_of_its_cells_and_shows_walls) {
    const auto map = heat::colour_map::perceptual;
    heat::world world = heat::make_random(11, 9, 0.1f, 5, {.insulators = 0, .closed_border = false});
    for (std::size_t x = 0; x < 11; ++x) world.properties[6 * 11 + x] = heat::insulator;  // a wall
    world.properties[1 * 11 + 5] = heat::insulator;  // alone in its block
    const heat::picture small = heat::paint(world, {.colours = map, .scale = {1, 4}});
    ASSERT_EQ(small.width, 3u);
    ASSERT_EQ(small.height, 3u);
    const auto mean = [&](std::size_t left, std::size_t top, std::size_t right, std::size_t bottom) {
        double sum = 0, count = 0;
        for (std::size_t y = top; y < bottom; ++y)
            for (std::size_t x = left; x < right; ++x)
                if (world.properties[y * 11 + x] != heat::insulator) {
                    sum += world.state[y * 11 + x];
                    ++count;
                }
        return heat::colour_of(map, static_cast<float>(sum / count));
    };
    EXPECT_EQ(pixel(small, 0, 0), mean(0, 0, 4, 4));
    EXPECT_EQ(pixel(small, 2, 0), mean(8, 0, 11, 4));
    EXPECT_EQ(pixel(small, 2, 2), mean(8, 8, 11, 9));
    for (std::size_t x = 0; x < 3; ++x) EXPECT_EQ(pixel(small, x, 1), heat::insulator_colour(map));
    const heat::colour conducting = mean(4, 0, 8, 4), wall = heat::insulator_colour(map);
    for (std::size_t part = 0; part < 3; ++part)
        EXPECT_NEAR(pixel(small, 1, 0)[part], 0.75 * conducting[part] + 0.25 * wall[part], 0.51);
    EXPECT_THROW(heat::paint(heat::make_slalom(3'000'000, 1, 0.1f), {.scale = {1000, 1}}),
                 std::invalid_argument);
}

TEST(H1_colours, a_scale_is_a_number_of_pixels_or_of_cells) {
    EXPECT_EQ(heat::parse_scale("7").pixels, 7u);
    EXPECT_EQ(heat::parse_scale("7").cells, 1u);
    EXPECT_EQ(heat::parse_scale("1/12").pixels, 1u);
    EXPECT_EQ(heat::parse_scale("1/12").cells, 12u);
    for (const char* words :
         {"", "0", "-1", "1/0", "1/", "/2", "2/3", "1001", "1/1001", "1.5", "3 ", " 3", "1/-2"})
        EXPECT_THROW(heat::parse_scale(words), std::invalid_argument) << words;
}

}  // namespace

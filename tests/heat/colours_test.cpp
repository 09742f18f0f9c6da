// Colour maps and the legend: what the eye gets, by the formulas of OKLab from sRGB back.

#include "colours.hpp"

#include <cmath>

#include "generate.hpp"
#include "golden.hpp"
#include "image.hpp"

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

TEST(H1_colours, a_legend_is_added_below) {
    for (const auto& [width, height] : {std::pair{1u, 1u}, {31u, 5u}, {33u, 2u}, {600u, 10u}})
        for (heat::colour_map map : {heat::colour_map::course, heat::colour_map::perceptual}) {
            const heat::world world = heat::make_random(width, height, 0.1f, 3);
            const heat::picture plain = heat::paint(world, {map, false}),
                                with = heat::paint(world, {map, true});
            ASSERT_GE(with.width, width);
            ASSERT_GT(with.height, height);
            ASSERT_EQ(with.rgb.size(), 3 * std::size_t{with.width} * with.height);
            const auto pixel = [](const heat::picture& of, std::size_t x, std::size_t y) {
                const std::uint8_t* at = of.rgb.data() + 3 * (y * of.width + x);
                return heat::colour{at[0], at[1], at[2]};
            };
            for (std::size_t y = 0; y < height; ++y)
                for (std::size_t x = 0; x < with.width; ++x)
                    ASSERT_EQ(pixel(with, x, y),
                              x < width ? pixel(plain, x, y) : (heat::colour{255, 255, 255}));
            // The bar goes from the coldest colour to the hottest; black digits are below it.
            const std::size_t bar = height + (with.height - height) / 3;
            EXPECT_EQ(pixel(with, 0, bar), heat::colour_of(map, 0.0f));
            EXPECT_EQ(pixel(with, with.width - 1, bar), heat::colour_of(map, 1.0f));
            std::size_t black = 0;
            for (std::size_t y = bar; y < with.height; ++y)
                for (std::size_t x = 0; x < with.width; ++x)
                    black += pixel(with, x, y) == heat::colour{0, 0, 0};
            const std::size_t dot = std::max(1u, with.width / 256);
            EXPECT_EQ(black, dot * dot * (12 + 12 + 1 + 11 + 8)) << "0, 0.5 and 1";
        }
}

}  // namespace

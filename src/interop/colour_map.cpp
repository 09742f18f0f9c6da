// Colour maps. In: a number. Out: sRGB. The perceptual map is a curve in OKLab (B. Ottosson, "A perceptual
// color space for image processing", 2020, whose matrices these are): lightness is linear in the number, the
// hue turns by half a circle, and the chroma is as large as the screen can show, within a bound.

#include "balm/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace balm {
namespace {

constexpr double darkest = 0.2, lightest = 0.95;   // OKLab lightness
constexpr double first_hue = 285, last_hue = 465;  // degrees: violet, over red, to yellow
constexpr double largest_chroma = 0.17;
constexpr std::size_t shades = 256;

using linear_rgb = std::array<double, 3>;

linear_rgb from_oklab(double lightness, double a, double b) {
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool can_be_shown(const linear_rgb& rgb) {
    return std::all_of(rgb.begin(), rgb.end(), [](double part) { return part >= 0 && part <= 1; });
}

std::uint8_t srgb(double linear) {
    const double encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(encoded, 0.0, 1.0)));
}

uchar4 perceptual(double number) {
    const double lightness = darkest + (lightest - darkest) * number;
    const double hue = (first_hue + (last_hue - first_hue) * number) * std::numbers::pi / 180;
    const auto at = [&](double chroma) {
        return from_oklab(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
    };
    double shown = 0, beyond = largest_chroma;
    for (int halving = 0; halving < 20; ++halving) {
        const double middle = (shown + beyond) / 2;
        (can_be_shown(at(middle)) ? shown : beyond) = middle;
    }
    const linear_rgb rgb = at(shown);
    return {srgb(rgb[0]), srgb(rgb[1]), srgb(rgb[2]), 255};
}

std::array<uchar4, shades> make_perceptual_map() {
    std::array<uchar4, shades> map;
    for (std::size_t shade = 0; shade < shades; ++shade)
        map[shade] = perceptual(static_cast<double>(shade) / (shades - 1));
    return map;
}

}  // namespace

uchar4 colour_of(colour_map map, float number) {
    if (std::isnan(number)) return {0, 0, 0, 0};
    const auto shade = static_cast<std::size_t>(std::lround(std::clamp(number, 0.0f, 1.0f) * (shades - 1)));
    if (map == colour_map::perceptual) {
        static const std::array<uchar4, shades> all = make_perceptual_map();
        return all[shade];
    }
    const auto grey = static_cast<std::uint8_t>(shade);
    return {grey, grey, grey, 255};
}

}  // namespace balm

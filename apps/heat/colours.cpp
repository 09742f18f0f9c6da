// Colour maps. In: a temperature. Out: sRGB. The perceptual map is Balm's.

#include "colours.hpp"

#include <balm/colour_map.hpp>

namespace heat {

colour colour_of(colour_map map, float temperature) {
    if (map == colour_map::perceptual) {
        const balm::uchar4 of = balm::colour_of(balm::colour_map::perceptual, temperature);
        return {of.x, of.y, of.z};
    }
    const auto red = static_cast<std::uint8_t>(temperature * 255.0f);
    return {red, 0, static_cast<std::uint8_t>(255 - red)};
}

colour insulator_colour(colour_map map) {
    return map == colour_map::perceptual ? colour{128, 128, 128} : colour{0, 255, 0};
}

}  // namespace heat

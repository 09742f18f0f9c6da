#pragma once
// Colours for numbers.

#include <cstdint>

#include "balm/short_vector.hpp"

namespace balm {

/// A mapping of the numbers from 0 to 1 to colours.
enum class colour_map : std::uint8_t {
    grey,        ///< from black to white
    perceptual,  ///< perceptually uniform: lightness is linear, from dark violet to light yellow
};

/// The colour of a number: red, green, blue and opacity (255), in sRGB. Numbers are clamped to 0 … 1; NaN is
/// transparent.
uchar4 colour_of(colour_map, float number);

}  // namespace balm

#pragma once
// Colours for numbers.

#include <cstdint>

#include "balm/short_vector.hpp"

namespace balm {

/// What the numbers from 0 to 1 are shown as.
enum class colour_map : std::uint8_t {
    grey,        ///< from black to white
    perceptual,  ///< equal differences look equal: lightness rises evenly from dark violet to light yellow
};

/// The colour of a number: red, green, blue and opacity (255), in sRGB. Numbers beyond 0 and 1 have the
/// colours of these; NaN is transparent.
uchar4 colour_of(colour_map, float number);

}  // namespace balm

#pragma once
// Temperatures as colours. A temperature comes in, red, green and blue go out. Here because the heat course's
// colours show where it is hot, and the eye needs others to see by how much.

#include <array>
#include <cstdint>

namespace heat {

enum class colour_map {
    course,      ///< the heat course's: from blue (0) to red (1), insulators green
    perceptual,  ///< equal differences look equal: lightness rises evenly from dark violet to light yellow,
                 ///< insulators grey
};

using colour = std::array<std::uint8_t, 3>;

/// The colour of a temperature from 0 to 1.
colour colour_of(colour_map map, float temperature);
/// The colour of an insulator.
colour insulator_colour(colour_map map);

}  // namespace heat

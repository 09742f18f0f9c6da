#pragma once
// Maps temperatures to colours. In: a temperature. Out: red, green and blue. The heat course's colours show
// where it is hot; the perceptual ones also show by how much.

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

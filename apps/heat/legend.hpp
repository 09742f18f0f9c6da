#pragma once
// What the colours of a picture mean. A picture comes in, it goes out with a legend below. Here because a
// picture without one shows shapes and no temperatures.

#include "colours.hpp"
#include "image.hpp"

namespace heat {

/// Adds a bar of all colours with the numbers 0, 0.5 and 1 below a picture, on white. Larger pictures have
/// larger legends; a picture too narrow for the numbers is widened. Throws std::invalid_argument where the
/// height would not fit its type.
void add_legend(picture& picture, colour_map map);

}  // namespace heat

#pragma once
// What the colours of a picture mean. A picture comes in, it goes out with a legend below. Here because a
// picture without one shows shapes and no temperatures.

#include <string>
#include <vector>

#include "colours.hpp"
#include "picture.hpp"

namespace heat {

/// Adds a legend below a picture, on white: a bar of all colours with the numbers 0, 0.25, 0.5, 0.75 and 1,
/// what they measure, the insulators' colour, and the captions, each from a new line on. Larger pictures have
/// larger letters. A picture that is too narrow for the words is widened to the right. Throws
/// std::invalid_argument where the height would not fit its type.
void add_legend(picture& picture, colour_map map, const std::vector<std::string>& captions = {});

}  // namespace heat

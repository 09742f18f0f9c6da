#pragma once
// The legend of a picture. In: a picture. Out: the picture with a legend below. Without a legend, a picture
// shows shapes but no temperatures.

#include <string>
#include <vector>

#include "colours.hpp"
#include "picture.hpp"

namespace heat {

/// Adds a legend below a picture, on white: a bar of all colours with the numbers 0, 0.25, 0.5, 0.75 and 1,
/// what they measure, the insulators' colour, and the captions, each on a new line. Larger pictures have
/// larger letters. A picture that is too narrow for the words is widened to the right. Throws
/// std::invalid_argument if the height would overflow.
void add_legend(picture& picture, colour_map map, const std::vector<std::string>& captions = {});

}  // namespace heat

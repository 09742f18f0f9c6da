#pragma once
// Pictures of worlds. A world comes in, a BMP or PNG file goes out. Here because a slalom of a million cells
// is seen, not read.

#include <cstdint>
#include <string>
#include <vector>

#include "colours.hpp"
#include "world.hpp"

namespace heat {

/// Rows of red, green, blue, from the top, without padding.
struct picture {
    unsigned width = 0;
    unsigned height = 0;
    std::vector<std::uint8_t> rgb;  ///< 3 * width * height bytes
};

/// How a world is painted.
struct paint_options {
    colour_map colours = colour_map::course;
    bool legend = false;  ///< below the world (legend.hpp)
};

/// A pixel for each cell. Throws like `check`.
picture paint(const world& world, const paint_options& options = {});

/// Paints a world into a file, as 24-bit BMP or PNG by the name's extension (upper or lower case). The file
/// is written under a temporary name beside its place and then renamed: it is complete or not there. Throws
/// std::invalid_argument for another extension or a size the format cannot hold, std::runtime_error when the
/// file cannot be written.
///
/// The BMP is the heat course's, to the byte: rows from the top although the header says from the bottom, so
/// viewers show it upside down, and 3 * width modulo 4 bytes of padding, so they show it skewed when the
/// width is odd. The PNG is upright and always right.
void render(const world& world, const std::string& file_name, const paint_options& options = {});

/// Throws like `render` does for a name with another extension: before the work of making a world is done.
void check_image_name(const std::string& file_name);

}  // namespace heat

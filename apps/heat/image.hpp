#pragma once
// Pictures of worlds. In: a world. Out: a BMP or PNG file. A slalom of a million cells is seen, not read.

#include <initializer_list>
#include <string>
#include <vector>

#include "colours.hpp"
#include "picture.hpp"
#include "world.hpp"

namespace heat {

/// The scale of a picture. At least one of the two is 1.
struct picture_scale {
    unsigned pixels = 1;  ///< the side of a cell's square, in pixels
    unsigned cells = 1;   ///< the side of a pixel's square, in cells
};

/// How a world is painted.
struct paint_options {
    colour_map colours = colour_map::course;
    picture_scale scale = {};
    bool legend = false;                     ///< below the world (legend.hpp)
    std::vector<std::string> captions = {};  ///< lines below the legend, if there is one
};

/// Paints a world; by default one pixel per cell. A pixel of several cells has the colour of the mean
/// temperature of those that conduct, mixed with the colour of insulators in proportion to their number. As
/// many insulators as a wall of one cell across the pixel give their colour alone. Throws like `check`, and
/// std::invalid_argument if the picture would have 2^31 or more pixels in a row or column.
picture paint(const world& world, const paint_options& options = {});

/// Writes a picture to a file, as 24-bit BMP or PNG by the name's extension, ignoring case. The file is
/// written under a temporary name in the same folder and then renamed: it is complete or absent. Throws
/// std::invalid_argument for another extension or a size that the format cannot represent, std::runtime_error
/// if the file cannot be written.
///
/// The BMP equals the heat course's byte for byte: its rows go from the top although the header says from the
/// bottom, so viewers show it upside down, and have 3 * width modulo 4 bytes of padding, so viewers show it
/// skewed if the width is odd. The PNG is upright and always correct.
void write_picture(const picture& picture, const std::string& file_name);

/// Paints a world into a file. Throws like `paint` and `write_picture`.
void render(const world& world, const std::string& file_name, const paint_options& options = {});

/// Throws as `write_picture` does for a name with another extension, but before a world is computed.
void check_image_name(const std::string& file_name);

/// Whether a name ends in one of these extensions, which begin with a dot, ignoring case.
bool has_extension(const std::string& file_name, std::initializer_list<const char*> extensions);

}  // namespace heat

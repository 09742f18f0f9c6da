#pragma once
// Pictures of worlds. A world comes in, a BMP or PNG file goes out. Here because a slalom of a million cells
// is seen, not read.

#include <initializer_list>
#include <string>
#include <vector>

#include "colours.hpp"
#include "picture.hpp"
#include "world.hpp"

namespace heat {

/// How large a cell is painted. At least one of the two is 1.
struct picture_scale {
    unsigned pixels = 1;  ///< a cell is a square of so many pixels a side
    unsigned cells = 1;   ///< a pixel is a square of so many cells a side
};

/// How a world is painted.
struct paint_options {
    colour_map colours = colour_map::course;
    picture_scale scale = {};
    bool legend = false;                     ///< below the world (legend.hpp)
    std::vector<std::string> captions = {};  ///< lines below the legend, where there is one
};

/// Paints a world; by default a pixel for each cell. A pixel for several cells has the colour of their mean
/// temperature, mixed with that of insulators: these alone where as many insulators are in it as a wall of
/// one cell has that runs through. Throws like `check`, and std::invalid_argument where the picture would
/// have 2^31 pixels in a row or column.
picture paint(const world& world, const paint_options& options = {});

/// Writes a picture into a file, as 24-bit BMP or PNG by the name's extension (upper or lower case). The file
/// is written under a temporary name beside its place and then renamed: it is complete or not there. Throws
/// std::invalid_argument for another extension or a size the format cannot hold, std::runtime_error when the
/// file cannot be written.
///
/// The BMP is the heat course's, to the byte: rows from the top although the header says from the bottom, so
/// viewers show it upside down, and 3 * width modulo 4 bytes of padding, so they show it skewed when the
/// width is odd. The PNG is upright and always right.
void write_picture(const picture& picture, const std::string& file_name);

/// Paints a world into a file. Throws like `paint` and `write_picture`.
void render(const world& world, const std::string& file_name, const paint_options& options = {});

/// Throws like `write_picture` does for a name with another extension: before the work of making a world is
/// done.
void check_image_name(const std::string& file_name);

/// Whether a name ends in one of these extensions, which begin with a point, in upper or lower case.
bool has_extension(const std::string& file_name, std::initializer_list<const char*> extensions);

}  // namespace heat

#pragma once
// Text on pictures. In: text. Out: dots. A legend needs a few words; a bitmap font needs no library and looks
// the same on every machine.

#include <string_view>

#include "picture.hpp"

namespace heat {

/// A character is `glyph_width` dots wide and `glyph_height` high; the last row is below the baseline.
/// The next one begins `glyph_pitch` dots further right.
inline constexpr unsigned glyph_width = 5, glyph_height = 8, glyph_pitch = glyph_width + 1;

/// Dots from the left edge of the first character to the right edge of the last.
unsigned text_width(std::string_view text) noexcept;

/// Prints a line of text whose upper left corner is the pixel (x, y). A dot is a square of `dot` pixels. Dots
/// outside the picture are left out. ASCII has glyphs; every other byte is shown as a box.
void print(picture& picture, std::size_t x, std::size_t y, unsigned dot, std::string_view text,
           const colour& ink = {0, 0, 0});

}  // namespace heat

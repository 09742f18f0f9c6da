#pragma once
// A picture in memory. Cells are painted into it, text is printed on it, files are written from it; these
// three do not depend on each other.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "colours.hpp"

namespace heat {

/// Rows of red, green and blue bytes, from the top, without padding.
struct picture {
    unsigned width = 0;
    unsigned height = 0;
    std::vector<std::uint8_t> rgb;  ///< 3 * width * height bytes

    /// Bytes of a row.
    std::size_t row_bytes() const noexcept { return 3 * std::size_t{width}; }
    /// Paints `columns` x `rows` pixels, of which the upper left one is (x, y). All must lie within the
    /// picture.
    void fill(std::size_t x, std::size_t y, std::size_t columns, std::size_t rows, const colour& with) {
        for (std::size_t row = y; row < y + rows; ++row)
            for (std::size_t column = x; column < x + columns; ++column)
                std::copy(with.begin(), with.end(),
                          rgb.begin() + static_cast<std::ptrdiff_t>(row * row_bytes() + 3 * column));
    }
};

}  // namespace heat

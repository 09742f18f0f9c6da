#pragma once
// The layout of a part of a world in a device's memory. In: a size and a plan. Out: offsets. Kernels read
// beyond the cells that they write, so a border surrounds these: it holds insulators where the world ends,
// and the cells of the neighbouring part where it continues.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "world.hpp"

namespace heat {

/// The least multiple of `unit` that is at least n.
constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

/// Rows of tiles: `count` of them, from the `first` on.
struct tile_rows {
    std::size_t first = 0, count = 0;
};

/// `height` rows of `width` cells, rounded up to whole tiles, with a border around them.
struct layout {
    layout(std::size_t cells_in_a_row, std::size_t rows_of_cells, const plan& plan)
        : width(cells_in_a_row),
          height(rows_of_cells),
          border(plan.border()),
          tile_height(plan.inner_height()),
          tiles_x(round_up(width, plan.inner_width()) / plan.inner_width()),
          tiles_y(round_up(height, tile_height) / tile_height),
          pitch(tiles_x * plan.inner_width() + 2 * border),
          rows(tiles_y * tile_height + 2 * border) {}

    /// Elements in memory.
    std::size_t size() const { return pitch * rows; }
    /// The start of row y, including its left border.
    std::size_t row_start(std::size_t y) const { return (y + border) * pitch; }
    tile_rows all_tiles() const { return {0, tiles_y}; }
    /// The tiles that hold the rows [first, last).
    tile_rows tiles_of(std::size_t first, std::size_t last) const {
        const std::size_t from = first / tile_height, to = round_up(last, tile_height) / tile_height;
        return {from, to - from};
    }

    std::size_t width, height, border, tile_height, tiles_x, tiles_y, pitch, rows;
};

/// The bytes of device memory per row of a layout: two states and a code per cell, and a flag per strip of
/// tiles (plain_rows).
inline std::size_t row_bytes(const layout& where) {
    return where.pitch * (2 * sizeof(float) + sizeof(std::uint8_t)) + where.tiles_x;
}

/// Rows of memory, `pitch` elements apart; the first one is row `first` of a world. Rows may lie outside the
/// world.
struct memory_rows {
    std::ptrdiff_t first = 0;
    std::size_t count = 0, pitch = 0, border = 0;
};

/// Copies the codes of a world's cells into memory. Leaves borders and rows outside the world unchanged.
void spread_codes(const world& world, const std::vector<std::uint8_t>& codes, const memory_rows& rows,
                  std::uint8_t* to);
/// The same for the temperatures, with 0 for insulators.
void spread_state(const world& world, const memory_rows& rows, float* to);

/// A flag per row of codes and strip of tiles, with strips varying fastest: 1 if all cells that the strip's
/// tiles read in this row are plain, else 0.
std::vector<std::uint8_t> plain_rows(const plan& plan, const layout& where, const std::uint8_t* codes,
                                     std::size_t rows);

}  // namespace heat

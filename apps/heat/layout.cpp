// Copies cells into a layout in memory. In: a world and the position of its rows. Out: codes, temperatures,
// and which rows of codes need no look-up.

#include "layout.hpp"

#include <algorithm>

#include "conductance.hpp"

namespace heat {
namespace {

/// Calls body(first cell of the world's row, first element of memory) for each row of memory that lies in the
/// world.
template <class Body>
void for_each_row(const world& world, const memory_rows& rows, Body body) {
    for (std::size_t r = 0; r < rows.count; ++r) {
        const std::ptrdiff_t y = rows.first + static_cast<std::ptrdiff_t>(r);
        if (y >= 0 && y < static_cast<std::ptrdiff_t>(world.height))
            body(static_cast<std::size_t>(y) * world.width, r * rows.pitch + rows.border);
    }
}

}  // namespace

void spread_codes(const world& world, const std::vector<std::uint8_t>& codes, const memory_rows& rows,
                  std::uint8_t* to) {
    for_each_row(world, rows, [&](std::size_t cell, std::size_t at) {
        std::copy_n(codes.data() + cell, world.width, to + at);
    });
}

void spread_state(const world& world, const memory_rows& rows, float* to) {
    for_each_row(world, rows, [&](std::size_t cell, std::size_t at) {
        for (std::size_t x = 0; x < world.width; ++x)
            to[at + x] = world.properties[cell + x] == insulator ? 0 : world.state[cell + x];
    });
}

std::vector<std::uint8_t> plain_rows(const plan& plan, const layout& where, const std::uint8_t* codes,
                                     std::size_t rows) {
    std::vector<std::uint8_t> plain(where.tiles_x * rows);
    for (std::size_t row = 0, at = 0; row < rows; ++row)
        for (std::size_t strip = 0; strip < where.tiles_x; ++strip, ++at) {
            const std::uint8_t* const first = codes + row * where.pitch + strip * plan.inner_width();
            plain[at] = std::all_of(first, first + plan.tile_width,
                                    [](std::uint8_t code) { return code == plain_code; });
        }
    return plain;
}

}  // namespace heat

#pragma once
// Register tiles, for GPUs: if neighbouring elements read the same memory (stencils), a work-item computes a
// tile of elements in one or several rows, and loads each element of its window once. In: nested loops over a
// grid. Out: loops over tiles.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/builder.hpp"
#include "ir/ir.hpp"
#include "ir/lower/loop_index.hpp"

namespace balm::ir {

struct register_tile {
    std::vector<value_id> loops;              ///< tiled loops, the outermost first
    std::array<std::uint8_t, 2> sizes{1, 1};  ///< elements of a row, rows; powers of two
    /// The index of all stores, as a sum over the loops, if they share one.
    std::optional<index_sum> stored;

    std::size_t elements() const { return std::size_t{sizes[0]} * sizes[1]; }
    /// Whether a row's first tile may begin ahead of its first element, so that vectors are aligned.
    bool has_peel() const;
};

/// The perfect nest of loops that begins with a loop over the grid: only arithmetic lies between the loops.
std::vector<value_id> nest_of(const function&, value_id outermost);

/// The tile that pays off for a nest; empty if that would tile the inner loops alone, or if elements share no
/// memory.
std::optional<register_tile> tile_for(const function&, std::span<const value_id> nest,
                                      const runtime::launch_facts&);

/// Appends loops over tiles, which replace the tile's loops.
void append_tiles(function&, const register_tile&, builder&);

}  // namespace balm::ir

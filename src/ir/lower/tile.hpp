#pragma once
// Register tiles, for GPUs: where neighbouring elements read the same memory (stencils), a work-item computes
// a tile of elements, of one or several rows, and loads each element of its window once. In: loops over a
// grid that stand in each other. Out: loops over tiles.

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
    std::vector<value_id> loops;              ///< that are tiled, the outermost first
    std::array<std::uint8_t, 2> sizes{1, 1};  ///< elements of a row, rows; powers of two
    /// Where all stores are, in the loops, if memory is accessed in vectors.
    std::optional<index_sum> stored;

    std::size_t elements() const { return std::size_t{sizes[0]} * sizes[1]; }
    /// Whether a row's first tile may begin ahead of its first element, so that vectors are aligned.
    bool has_lead() const;
};

/// The loops in a loop over the grid, it first, where nothing but arithmetic stands between them.
std::vector<value_id> nest_of(const function&, value_id outermost);

/// The tile that pays off for a nest, if that is not one of the inner loops alone; nothing also where
/// elements share no memory.
std::optional<register_tile> tile_for(const function&, std::span<const value_id> nest,
                                      const runtime::launch_facts&);

/// Puts loops over tiles in place of the tile's loops.
void append_tiles(function&, const register_tile&, builder&);

}  // namespace balm::ir

#pragma once
// Moves the elements of a tile between work-items, through local memory that is padded against bank
// conflicts.

#include <span>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// The number of elements that `shared` needs for a tile.
std::size_t exchange_room(const group&, const types&, int each);

/// Moves elements from one arrangement to another.
elements exchange(const group&, const elements&, arrangement from, arrangement to, const arrays& shared);

/// Moves element k to position ranks[k] of the tile. The ranks of all work-items are distinct.
elements scatter(const group&, const elements&, std::span<const Int> ranks, arrangement to,
                 const arrays& shared);

/// The two steps of scatter, which need a barrier in between.
void put_at_ranks(const group&, const elements&, std::span<const Int> ranks, const arrays& shared);
elements take(const group&, const types&, int each, arrangement to, const arrays& shared);

/// The slot in `shared` of a position of the tile, for kernels that store only some elements, or look
/// elements up.
Int exchange_slot(const group&, const types&, int each, const Int& position);

}  // namespace balm::block

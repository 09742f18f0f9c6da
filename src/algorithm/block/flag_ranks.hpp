#pragma once
// Ranks of flagged elements: the number of flagged elements before each one in a tile. Selections and
// partitions are built from them.

#include "algorithm/block/tile.hpp"

namespace balm::block {

/// The flags of a work-item's elements in a tile of short vectors, one bit each, and the number of flags
/// before them. The counts of several runs share a word, so one scan of a sub-group serves two or four runs.
class flag_ranks {
public:
    /// The limit of elements per work-item.
    static constexpr int most_elements = 32;

    /// Bit e of `flags` is for element e, run after run. `shared` has scan_room(g) elements of words(tile).
    flag_ranks(const group&, runs tile, const UInt& flags, const arrays& shared);
    static types words(runs tile);

    /// The number of flagged elements in the tile.
    Int total() const { return Int(total_); }
    Bool is_flagged(int element) const;
    /// The number of flagged elements before a work-item's element.
    Int ahead_of(int element) const;

private:
    runs tile_;
    UInt flags_;
    values before_;  ///< per run
    trace::node total_;
};

}  // namespace balm::block

#pragma once
// Ranks of flagged elements: how many flagged ones are ahead of each in a tile. What selections and
// partitions are built from.

#include "algorithm/block/tile.hpp"

namespace balm::block {

/// The flags of a work-item's elements in a tile of short vectors, one bit each, and what is ahead of them.
/// The counts of several runs share a word, so that one scan of a sub-group serves two or four runs.
class flag_ranks {
public:
    /// Elements of a work-item at most.
    static constexpr int most_elements = 32;

    /// Bit e of `flags`: element e, run after run. `shared` has scan_room(g) elements of words(tile).
    flag_ranks(const group&, runs tile, const UInt& flags, const arrays& shared);
    static types words(runs tile);

    /// Flagged elements of the tile.
    Int total() const { return Int(total_); }
    Bool is_flagged(int element) const;
    /// How many of them are ahead of a work-item's element.
    Int ahead_of(int element) const;

private:
    runs tile_;
    UInt flags_;
    values before_;  ///< each run
    trace::node total_;
};

}  // namespace balm::block

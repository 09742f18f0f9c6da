#pragma once
// The base of compactions on GPUs: a group processes a chunk tile by tile, or one tile. Elements move through
// local memory, so that neighbouring work-items store to neighbouring positions.

#include <utility>

#include "algorithm/block/exchange.hpp"
#include "algorithm/compact/compact_recorder.hpp"

namespace balm::array::compacting {

class tile_recorder : public compact_recorder {
public:
    using compact_recorder::compact_recorder;

protected:
    std::size_t room_of_tile() const { return block::exchange_room(g_, moved_, plan_.tiles.tile.elements()); }
    block::arrays memory_of_moved() const {
        return block::room(block::room::bytes_of(moved_, room_of_tile())).of(moved_, room_of_tile());
    }
    Int slot(const Int& place) const {
        return block::exchange_slot(g_, moved_, plan_.tiles.tile.elements(), place);
    }
    Int size_of_tile(const Index& begin, const Index& end) const {
        return named("size", cast<int>(min(end - begin, Index(g_.items()) * plan_.tiles.tile.elements())));
    }
    /// Processes the group's chunk tile by tile; tile(begin, end of the chunk, state before it) returns the
    /// tile's total.
    template <class F>
    void record_chunk_of_group(F&& tile) const {
        const chunk own = own_chunk();
        const values sum = block::variables("sum", ahead_of(own));
        const Index step = named("step", Index(g_.items()) * plan_.tiles.tile.elements());
        for (Index begin : named("begin", range(own.begin, own.end, step))) {
            const values ahead = block::read(sum);
            const values total = tile(begin, own.end, ahead);
            g_.barrier();
            block::write(sum, combines_.combined(ahead, total));
        }
        BALM_IF (g_.item() == 0) {
            if (plan_.stage == compact_stage::chunk_totals) {
                parts().store(own.number, block::read(sum));
            } else {
                BALM_IF (own.end == given("n")) {
                    finish(block::read(sum));
                }
            }
        }
    }
    /// Processes one tile; tile(number, begin, end of all elements) returns the state before the tile, and
    /// its total.
    template <class F>
    void record_tile_with_look_back(F&& tile) const {
        const Index number = look_back::own_tile();
        const Index begin = named("begin", number * (Index(g_.items()) * plan_.tiles.tile.elements())),
                    end = given("n");
        const auto [ahead, total] = tile(number, begin, end);
        BALM_IF (g_.item() == 0 && begin + Index(g_.items()) * plan_.tiles.tile.elements() >= end) {
            finish(combines_.combined(ahead, total));
        }
    }
};

}  // namespace balm::array::compacting

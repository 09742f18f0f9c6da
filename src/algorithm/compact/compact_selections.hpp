#pragma once
// The kernels of selections and of run lengths on GPUs. In a tile, one bit per element says whether it is
// selected. The length of a run is the distance between two selected elements.

#include <utility>

#include "algorithm/block/flag_ranks.hpp"
#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/compact/compact_tiles.hpp"

namespace balm::array::compacting {

class selection_recorder : public tile_recorder {
public:
    using tile_recorder::tile_recorder;

    void record() const {
        switch (plan_.stage) {
            case compact_stage::look_back: return record_selection_with_look_back();
            case compact_stage::chunk_totals: return record_count_of_group();
            default: return record_selection_of_group();
        }
    }

private:
    struct selected_tile {
        elements kept;
        block::flag_ranks ranks;
    };
    block::arrays memory_of_ranks() const {
        return g_.shared("ranks", block::flag_ranks::words(plan_.tiles.tile), block::scan_room(g_));
    }
    selected_tile loaded_selection(const block::arrays& shared, const Index& begin, const Index& end) const {
        values nothing;
        for (const trace::type& each : kept_) nothing.push_back(any_value(each));
        elements kept;
        for (int e = 0; e < plan_.tiles.tile.elements(); ++e)
            kept.push_back(block::variables("element", nothing));
        UInt flags = named("flags", 0u);
        const auto take = [&](const element& each, int e) {
            block::write(kept[static_cast<std::size_t>(e)], each.kept);
            flags |= select(each.is_selected, 1u << e, 0u);
        };
        const auto take_runs = [&](const block::run_numbers& run) {
            for (int e = 0; e < plan_.tiles.tile.elements(); ++e)
                take(at_any(run[e / plan_.tiles.tile.length], e % plan_.tiles.tile.length), e);
        };
        block::visit(g_, plan_.tiles.tile, begin, end, take_runs,
                     [&](const Index& i, int e) { take(at_any(i), e); });
        for (values& each : kept) each = block::read(each);
        return {std::move(kept), block::flag_ranks(g_, plan_.tiles.tile, flags, shared)};
    }
    /// Collects selected elements in local memory, so that neighbouring work-items store neighbouring
    /// elements. In partitions the other elements follow them.
    void exchange(const selected_tile& of, const block::arrays& shared, const Int& size) const {
        const block::positions at(g_, arrangement::sub_group_striped, plan_.tiles.tile.count);
        for (int e = 0; e < plan_.tiles.tile.elements(); ++e) {
            const values& kept = of.kept[static_cast<std::size_t>(e)];
            const Int rank = of.ranks.ahead_of(e);
            const Int position =
                at[e / plan_.tiles.tile.length] * plan_.tiles.tile.length + e % plan_.tiles.tile.length;
            if (plan_.is_partition) {
                const Int other = of.ranks.total() + position - rank;
                BALM_IF (position < size) {
                    shared.store(slot(select(of.ranks.is_flagged(e), rank, other)), kept);
                }
            } else {
                BALM_IF (of.ranks.is_flagged(e)) {
                    shared.store(slot(rank),
                                 plan_.has_lengths ? block::joined(kept, {block::node_of(position)}) : kept);
                }
            }
        }
    }
    /// The total of a tile whose selected elements are collected in local memory.
    values total_of_selection(const block::arrays& shared, const Index& begin, const Int& chosen) const {
        const node count = trace::convert(block::node_of(chosen), plan_.count_type());
        if (!plan_.has_lengths) return {count};
        const values last = block::variables("last_begin", {as_count(begin)});
        BALM_IF (chosen > 0) {
            block::write(last, {begin_of_run(shared, begin, chosen - 1)});
        }
        return {count, block::read(last)[0]};
    }
    node begin_of_run(const block::arrays& shared, const Index& begin, const Int& k) const {
        return as_count(begin + cast<std::int64_t>(Int(shared.load(slot(k)).back())));
    }
    /// Each run ends where the next one begins.
    void store_runs_of_selection(const block::arrays& shared, const Index& begin, const values& ahead,
                                 const Int& chosen) const {
        const Index first = named("first_place", index_of(ahead[0]));
        for (Int k : named("k", range(g_.item(), chosen, g_.items()))) {
            const values moved = shared.load(slot(k));
            const Index place = named("place", first + k);
            where_there_is_room(place, [&] { keep(place, part_of(moved, 0, plan_.kept)); });
            const values before = block::variables("before", {ahead[1]});
            BALM_IF (k > 0) {
                block::write(before, {begin_of_run(shared, begin, k - 1)});
            }
            const Index end = begin + cast<std::int64_t>(Int(moved.back()));
            BALM_IF (place > 0) {
                where_there_is_room(
                    place - 1, [&] { give_results(place - 1, {length_of(block::read(before)[0], end)}); });
            }
        }
    }
    /// Stores the collected elements, given the state before the tile.
    void store_selection(const block::arrays& shared, const Index& begin, const values& ahead,
                         const Int& chosen, const Int& size) const {
        if (plan_.has_lengths) return store_runs_of_selection(shared, begin, ahead, chosen);
        const Index first = named("first_place", index_of(ahead[0]));
        for (Int k : named("k", range(g_.item(), plan_.is_partition ? size : chosen, g_.items()))) {
            Index place = first + k;
            if (plan_.is_partition) {
                const Index others = index_of(parts().load(given("chunks"))[0]) + (begin - first);
                place = named("place", select(k < chosen, place, others + (k - chosen)));
            }
            where_there_is_room(place, [&] { keep(place, shared.load(slot(k))); });
        }
    }
    void record_selection_of_group() const {
        const block::arrays moved = memory_of_moved(), ranks = memory_of_ranks();
        record_chunk_of_group([&](const Index& begin, const Index& end, const values& ahead) {
            const selected_tile of = loaded_selection(ranks, begin, end);
            const Int chosen = named("chosen", of.ranks.total()), size = size_of_tile(begin, end);
            exchange(of, moved, size);
            g_.barrier();
            store_selection(moved, begin, ahead, chosen, size);
            return total_of_selection(moved, begin, chosen);
        });
    }
    /// While the state before the tile is unknown, elements are held in local memory, not in registers.
    void record_selection_with_look_back() const {
        const block::arrays moved = memory_of_moved(), ranks = memory_of_ranks();
        const look_back others(g_, combines_, state_, given_, plan_.count_bits());
        record_tile_with_look_back([&](const Index& number, const Index& begin, const Index& end) {
            const selected_tile of = loaded_selection(ranks, begin, end);
            const Int chosen = named("chosen", of.ranks.total());
            const auto meet = [&] { exchange(of, moved, chosen); };
            if (plan_.has_lengths) {  // the position of the last run is known once elements are collected
                meet();
                g_.barrier();
            }
            const values total = total_of_selection(moved, begin, chosen);
            others.announce_total(number, total);
            if (!plan_.has_lengths) meet();
            const values ahead = others.ahead_of(number, total, combines_.identity());
            store_selection(moved, begin, ahead, chosen, chosen);
            return std::pair(ahead, total);
        });
    }
    /// The order of elements does not matter.
    void record_count_of_group() const {
        const block::arrays shared = g_.shared("totals", state_, g_.most());
        const chunk own = own_chunk();
        const block::operation adds = counts();
        const values count = block::variables("count", adds.identity());
        for (Index i : named("i", range(own.begin + g_.item(), own.end, Index(g_.items())))) {
            const Bool is_selected = at_any(i).is_selected;
            values more{counted(is_selected)};
            if (plan_.has_lengths) {
                const node none = trace::constant(plan_.count_type(), 0);
                more.push_back(trace::select(block::node_of(is_selected), as_count(i), none));
            }
            block::accumulate(adds, count, more);
        }
        const values total = block::reduce(g_, adds, block::read(count), shared);
        BALM_IF (g_.item() == 0) {
            parts().store(own.number, total);
        }
    }

    /// The number of selected elements, and the position of the last one.
    block::operation counts() const {
        block::operation adds = block::sums(plan_.count_type());
        if (!plan_.has_lengths) return adds;
        const auto combined = [](const values& a, const values& b) {
            return values{trace::apply(builtin::add, a[0], b[0]), trace::apply(builtin::max, a[1], b[1])};
        };
        return {combined, combines_.identity};
    }
};

}  // namespace balm::array::compacting

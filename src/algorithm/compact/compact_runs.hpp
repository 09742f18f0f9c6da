#pragma once
// The kernels of reductions by runs on GPUs. A tile scans the state of its elements; where a run begins, the
// state before it is the result of the previous run.

#include <utility>

#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/compact/compact_tiles.hpp"

namespace balm::array::compacting {

class run_recorder : public tile_recorder {
public:
    using tile_recorder::tile_recorder;

    void record() const {
        plan_.stage == compact_stage::look_back ? record_runs_with_look_back() : record_runs_of_group();
    }

private:
    /// The values of an element in a tile: whether it is selected, the kept values, the state of its
    /// reductions.
    values nothing() const {
        values made{trace::constant(scalar::boolean, 0)};
        for (const trace::type& each : kept_) made.push_back(any_value(each));
        return block::joined(std::move(made), does_.identity());
    }
    static values loaded(const element& e) {
        return block::joined(block::joined({block::node_of(e.is_selected)}, e.kept), e.state);
    }
    /// The scanned state of such an element.
    values scanned(const values& loaded) const {
        return block::joined({trace::convert(loaded[0], plan_.count_type())}, behind(loaded, 1 + plan_.kept));
    }

    /// The elements of a work-item, in runs, and the scan of the tile before each run.
    struct tile_of_runs {
        elements list;
        block::striped_scan in_tile;
        values total;
    };
    block::arrays memory_of_totals() const {
        return g_.shared("totals",
                         block::side_by_side(state_, static_cast<std::size_t>(plan_.tiles.tile.count)),
                         block::scan_room(g_));
    }
    tile_of_runs loaded_runs(const block::arrays& shared, const Index& begin, const Index& end) const {
        tile_of_runs made;
        made.list = block::load(
            g_, plan_.tiles.tile, begin, end, [&](const Index& run, int k) { return loaded(at_any(run, k)); },
            [&](const Index& i) { return loaded(at_any(i)); }, nothing());
        elements runs;
        for (auto from = made.list.begin(); from != made.list.end(); from += plan_.tiles.tile.length) {
            elements run;
            for (int k = 0; k < plan_.tiles.tile.length; ++k) run.push_back(scanned(*(from + k)));
            runs.push_back(block::reduce(combines_, run));
        }
        made.in_tile = block::scan_exclusive_striped(g_, combines_, runs, shared, &made.total);
        return made;
    }

    /// Calls f(element, state before it), given the state before the tile.
    template <class F>
    void for_each(const tile_of_runs& of, const values& ahead, F&& f) const {
        const values ahead_of_sub_group = combines_.combined(ahead, of.in_tile.ahead);
        auto next = of.list.begin();
        for (const values& before : of.in_tile.before) {
            values exclusive = combines_.combined(ahead_of_sub_group, before);
            for (int k = 0; k < plan_.tiles.tile.length; ++k, ++next) {
                f(*next, exclusive);
                exclusive = combines_.combined(exclusive, scanned(*next));
            }
        }
    }
    /// Collects the first elements of runs in local memory, each with the result of the run before it, and
    /// stores them.
    void store_runs(const block::arrays& shared, const tile_of_runs& of, const values& ahead) const {
        const Int chosen = named("chosen", int_of(of.total[0]));
        for_each(of, ahead, [&](const values& each, const values& before) {
            BALM_IF (Bool(each[0])) {
                const Int rank = int_of(trace::apply(builtin::sub, before[0], ahead[0]));
                shared.store(slot(rank),
                             block::joined(part_of(each, 1, plan_.kept), does_.result(behind(before, 1))));
            }
        });
        g_.barrier();
        const Index first = named("first_place", index_of(ahead[0]));
        for (Int k : named("k", range(g_.item(), chosen, g_.items()))) {
            const values moved = shared.load(slot(k));
            const Index place = first + k;
            where_there_is_room(place, [&] { keep(place, part_of(moved, 0, plan_.kept)); });
            BALM_IF (place > 0) {
                where_there_is_room(place - 1, [&] { give_results(place - 1, behind(moved, plan_.kept)); });
            }
        }
    }
    void record_runs_of_group() const {
        const block::arrays moved = memory_of_moved(), totals = memory_of_totals();
        record_chunk_of_group([&](const Index& begin, const Index& end, const values& ahead) {
            const tile_of_runs of = loaded_runs(totals, begin, end);
            if (plan_.moves_elements()) store_runs(moved, of, ahead);
            return of.total;
        });
    }
    void record_runs_with_look_back() const {
        const block::arrays moved = memory_of_moved(), totals = memory_of_totals();
        const look_back others(g_, combines_, state_, given_, plan_.count_bits());
        record_tile_with_look_back([&](const Index& number, const Index& begin, const Index& end) {
            const tile_of_runs of = loaded_runs(totals, begin, end);
            others.announce_total(number, of.total);
            const values ahead = others.ahead_of(number, of.total, combines_.identity());
            store_runs(moved, of, ahead);
            return std::pair(ahead, of.total);
        });
    }
};

}  // namespace balm::array::compacting

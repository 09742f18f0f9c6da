// Traces the kernels of merge sorts.

#include "algorithm/sort/merge_kernels.hpp"

#include <algorithm>
#include <functional>

#include "algorithm/block/exchange.hpp"
#include "algorithm/block/merge.hpp"
#include "algorithm/sort/item_sort.hpp"
#include "algorithm/sort/merge_tile.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"
#include "ir/ir.hpp"

namespace balm::array {

namespace {

using block::arrangement;
using block::elements;
using block::values;
using dsl::Bool;
using dsl::cast;
using dsl::global_id;
using dsl::group_id;
using dsl::Index;
using dsl::Int;
using dsl::max;
using dsl::min;
using dsl::named;
using dsl::Ptr;
using dsl::range;
using dsl::select;
using trace::node;

class merge_recorder {
public:
    merge_recorder(trace::recording& r, const parameter_list& given, const merge_plan& plan,
                   const std::shared_ptr<const ir::function>& is_ahead)
        : plan_(plan), is_ahead_(is_ahead), r_(r), given_(given), g_({plan.group, true, false}) {}

    std::shared_ptr<const ir::function> traced() {
        switch (plan_.stage) {
            case merge_stage::sort_tiles: plan_.on_item() ? sort_tile_of_item() : sort_tile_of_group(); break;
            case merge_stage::split: split(); break;
            case merge_stage::merge: plan_.on_item() ? merge_tile_of_item() : merge_tile_of_group(); break;
        }
        return r_.finish(nullptr);
    }

private:
    // ---- what is given

    Index given(parameter_name name) const { return Index(given_[name]); }
    /// An array in global memory: keys, and values if there are any.
    block::arrays array(parameter_name keys, parameter_name with_values) const {
        values pointers{given_[keys]};
        if (plan_.has_values()) pointers.push_back(given_[with_values]);
        return block::arrays(std::move(pointers));
    }
    block::arrays own() const { return array("keys", "values"); }
    block::arrays spare() const { return array("spare_keys", "spare_values"); }
    block::types types() const {
        block::types made{plan_.key};
        if (plan_.has_values()) made.push_back(plan_.value);
        return made;
    }
    Bool is_ahead(const values& a, const values& b) const {
        const node keys[] = {a[0], b[0]};
        return Bool(trace::call(is_ahead_, keys, 2, {}));
    }

    block::element_order order() const {
        return [this](const values& a, const values& b) { return is_ahead(a, b); };
    }

    // ---- the tiles' outputs in a pass

    /// The two runs that a pass merges into a tile and its neighbours, each of a power of two of tiles.
    struct runs {
        Index begin, middle, end;
    };
    runs runs_around(const Index& tile) const {
        const Index n = given("n"), width = given("width");
        const Index begin = named("first_run", (tile & -given("tiles_of_runs")) * given("tile_size"));
        return {begin, named("second_run", min(begin + width, n)),
                named("end_of_runs", min(begin + 2 * width, n))};
    }
    Ptr<std::int64_t> splits() const { return Ptr<std::int64_t>(given_["splits"]); }

    void split() const {
        const Index tile = named("tile", global_id(0));
        IF (tile < given("tiles")) {
            const Index place = named("place", tile * given("tile_size"));
            const runs in = runs_around(tile);
            const block::arrays from = array("from_keys", "from_values").first(1);
            splits()[tile] = in.begin + block::merge_path<Index>(order(), {from, in.begin, in.middle},
                                                                 {from, in.middle, in.end}, place - in.begin);
        }
    }
    struct piece {
        Index a, a_end, b, b_end, place, end;
    };
    /// The elements of both runs that make up the tile's output.
    piece own_piece() const {
        const Index tile = named("tile", group_id(0));
        const Index place = named("place", tile * given("tile_size"));
        const Index end = named("end", min(place + given("tile_size"), given("n")));
        const runs in = runs_around(tile);
        const Index a = named("a", Index(splits()[tile]));
        Index a_end = named("a_end", Index(in.middle));
        IF (end < in.end) {
            // Clamped to the tile's memory, whatever the comparison returns.
            a_end = min(max(Index(splits()[tile + 1]), a), a + (end - place));
        }
        const Index b = named("b", in.middle + (place - in.begin) - (a - in.begin));
        return {a, a_end, b, named("b_end", b + (end - place) - (a_end - a)), place, end};
    }

    // ---- CPUs: one tile per work-item

    void sort_tile_of_item() const {
        const Index begin = named("begin", group_id(0) * given("tile_size"));
        const Index end = named("end", min(begin + given("tile_size"), given("n")));
        const Index rounds = given("rounds");
        // Each round moves the tile between the vector and the spare one; the first one starts where the last
        // one ends in the right vector.
        const Bool is_in_spare = ((rounds & 1) != 0) == plan_.is_in_place;
        item_sort(order(), own(), spare()).sort(begin, end, rounds, is_in_spare, [](const values& as_is) {
            return as_is;
        });
    }
    void merge(const piece& p, const block::arrays& from, const block::arrays& to) const {
        block::merge(order(), {from, p.a, p.a_end}, {from, p.b, p.b_end}, to, p.place);
    }
    void merge_tile_of_item() const {
        merge(own_piece(), array("from_keys", "from_values"), array("keys", "values"));
    }

    // ---- GPUs: one tile per group

    merge_tile shape() const { return {plan_.group, plan_.each}; }
    int tile_size() const { return static_cast<int>(shape().size()); }
    /// Not padded: searches access it as an array.
    block::arrays memory_of_tile() const { return g_.shared("tile", types(), shape().room()); }
    void store(const block::arrays& tile, const elements& list) const {
        const block::positions at(g_, arrangement::blocked, plan_.each);
        for (int k = 0; k < plan_.each; ++k) tile.store(at[k], list[static_cast<std::size_t>(k)]);
    }
    void merge_in_place(const block::arrays& tile, const block::runs_of_tile& in, const Int& first) const {
        block::merge_in_place(g_, order(), tile, in, first, plan_.each);
    }
    /// Moves the first `count` elements of a tile, from(i, distance from the work-item's first) to to(i, …).
    /// In a whole tile the distances are constants, and all loads may be in flight before the first store.
    template <class From, class To>
    void move(const Int& count, const From& from, const To& to) const {
        const Int stride(static_cast<int>(plan_.group));
        IF (count == tile_size()) {
            elements list;
            for (int k = 0; k < plan_.each; ++k) {
                const Int behind = k * stride;
                list.push_back(from(g_.item() + behind, behind));
            }
            for (int k = 0; k < plan_.each; ++k)
                to(g_.item() + k * stride, list[static_cast<std::size_t>(k)]);
        }
        ELSE {
            for (Int i : named("i", range(g_.item(), count, stride))) to(i, from(i, i - g_.item()));
        }
    }
    void copy_out(const block::arrays& tile, const block::arrays& to, const Index& begin,
                  const Int& count) const {
        move(
            count, [&](const Int& i, const Int&) { return tile.load(i); },
            [&](const Int& i, const values& own) { to.store(begin + i, own); });
    }

    void sort_tile_of_group() const {
        const block::arrays tile = memory_of_tile(), from = own();
        const Index begin = named("begin", group_id(0) * Index(tile_size()));
        const Int valid = named("valid", cast<int>(min(given("n") - begin, Index(tile_size()))));
        move(
            valid, [&](const Int& i, const Int&) { return from.load(begin + i); },
            [&](const Int& i, const values& each) { tile.store(i, each); });
        g_.barrier();
        sort_shares(tile, valid);
        g_.barrier();
        Int items = named("items_of_run", Int(1));
        WHILE (items < static_cast<int>(plan_.group)) {
            const Int first = g_.item() * plan_.each, width = items * plan_.each;
            const Int start = named("first_run", (g_.item() & -(2 * items)) * plan_.each);
            const block::runs_of_tile in{min(start, valid), named("second_run", min(start + width, valid)),
                                         named("end_of_runs", min(start + 2 * width, valid))};
            merge_in_place(tile, in, Int(first - start));
            items *= 2;
        }
        copy_out(tile, plan_.is_in_place ? own() : spare(), begin, valid);
    }
    /// Each work-item sorts its elements by odd-even transposition, which is stable. A whole tile needs no
    /// bounds checks.
    void sort_shares(const block::arrays& tile, const Int& valid) const {
        if (plan_.each == 1) return;
        const block::positions at(g_, arrangement::blocked, plan_.each);
        elements list;
        for (int k = 0; k < plan_.each; ++k) list.push_back(block::variables("own", tile.load(at[k])));
        IF (valid == tile_size()) {
            exchange_neighbours(list, [&](int, const values& a, const values& b) { return is_ahead(a, b); });
        }
        ELSE {
            exchange_neighbours(list, [&](int k, const values& a, const values& b) {
                return at[k + 1] < valid && is_ahead(a, b);
            });
        }
        elements sorted;
        for (const values& each : list) sorted.push_back(block::read(each));
        store(tile, sorted);
    }
    /// Calls are_exchanged(k, second, first) for elements k and k + 1.
    template <class AreExchanged>
    void exchange_neighbours(const elements& list, const AreExchanged& are_exchanged) const {
        for (int round = 0; round < plan_.each; ++round)
            for (int k = round % 2; k + 1 < plan_.each; k += 2) {
                const auto number = static_cast<std::size_t>(k);
                const values first = block::read(list[number]), second = block::read(list[number + 1]);
                IF (are_exchanged(k, second, first)) {
                    block::write(list[number], second);
                    block::write(list[number + 1], first);
                }
            }
    }
    void merge_tile_of_group() const {
        const block::arrays tile = memory_of_tile();
        const piece p = own_piece();
        const block::arrays from = array("from_keys", "from_values");
        const Int of_a = named("of_a", cast<int>(p.a_end - p.a)),
                  of_both = named("of_both", of_a + cast<int>(p.b_end - p.b));
        // The position of the work-item's first element, in either run.
        const Index first = named("own_first", p.a + g_.item()),
                    second = named("own_second", p.b - of_a + g_.item());
        move(
            of_both,
            [&](const Int& i, const Int& behind) {
                return from.load(select(i < of_a, first, second) + behind);
            },
            [&](const Int& i, const values& each) { tile.store(i, each); });
        g_.barrier();
        merge_in_place(tile, {Int(0), of_a, of_both}, Int(g_.item() * plan_.each));
        copy_out(tile, array("keys", "values"), p.place, of_both);
    }

    const merge_plan plan_;
    const std::shared_ptr<const ir::function>& is_ahead_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_merge_sort(trace::recording& r, const parameter_list& given,
                                                     const merge_plan& plan,
                                                     const std::shared_ptr<const ir::function>& is_ahead) {
    return merge_recorder(r, given, plan, is_ahead).traced();
}

}  // namespace balm::array

// Traces the kernels of merges and set operations.

#include "algorithm/merge/combine_kernels.hpp"

#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/scan/look_back.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"
#include "ir/ir.hpp"

namespace balm::array {

std::size_t bytes_of_element(const combine_plan& plan) {
    std::size_t bytes = plan.values.empty() ? 0 : sizeof(std::int32_t);
    for (const trace::type& each : plan.keys.types) bytes += trace::size_of(each);
    return bytes;
}

namespace {

using block::run;
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

class combine_recorder {
public:
    combine_recorder(trace::recording& r, const parameter_list& given, const combine_plan& plan,
                     const comparison& is_ahead)
        : plan_(plan),
          order_(plan_.keys, is_ahead),
          r_(r),
          given_(given),
          g_({plan.group, true, plan.has_sub_groups}) {}

    std::shared_ptr<const ir::function> traced() {
        switch (plan_.stage) {
            case combine_stage::split: split(); break;
            case combine_stage::count: plan_.on_item() ? count_of_item() : count_of_group(); break;
            case combine_stage::move: plan_.on_item() ? move_of_item() : move_of_group(); break;
            case combine_stage::sweep: sweep_results(); break;
        }
        return r_.finish(nullptr);
    }

private:
    // ---- what is given

    Index given(parameter_name name) const { return Index(given_[name]); }
    block::arrays arrays(const char* word, std::size_t count) const {
        values pointers;
        for (std::size_t k = 0; k < count; ++k) pointers.push_back(given_[{word, k}]);
        return block::arrays(std::move(pointers));
    }
    block::arrays keys(const char* word) const { return arrays(word, plan_.keys.types.size()); }
    block::arrays payload(const char* word) const { return arrays(word, plan_.values.size()); }
    /// Keys, followed by values.
    block::arrays elements_of(const char* word, const char* with_values) const {
        values pointers;
        for (std::size_t k = 0; k < plan_.keys.types.size(); ++k) pointers.push_back(given_[{word, k}]);
        if (plan_.moves())
            for (std::size_t k = 0; k < plan_.values.size(); ++k)
                pointers.push_back(given_[{with_values, k}]);
        return block::arrays(std::move(pointers));
    }
    run<Index> first() const { return {elements_of("a_keys", "a_values"), Index(0), given("a_size")}; }
    run<Index> second() const { return {elements_of("b_keys", "b_values"), Index(0), given("b_size")}; }

    // ---- tiles

    block::consumed<Index> ahead_of_place(const Index& place) const {
        const run<Index> a{keys("a_keys"), Index(0), given("a_size")},
            b{keys("b_keys"), Index(0), given("b_size")};
        const Index count = named("count", min(place, a.end + b.end));
        if (plan_.what) return block::balanced_path(order_.in_memory(), a, b, count);
        const Index of_first = block::merge_path(order_.in_memory(), a, b, count);
        return {of_first, count - of_first};
    }
    Ptr<std::int64_t> splits() const { return Ptr<std::int64_t>(given_["splits"]); }
    Ptr<std::int64_t> counts() const { return Ptr<std::int64_t>(given_["counts"]); }

    void split() const {
        const Index tile = named("tile", global_id(0));
        IF (tile <= given("tiles")) {
            const block::consumed<Index> ahead = ahead_of_place(tile * given("tile_size"));
            splits()[2 * tile] = ahead.first;
            splits()[2 * tile + 1] = ahead.second;
        }
    }
    /// The elements of both arrays that form a tile.
    struct piece {
        Index tile, a, a_end, b, b_end;
    };
    piece own_piece() const {
        const Index tile = named("tile", group_id(0));
        if (plan_.on_item()) {
            const Index place = named("place", tile * given("tile_size"));
            return bounded(tile, ahead_of_place(place), ahead_of_place(place + given("tile_size")));
        }
        const auto ahead = [&](const Index& k) {
            return block::consumed<Index>{Index(splits()[2 * k]), Index(splits()[2 * k + 1])};
        };
        return bounded(tile, ahead(tile), ahead(tile + 1));
    }
    /// Limits a piece to the elements that a tile has room for, even if arrays are not sorted.
    piece bounded(const Index& tile, const block::consumed<Index>& begin,
                  const block::consumed<Index>& end) const {
        const Index room = given("tile_size") + (plan_.what ? 1 : 0), none(0);
        const Index of_a = named("of_a", min(max(end.first - begin.first, none), room)),
                    of_b = named("of_b", min(max(end.second - begin.second, none), room - of_a));
        return {tile, begin.first, begin.first + of_a, begin.second, begin.second + of_b};
    }
    /// The zero after the count of the last tile becomes the total when the counts are scanned.
    void store_count(const Index& tile, const Index& count) const {
        counts()[tile] = count;
        IF (tile == 0) {
            counts()[given("tiles")] = std::int64_t{0};
        }
    }

    // ---- CPUs: a work-item has a tile

    void count_of_item() const {
        const piece p = own_piece();
        Index count = named("results", 0);
        block::walk_sets(*plan_.what, order_.in_memory(), {keys("a_keys"), p.a, p.a_end},
                         {keys("b_keys"), p.b, p.b_end},
                         [&](const values&, const Bool& is_kept) { count += select(is_kept, 1, 0); });
        store_count(p.tile, count);
    }
    void move_of_item() const {
        const piece p = own_piece();
        const block::arrays a = first().of, b = second().of, to = elements_of("keys", "values");
        if (!plan_.what)
            return block::merge(order_.in_memory(), {a, p.a, p.a_end}, {b, p.b, p.b_end}, to, p.a + p.b);
        Index place = named("place", Index(counts()[p.tile]));
        // Stores every element at the position of the next result, so that no branch depends on what is kept.
        // The position after the tile's last result belongs to another tile, or is not written.
        const Index next = counts()[p.tile + 1],
                    limit = named("limit", plan_.is_bounded ? min(next, given("room")) : next);
        block::walk_sets(*plan_.what, order_.in_memory(), {a, p.a, p.a_end}, {b, p.b, p.b_end},
                         [&](const values& own, const Bool& is_kept) {
                             IF (place < limit) {
                                 to.store(place, own);
                             }
                             place += select(is_kept, 1, 0);
                         });
    }

    // ---- GPUs: a group has a tile

    int tile_size() const { return static_cast<int>(plan_.group) * plan_.each; }
    /// A tile has one element more if it would divide a pair; merges read ahead (block::merge_in_place).
    int room() const { return tile_size() + (plan_.what ? 1 : plan_.each); }
    Int group_size() const { return Int(static_cast<int>(plan_.group)); }
    Int first_of_item() const { return g_.item() * plan_.each; }
    bool has_positions() const { return plan_.moves() && !plan_.values.empty(); }
    block::arrays memory_of_tile() const {
        block::types list = order_.types();
        if (has_positions()) list.push_back(scalar::i32);
        return g_.shared("tile", list, static_cast<std::size_t>(room()));
    }
    /// Loads both pieces, one after the other, each element with its position if there are values.
    block::runs_of_tile load(const piece& p, const block::arrays& tile) const {
        const Int of_a = named("of_a", cast<int>(p.a_end - p.a)),
                  of_b = named("of_b", cast<int>(p.b_end - p.b));
        load_piece(tile, Int(0), keys("a_keys"), p.a, of_a);
        load_piece(tile, of_a, keys("b_keys"), p.b, of_b);
        g_.barrier();
        return {Int(0), of_a, named("of_both", of_a + of_b)};
    }
    void load_piece(const block::arrays& tile, const Int& place, const block::arrays& from,
                    const Index& begin, const Int& count) const {
        for (Int i : named("i", range(g_.item(), count, group_size()))) {
            values own = order_.numbers_of(from.load(begin + i));
            if (has_positions()) own.push_back(block::node_of(place + i));
            tile.store(place + i, own);
        }
    }
    /// Stores the tile's elements at the positions from `begin` on.
    void give(const block::arrays& tile, const piece& p, const block::runs_of_tile& in, const Index& begin,
              const Int& count) const {
        for (Int i : named("i", range(g_.item(), count, group_size()))) {
            const values own = tile.load(i);
            const Index place = named("place", begin + i);
            where_there_is_room(place, [&] {
                keys("keys").store(place, order_.keys_of(own));
                if (has_positions()) give_values(Int(own.back()), p, in, place);
            });
        }
    }
    void give_values(const Int& position, const piece& p, const block::runs_of_tile& in,
                     const Index& place) const {
        const block::arrays to = payload("values");
        IF (position < in.middle) {
            to.store(place, payload("a_values").load(p.a + position));
        }
        ELSE { to.store(place, payload("b_values").load(p.b + (position - in.middle))); }
    }
    template <class F>
    void where_there_is_room(const Index& place, F&& store) const {
        if (!plan_.is_bounded) return store();
        IF (place < given("room")) {
            store();
        }
    }

    void move_of_group() const {
        const block::arrays tile = memory_of_tile();
        if (plan_.what) return move_results(tile);
        const piece p = own_piece();
        const block::runs_of_tile in = load(p, tile);
        block::merge_in_place(g_, order_.of_numbers(), tile, in, first_of_item(), plan_.each);
        give(tile, p, in, p.a + p.b, in.end);
    }

    std::vector<block::set_element> share(const block::arrays& tile, const block::runs_of_tile& in) const {
        return block::set_share(*plan_.what, order_.of_numbers(), tile, room(), in, first_of_item(),
                                plan_.each);
    }
    static Int kept_in(const std::vector<block::set_element>& list) {
        Int count = named("kept", 0);
        for (const block::set_element& e : list) count += select(e.is_kept, 1, 0);
        return count;
    }
    void count_of_group() const {
        const block::arrays tile = memory_of_tile();
        const block::arrays shared = g_.shared("counts_of_items", {scalar::i32}, plan_.group);
        const piece p = own_piece();
        const block::runs_of_tile in = load(p, tile);
        const Int count = kept_in(share(tile, in));
        const values total = block::reduce(g_, block::sums(scalar::i32), {block::node_of(count)}, shared);
        IF (g_.item() == 0) {
            store_count(p.tile, cast<std::int64_t>(Int(total[0])));
        }
    }
    /// Moves the results of the tile to its front. Calls with_total(their number) once it is known, which is
    /// also returned; local memory is visible after the next barrier.
    template <class F>
    Int collect(const block::arrays& tile, const block::arrays& shared, const block::runs_of_tile& in,
                F&& with_total) const {
        const std::vector<block::set_element> list = share(tile, in);
        values total;
        const values ahead = block::scan_exclusive(g_, block::sums(scalar::i32),
                                                   {block::node_of(kept_in(list))}, shared, &total);
        with_total(Int(total[0]));
        g_.barrier();
        Int place = named("own_place", Int(ahead[0]));
        for (const block::set_element& e : list) {
            IF (e.is_kept) {
                tile.store(place, e.own);
            }
            place += select(e.is_kept, 1, 0);
        }
        return Int(total[0]);
    }
    block::arrays memory_of_counts() const {
        return g_.shared("counts_of_items", {scalar::i32}, block::scan_room(g_));
    }
    void move_results(const block::arrays& tile) const {
        const block::arrays shared = memory_of_counts();
        const piece p = own_piece();
        const block::runs_of_tile in = load(p, tile);
        const Int total = collect(tile, shared, in, [](const Int&) {});
        g_.barrier();
        give(tile, p, in, Index(counts()[p.tile]), total);
    }
    void sweep_results() const {
        const block::arrays tile = memory_of_tile(), shared = memory_of_counts();
        const block::operation adds = block::sums(scalar::i64);
        const look_back others(g_, adds, {scalar::i64}, given_, bits_of_set_counts);
        const piece p = own_piece();
        const block::runs_of_tile in = load(p, tile);
        const auto as_count = [](const Int& n) { return values{block::node_of(cast<std::int64_t>(n))}; };
        const Int total = collect(tile, shared, in,
                                  [&](const Int& known) { others.announce_total(p.tile, as_count(known)); });
        const Index ahead(others.ahead_of(p.tile, as_count(total), adds.identity())[0]);
        give(tile, p, in, ahead, total);
        IF (g_.item() == 0 && p.tile + 1 == given("tiles")) {
            const Ptr<std::int64_t> count(given_["count"]);
            count[0] = ahead + cast<std::int64_t>(total);
        }
    }

    const combine_plan plan_;
    const key_comparison order_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_combination(trace::recording& r, const parameter_list& given,
                                                      const combine_plan& plan, const comparison& is_ahead) {
    return combine_recorder(r, given, plan, is_ahead).traced();
}

}  // namespace balm::array

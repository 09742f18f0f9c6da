// Traces the kernels of compactions.

#include "algorithm/compact/compact_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "algorithm/block/exchange.hpp"
#include "algorithm/block/flag_ranks.hpp"
#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/element_of_run.hpp"
#include "algorithm/reduce/slots.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/sync.hpp"
#include "ir/ir.hpp"

namespace balm::array {

block::types compact_state(const compact_plan& plan, const operations& does) {
    if (plan.has_lengths) return {plan.count_type(), plan.count_type()};
    block::types made{plan.count_type()};
    made.insert(made.end(), does.state().begin(), does.state().end());
    return made;
}

namespace {

using namespace balm::dsl;
using block::arrangement;
using block::elements;
using block::types;
using block::values;
using trace::node;

values part_of(const values& list, std::size_t first, std::size_t count) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
values behind(const values& list, std::size_t first) { return part_of(list, first, list.size() - first); }

/// The types of values as kernels compute with them.
types in_kernels(std::span<const trace::type> list) {
    types made(list.begin(), list.end());
    for (trace::type& each : made)
        if (each.is_scalar() && each.element == scalar::f16) each.element = scalar::f32;
    return made;
}

/// Some value of any type, for elements that are not there.
node any_value(const trace::type& type) {
    if (type.aggregate != 0)
        return trace::load(trace::object(type, 1, space::private_, true, {}), block::node_of(0), {});
    const node zero = trace::constant(type.element, 0);
    return type.lanes == 1 ? zero : trace::compose(type, &zero, 1);
}

Index index_of(const node& count) { return Index(trace::convert(count, scalar::i64)); }
Int int_of(const node& count) { return Int(trace::convert(count, scalar::i32)); }

/// Counts add up; of where runs begin the last one remains.
block::operation of_beginnings(scalar count) {
    const auto combined = [count](const values& first, const values& second) {
        const node is_none = trace::apply(builtin::equal, second[0], trace::constant(count, 0));
        return values{trace::apply(builtin::add, first[0], second[0]),
                      trace::select(is_none, first[1], second[1])};
    };
    return {combined, [count] { return values(2, trace::constant(count, 0)); }};
}
/// Counts add up; of the reductions those of the last run remain.
block::operation of_runs(const operations& does, scalar count) {
    const auto combined = [does, count](const values& first, const values& second) {
        values made{trace::apply(builtin::add, first[0], second[0])};
        if (does.state().empty()) return made;
        const values own = behind(second, 1), result = block::variables("of_run", own);
        IF (Bool(trace::apply(builtin::equal, second[0], trace::constant(count, 0)))) {
            block::write(result, does.combined(behind(first, 1), own, true));
        }
        return block::joined(std::move(made), block::read(result));
    };
    const auto identity = [does, count] {
        return block::joined({trace::constant(count, 0)}, does.identity());
    };
    return {combined, identity};
}

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const compact_plan& plan,
             const compaction& how, const operations& does, const tape& p, const layout& leaves)
        : plan_(plan),
          how_(how),
          does_(does),
          has_reductions_(!how.reduced.empty()),
          combines_(plan.has_lengths ? of_beginnings(plan.count_type()) : of_runs(does, plan.count_type())),
          state_(compact_state(plan, does)),
          kept_(in_kernels(how.kept)),
          moved_(kept_),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given),
          g_({plan.group, plan.is_exact, plan.has_sub_groups}) {
        const types& results = does.results();
        if (plan.has_lengths)
            moved_.push_back(scalar::i32);  // the place in the tile
        else
            moved_.insert(moved_.end(), results.begin(), results.end());
    }

    std::shared_ptr<const ir::function> traced() {
        if (plan_.reads_elements())
            r_.describe(fmt::format("{}", fmt::join(describe(p_, leaves_, given_), ", ")));
        if (plan_.stage == compact_stage::parts)
            record_parts();
        else if (plan_.on_item())
            record_chunk_of_item();
        else if (has_reductions_ && !plan_.has_lengths)
            plan_.stage == compact_stage::look_back ? record_runs_with_look_back() : record_runs_of_group();
        else
            record_selection();
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }
    slots parts() const { return {given_["parts"], state_, 0}; }

    // ---- elements

    /// An element: whether it is selected, what is kept, the state of its reductions.
    struct element {
        Bool is_selected;
        values kept, state;
    };
    values recorded(const coordinates& place) const { return record(p_, leaves_, given_, place); }
    values recorded(const Index& i) const { return recorded(coordinates(block::node_of(i))); }
    /// Element k of a run of a tile.
    values recorded(const Index& run, int k) const {
        return recorded(element_of_run(run, k, plan_.tile.length, plan_.loads_vectors));
    }
    Index index(const Index& run, int k) const { return run * plan_.tile.length + k; }
    values keys_of(const values& list) const { return part_of(list, 0, plan_.keys); }
    values kept_of(const values& list) const {
        values made;
        for (std::size_t k = 0; k < plan_.kept; ++k) made.push_back(as_element(list[k], kept_[k]));
        return made;
    }
    values state_of(const values& list, const Index& i) const {
        if (!has_reductions_) return {};
        if (plan_.has_lengths) return {as_count(i)};
        return does_.of_element(part_of(list, plan_.kept, how_.reduced.size()), block::node_of(i));
    }
    /// The element i > 0, or any one that has a condition.
    element at(const Index& i) const {
        const values list = recorded(i);
        if (plan_.of_runs())
            return {begins(keys_of(recorded(i - 1)), list), kept_of(list), state_of(list, i)};
        return {Bool(trace::convert(list[plan_.kept], scalar::boolean)), kept_of(list), {}};
    }
    element first_of_all() const {
        const values list = recorded(Index(0));
        return {Bool(true), kept_of(list), state_of(list, Index(0))};
    }
    /// Any element, given the values of itself and the one before it.
    element element_of(const Index& i, const values& list, const values& before) const {
        if (!plan_.of_runs())
            return {Bool(trace::convert(list[plan_.kept], scalar::boolean)), kept_of(list), {}};
        return {begins(keys_of(before), list) || i == 0, kept_of(list), state_of(list, i)};
    }
    values before(const Index& i) const {
        return plan_.of_runs() ? recorded(max(i - 1, std::int64_t{0})) : values{};
    }
    element at_any(const Index& i) const { return element_of(i, recorded(i), before(i)); }
    /// The same of a run: only its first element looks beyond it.
    element at_any(const Index& run, int k) const {
        const Index i = index(run, k);
        const values list = recorded(run, k);
        if (k == 0 || !plan_.of_runs()) return element_of(i, list, k == 0 ? before(i) : values{});
        return {begins(keys_of(recorded(run, k - 1)), list), kept_of(list), state_of(list, i)};
    }
    Bool begins(const values& before, const values& list) const {
        const values own = keys_of(list);
        if (how_.same != nullptr) {
            values operands = block::joined(before, own);
            for (std::size_t k = 0; k < operands.size(); ++k)
                operands[k] = as_element(operands[k], how_.same->parameters[k].what);
            return !Bool(trace::call(how_.same, operands.data(), operands.size(), {}));
        }
        node differs = trace::apply(builtin::not_equal, before[0], own[0]);
        for (std::size_t k = 1; k < own.size(); ++k)
            differs =
                trace::apply(builtin::bit_or, differs, trace::apply(builtin::not_equal, before[k], own[k]));
        return Bool(differs);
    }
    node as_count(const Index& i) const { return trace::convert(block::node_of(i), plan_.count_type()); }
    node counted(const Bool& is_selected) const {
        return trace::convert(block::node_of(is_selected), plan_.count_type());
    }

    // ---- results

    /// Stores where the targets have room.
    template <class F>
    void where_there_is_room(const Index& place, F&& store) const {
        if (!plan_.is_bounded) return store();
        IF (place < given("room")) {
            store();
        }
    }
    void store_at(const char* target, std::size_t number, const Index& place, const node& value) const {
        const node pointer = given_[{target, number}];
        trace::store(pointer, block::node_of(place), as_element(value, trace::pointee(pointer.type)), {});
    }
    void keep(const Index& place, const values& kept) const {
        for (std::size_t k = 0; k < kept.size(); ++k) store_at("kept", k, place, kept[k]);
    }
    void give_results(const Index& place, const values& results) const {
        for (std::size_t k = 0; k < results.size(); ++k) store_at("result", k, place, results[k]);
    }
    /// Of a run's state, and where it ends.
    values results_of(const values& state, const Index& end) const {
        return plan_.has_lengths ? values{length_of(state[0], end)} : does_.result(state);
    }
    node length_of(const node& begin, const Index& end) const {
        return trace::apply(builtin::sub, as_count(end), begin);
    }
    /// What remains when the state of all elements is known.
    void finish(const values& total) const {
        if (plan_.gives_count())
            trace::store(given_["count"], block::node_of(0), trace::convert(total[0], scalar::i64), {});
        if (!has_reductions_) return;
        const Index last = index_of(total[0]) - 1;
        where_there_is_room(last, [&] { give_results(last, results_of(behind(total, 1), given("n"))); });
    }

    // ---- totals of chunks, scanned by one group

    void record_parts() const {
        const block::arrays shared = g_.shared("totals", state_, block::scan_room(g_));
        const Index count = given("chunks"), own = named("own", (count + (g_.items() - 1)) / g_.items());
        const Index begin = g_.is_single() ? Index(0) : named("begin", min(g_.item() * own, count)),
                    end = g_.is_single() ? Index(count) : named("end", min(begin + own, count));
        const values sum = block::variables("sum", combines_.identity());
        for (Index k : named("k", range(begin, end))) block::accumulate(combines_, sum, parts().load(k));
        values total;
        const values before = block::scan_exclusive(g_, combines_, block::read(sum), shared, &total);
        block::write(sum, before);
        for (Index k : named("k", range(begin, end))) {
            const values next = combines_.combined(block::read(sum), parts().load(k));
            parts().store(k, block::read(sum));
            block::write(sum, next);
        }
        IF (g_.item() == 0) {
            parts().store(count, total);
            trace::store(given_["count"], block::node_of(0), trace::convert(total[0], scalar::i64), {});
        }
    }

    struct chunk {
        Index number, begin, end;
    };
    chunk own_chunk() const {
        const Index number = named("chunk", group_id(0)), n = given("n");
        if (plan_.stage == compact_stage::whole) return {number, Index(0), n};
        const Index begin = named("begin", number * given("chunk_size"));
        return {number, begin, named("end", min(begin + given("chunk_size"), n))};
    }
    values ahead_of(const chunk& own) const {
        if (plan_.stage != compact_stage::chunks) return combines_.identity();
        return parts().load(own.number);
    }

    // ---- CPUs: a work-item has a chunk

    void record_chunk_of_item() const {
        const chunk own = own_chunk();
        if (plan_.stage == compact_stage::chunk_totals) return record_total_of_item(own);
        if (has_reductions_)
            record_runs_of_item(own);
        else
            record_moves_of_item(own);
    }
    /// The first element of all begins a run; the loops over others look at the one before.
    Index first_with_one_before(const chunk& own) const {
        return plan_.of_runs() ? named("first", max(own.begin, std::int64_t{1})) : Index(own.begin);
    }
    /// How many elements of the chunk are selected: a loop that compilers vectorise.
    Int count_of_item(const chunk& own) const {
        Int count = named("count", 0);
        if (plan_.of_runs()) count = select(own.begin == 0, 1, 0);
        for (Index i : named("i", range(first_with_one_before(own), own.end)))
            count += select(at(i).is_selected, 1, 0);
        return count;
    }
    void record_total_of_item(const chunk& own) const {
        const Int count = count_of_item(own);
        values total{trace::convert(block::node_of(count), plan_.count_type())};
        if (has_reductions_) total = block::joined(std::move(total), last_run_of_item(own));
        parts().store(own.number, total);
    }
    /// The reductions of the chunk's last run, as far as it lies in the chunk.
    values last_run_of_item(const chunk& own) const {
        Index last = named("last", own.end - 1);
        WHILE (last > own.begin && !at(last).is_selected) last -= 1;
        const values sum = block::variables("sum", state_of(recorded(last), last));
        if (plan_.has_lengths) return block::read(sum);
        for (Index i : named("i", range(last + 1, own.end)))
            block::write(sum, does_.combined(block::read(sum), state_of(recorded(i), i), true));
        return block::read(sum);
    }

    /// Every element is stored at the place of the next one that is selected: no branch depends on what is
    /// selected. Behind the last place of the chunk nothing is stored: another chunk has it, or the target
    /// keeps it.
    void record_moves_of_item(const chunk& own) const {
        Index place = named("place", index_of(ahead_of(own)[0]));
        if (plan_.is_partition) return record_partition_of_item(own, place);
        const Index limit = limit_of_item(own);
        if (plan_.of_runs()) {
            IF (own.begin == 0) {
                where_there_is_room(Index(0), [&] { keep(Index(0), first_of_all().kept); });
                place = 1;
            }
        }
        for (Index i : named("i", range(first_with_one_before(own), own.end))) {
            const element e = at(i);
            IF (place < limit) {
                keep(place, e.kept);
            }
            place += select(e.is_selected, 1, 0);
        }
        if (plan_.gives_count()) finish({block::node_of(place)});
    }
    /// Where the places of the chunk end.
    Index limit_of_item(const chunk& own) const {
        const Index end = plan_.stage == compact_stage::whole ? cast<std::int64_t>(count_of_item(own))
                                                              : index_of(parts().load(own.number + 1)[0]);
        return named("limit", plan_.is_bounded ? min(end, given("room")) : end);
    }
    void record_partition_of_item(const chunk& own, Index& place) const {
        const Index selected = named("selected", plan_.stage == compact_stage::whole
                                                     ? cast<std::int64_t>(count_of_item(own))
                                                     : index_of(parts().load(given("chunks"))[0]));
        for (Index i : named("i", range(own.begin, own.end))) {
            const element e = at(i);
            const Index to = select(e.is_selected, place, selected + i - place);
            where_there_is_room(to, [&] { keep(to, e.kept); });
            place += select(e.is_selected, 1, 0);
        }
        if (plan_.gives_count()) finish({block::node_of(place)});
    }

    void record_runs_of_item(const chunk& own) const {
        const values ahead = ahead_of(own);
        Index place = named("place", index_of(ahead[0]));
        const values sum = block::variables("sum", behind(ahead, 1));
        IF (own.begin == 0) {
            const element e = first_of_all();
            where_there_is_room(Index(0), [&] { keep(Index(0), e.kept); });
            place = 1;
            block::write(sum, e.state);
        }
        for (Index i : named("i", range(first_with_one_before(own), own.end))) {
            const element e = at(i);
            const auto begin_run = [&] {
                where_there_is_room(place - 1,
                                    [&] { give_results(place - 1, results_of(block::read(sum), i)); });
                where_there_is_room(place, [&] { keep(place, e.kept); });
                place += 1;
                block::write(sum, e.state);
            };
            if (plan_.has_lengths) {
                IF (e.is_selected) {
                    begin_run();
                }
            } else {
                IF (e.is_selected) {
                    begin_run();
                }
                ELSE { block::write(sum, does_.combined(block::read(sum), e.state, true)); }
            }
        }
        IF (own.end == given("n")) {
            finish(block::joined({block::node_of(place)}, block::read(sum)));
        }
    }

    // ---- GPUs: a group has a chunk, tile by tile, or one tile

    std::size_t room_of_tile() const { return block::exchange_room(g_, moved_, plan_.tile.elements()); }
    block::arrays memory_of_moved() const {
        return block::room(block::room::bytes_of(moved_, room_of_tile())).of(moved_, room_of_tile());
    }
    Int slot(const Int& place) const {
        return block::exchange_slot(g_, moved_, plan_.tile.elements(), place);
    }
    Int size_of_tile(const Index& begin, const Index& end) const {
        return named("size", cast<int>(min(end - begin, Index(g_.items()) * plan_.tile.elements())));
    }
    /// The group's chunk, tile by tile; tile(begin, end of the chunk, what is ahead) gives the tile's total.
    template <class F>
    void record_chunk_of_group(F&& tile) const {
        const chunk own = own_chunk();
        const values sum = block::variables("sum", ahead_of(own));
        const Index step = named("step", Index(g_.items()) * plan_.tile.elements());
        for (Index begin : named("begin", range(own.begin, own.end, step))) {
            const values ahead = block::read(sum);
            const values total = tile(begin, own.end, ahead);
            g_.barrier();
            block::write(sum, combines_.combined(ahead, total));
        }
        IF (g_.item() == 0) {
            if (plan_.stage == compact_stage::chunk_totals) {
                parts().store(own.number, block::read(sum));
            } else {
                IF (own.end == given("n")) {
                    finish(block::read(sum));
                }
            }
        }
    }
    /// One tile; tile(its number, begin, end of all) gives what is ahead and the tile's total.
    template <class F>
    void record_tile_with_look_back(const look_back& others, F&& tile) const {
        const Index number = others.next_tile();
        const Index begin = named("begin", number * (Index(g_.items()) * plan_.tile.elements())),
                    end = given("n");
        const auto [ahead, total] = tile(number, begin, end);
        IF (g_.item() == 0 && begin + Index(g_.items()) * plan_.tile.elements() >= end) {
            finish(combines_.combined(ahead, total));
        }
    }

    // ---- selections: a bit for each element says whether it is selected

    struct selected_tile {
        elements kept;
        block::flag_ranks ranks;
    };
    block::arrays memory_of_ranks() const {
        return g_.shared("ranks", block::flag_ranks::words(plan_.tile), block::scan_room(g_));
    }
    selected_tile loaded_selection(const block::arrays& shared, const Index& begin, const Index& end) const {
        values nothing;
        for (const trace::type& each : kept_) nothing.push_back(any_value(each));
        elements kept;
        for (int e = 0; e < plan_.tile.elements(); ++e) kept.push_back(block::variables("element", nothing));
        UInt flags = named("flags", 0u);
        const auto take = [&](const element& each, int e) {
            block::write(kept[static_cast<std::size_t>(e)], each.kept);
            flags |= select(each.is_selected, 1u << e, 0u);
        };
        const auto take_runs = [&](const block::run_numbers& run) {
            for (int e = 0; e < plan_.tile.elements(); ++e)
                take(at_any(run[e / plan_.tile.length], e % plan_.tile.length), e);
        };
        block::visit(g_, plan_.tile, begin, end, take_runs,
                     [&](const Index& i, int e) { take(at_any(i), e); });
        for (values& each : kept) each = block::read(each);
        return {std::move(kept), block::flag_ranks(g_, plan_.tile, flags, shared)};
    }
    /// Selected elements meet in local memory, from where neighbours are stored by neighbours; for partitions
    /// the others follow them.
    void exchange(const selected_tile& of, const block::arrays& shared, const Int& size) const {
        const block::positions at(g_, arrangement::sub_group_striped, plan_.tile.count);
        for (int e = 0; e < plan_.tile.elements(); ++e) {
            const values& kept = of.kept[static_cast<std::size_t>(e)];
            const Int rank = of.ranks.ahead_of(e);
            const Int position = at[e / plan_.tile.length] * plan_.tile.length + e % plan_.tile.length;
            if (plan_.is_partition) {
                const Int other = of.ranks.total() + position - rank;
                IF (position < size) {
                    shared.store(slot(select(of.ranks.is_flagged(e), rank, other)), kept);
                }
            } else {
                IF (of.ranks.is_flagged(e)) {
                    shared.store(slot(rank),
                                 plan_.has_lengths ? block::joined(kept, {block::node_of(position)}) : kept);
                }
            }
        }
    }
    /// What a tile has in total, whose selected elements have met there.
    values total_of_selection(const block::arrays& shared, const Index& begin, const Int& chosen) const {
        const node count = trace::convert(block::node_of(chosen), plan_.count_type());
        if (!plan_.has_lengths) return {count};
        const values last = block::variables("last_begin", {as_count(begin)});
        IF (chosen > 0) {
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
            IF (k > 0) {
                block::write(before, {begin_of_run(shared, begin, k - 1)});
            }
            const Index end = begin + cast<std::int64_t>(Int(moved.back()));
            IF (place > 0) {
                where_there_is_room(
                    place - 1, [&] { give_results(place - 1, {length_of(block::read(before)[0], end)}); });
            }
        }
    }
    /// Stores what has met there, given what is ahead of the tile.
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
    /// Elements wait in local memory, not in registers, for what is ahead of the tile.
    void record_selection_with_look_back() const {
        const block::arrays moved = memory_of_moved(), ranks = memory_of_ranks();
        const look_back others(g_, combines_, state_, given_, plan_.count_bits());
        record_tile_with_look_back(others, [&](const Index& number, const Index& begin, const Index& end) {
            const selected_tile of = loaded_selection(ranks, begin, end);
            const Int chosen = named("chosen", of.ranks.total());
            const auto meet = [&] { exchange(of, moved, chosen); };
            if (plan_.has_lengths) {  // where the last run begins is known when elements have met
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

    // ---- reductions of runs

    /// An element as tiles have it: whether it is selected, what is kept, the state of its reductions.
    values nothing() const {
        values made{trace::constant(scalar::boolean, 0)};
        for (const trace::type& each : kept_) made.push_back(any_value(each));
        return block::joined(std::move(made), does_.identity());
    }
    static values loaded(const element& e) {
        return block::joined(block::joined({block::node_of(e.is_selected)}, e.kept), e.state);
    }
    /// What is scanned of such an element.
    values scanned(const values& loaded) const {
        return block::joined({trace::convert(loaded[0], plan_.count_type())}, behind(loaded, 1 + plan_.kept));
    }

    /// The elements of a work-item, in runs, and what is ahead of each run in the tile.
    struct tile_of_runs {
        elements list;
        block::striped_scan in_tile;
        values total;
    };
    block::arrays memory_of_totals() const {
        return g_.shared("totals", block::side_by_side(state_, static_cast<std::size_t>(plan_.tile.count)),
                         block::scan_room(g_));
    }
    tile_of_runs loaded_runs(const block::arrays& shared, const Index& begin, const Index& end) const {
        tile_of_runs made;
        made.list = block::load(
            g_, plan_.tile, begin, end, [&](const Index& run, int k) { return loaded(at_any(run, k)); },
            [&](const Index& i) { return loaded(at_any(i)); }, nothing());
        elements runs;
        for (auto from = made.list.begin(); from != made.list.end(); from += plan_.tile.length) {
            elements run;
            for (int k = 0; k < plan_.tile.length; ++k) run.push_back(scanned(*(from + k)));
            runs.push_back(block::reduce(combines_, run));
        }
        made.in_tile = block::scan_exclusive_striped(g_, combines_, runs, shared, &made.total);
        return made;
    }

    /// Calls f(element, what is ahead of it), given what is ahead of the tile.
    template <class F>
    void for_each(const tile_of_runs& of, const values& ahead, F&& f) const {
        const values ahead_of_sub_group = combines_.combined(ahead, of.in_tile.ahead);
        auto next = of.list.begin();
        for (const values& before : of.in_tile.before) {
            values exclusive = combines_.combined(ahead_of_sub_group, before);
            for (int k = 0; k < plan_.tile.length; ++k, ++next) {
                f(*next, exclusive);
                exclusive = combines_.combined(exclusive, scanned(*next));
            }
        }
    }
    /// First elements of runs meet in local memory, each with the result of the run that ends before it.
    void store_runs(const block::arrays& shared, const tile_of_runs& of, const values& ahead) const {
        const Int chosen = named("chosen", int_of(of.total[0]));
        for_each(of, ahead, [&](const values& each, const values& before) {
            IF (Bool(each[0])) {
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
            IF (place > 0) {
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
        record_tile_with_look_back(others, [&](const Index& number, const Index& begin, const Index& end) {
            const tile_of_runs of = loaded_runs(totals, begin, end);
            others.announce_total(number, of.total);
            const values ahead = others.ahead_of(number, of.total, combines_.identity());
            store_runs(moved, of, ahead);
            return std::pair(ahead, of.total);
        });
    }

    void record_selection() const {
        switch (plan_.stage) {
            case compact_stage::look_back: return record_selection_with_look_back();
            case compact_stage::chunk_totals: return record_count_of_group();
            default: return record_selection_of_group();
        }
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
        IF (g_.item() == 0) {
            parts().store(own.number, total);
        }
    }

    /// How many are selected, and where the last one stands.
    block::operation counts() const {
        block::operation adds = block::sums(plan_.count_type());
        if (!plan_.has_lengths) return adds;
        const auto combined = [](const values& a, const values& b) {
            return values{trace::apply(builtin::add, a[0], b[0]), trace::apply(builtin::max, a[1], b[1])};
        };
        return {combined, combines_.identity};
    }

    const compact_plan plan_;
    const compaction& how_;
    const operations& does_;
    const bool has_reductions_;
    const block::operation combines_;
    const types state_, kept_;
    types moved_;  ///< of what moves through local memory
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

bool are_lengths(const compaction& how, const tape& p) {
    const step& last = p.steps[p.steps.size() - 1];
    return how.reduced.size() == 1 && how.reduced[0].kind == reduction_kind::count &&
           last.what == step::kind::constant && last.type == trace::type(scalar::boolean) && last.bits != 0;
}

std::size_t bytes_of_element(const compact_plan& plan, const compaction& how, const operations& does) {
    std::size_t bytes = 0;
    for (const trace::type& each : in_kernels(how.kept)) bytes += trace::size_of(each);
    if (plan.has_lengths) return bytes + sizeof(std::int32_t);
    for (const trace::type& each : does.state()) bytes += trace::size_of(each);
    return bytes;
}

std::shared_ptr<const ir::function> trace_compaction(trace::recording& r, const parameter_list& given,
                                                     const compact_plan& plan, const compaction& how,
                                                     const operations& does, const tape& p,
                                                     const layout& leaves) {
    return recorder(r, given, plan, how, does, p, leaves).traced();
}

}  // namespace balm::array

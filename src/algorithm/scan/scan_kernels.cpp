// Traces the kernels of scans.

#include "algorithm/scan/scan_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "algorithm/block/reduce.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/element_of_run.hpp"
#include "algorithm/neighbouring_keys.hpp"
#include "algorithm/reduce/slots.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"

namespace balm::array {

block::types scan_state(const operations& does, bool has_flag) {
    block::types made = does.state();
    if (has_flag) made.insert(made.begin(), scalar::boolean);
    return made;
}

namespace {

using namespace balm::dsl;
using block::elements;
using block::values;

/// Elements whose keys are compared with those before them, by a loop that compilers vectorise, before the
/// results are looked at.
constexpr std::int64_t searched_at_once = 64;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const scan_plan& plan, const operations& does,
             const std::shared_ptr<const ir::function>& same, const tape& p, const layout& leaves)
        : plan_(plan),
          does_(does),
          same_(same),
          has_flag_(plan.of_parts() ? plan.has_flagged_totals() : plan.has_flagged_elements()),
          combines_(has_flag_ ? block::segmented(does.operation(true)) : does.operation(true)),
          state_(scan_state(does, has_flag_)),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given),
          g_({plan.tiles.group, plan.tiles.is_exact, plan.tiles.has_sub_groups}) {}

    std::shared_ptr<const ir::function> traced() {
        if (!plan_.of_parts()) r_.describe(fmt::format("{}", fmt::join(describe(p_, leaves_, given_), ", ")));
        const bool has_rows = plan_.stage == scan_stage::whole_rows;
        if (plan_.tiles.on_item())
            has_rows ? record_rows_of_item() : record_chunk_of_item();
        else if (has_rows)
            record_tile_of_rows();
        else if (plan_.stage == scan_stage::look_back)
            record_tile_with_look_back();
        else
            record_chunk_of_group();
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }

    // ---- values in and out

    slots parts() const { return {given_["parts"], scan_state(does_, plan_.has_flagged_totals()), 0}; }

    /// The initial value or the carry as a state; the identity if there is neither.
    values init() const {
        std::vector<initial_value> first(does_.results().size());
        for (std::size_t k = 0; k < first.size(); ++k)
            if (plan_.has_carry)
                first[k].value = trace::load(given_[{"carry", k}], block::node_of(0), {});
            else if (plan_.starts_from_value(k))
                first[k] = {given_[{"init", k}], plan_.has_init(k)};
        return does_.beginning_with(first);
    }
    static values flagged(const trace::node& flag, const values& state) {
        return block::joined({flag}, state);
    }
    /// The state before the first element.
    values start() const { return has_flag_ ? flagged(trace::constant(scalar::boolean, 0), init()) : init(); }
    values at(const Index& i) const {
        if (plan_.stage == scan_stage::total_of_parts) return parts().load(i + given("first_part"));
        if (plan_.stage == scan_stage::parts) return parts().load(i);
        const values one = recorded(coordinates(block::node_of(i)));
        const auto begins = [&] { return plan_.keys > 0 ? begins_segment(one) : begins_row(i, 0); };
        return state_of(one, i, begins);
    }
    /// Element k of a run of contiguous elements.
    values at_run(const Index& number, int k) const {
        const Index first = number * plan_.tiles.tile.length, i = first + k;
        if (plan_.of_parts()) return at(i);
        const auto of_run = [&](int at) {
            return recorded(element_of_run(number, at, plan_.tiles.tile.length, plan_.tiles.loads_vectors));
        };
        const values one = of_run(k);
        return state_of(one, i, [&] {
            if (plan_.keys == 0) return begins_row(first, k);
            return k == 0 ? begins_segment(one)
                          : block::node_of(differ(keys_of(of_run(k - 1)), keys_of(one), same_));
        });
    }
    values recorded(const coordinates& place) const { return record(p_, leaves_, given_, place); }
    values keys_of(const values& recorded) const {
        return {recorded.end() - static_cast<std::ptrdiff_t>(plan_.keys), recorded.end()};
    }
    /// This value compares an element's keys with those before it, which it loads by themselves.
    trace::node begins_segment(const values& recorded) const {
        return recorded[recorded.size() - plan_.keys - 1];
    }
    /// The state of an element with these values.
    template <class Begins>
    values state_of(const values& recorded, const Index& i, Begins&& begins_here) const {
        values own = does_.of_element(recorded, block::node_of(i));
        if (!has_flag_) return own;
        const trace::node begins = begins_here();
        if (plan_.inits == 0) return flagged(begins, own);
        const values made = block::variables("first", own);
        IF (Bool(begins)) {
            block::write(made, does_.combined(init(), own, true));
        }
        return flagged(begins, block::read(made));
    }
    /// Whether the element `away` positions after `first`, the first of its run, begins a row. A run is no
    /// longer than a row. In a tile of whole rows, positions count from the tile's first element, so that 32
    /// bits suffice.
    trace::node begins_row(const Index& first, int away) const {
        const bool is_tile = plan_.stage == scan_stage::whole_rows;
        const Index from = is_tile ? first - group_id(0) * given("elements_of_tile") : Index(first);
        const auto begins = [away](const auto& place, const auto& row) {
            const auto in_row = place % row;
            return block::node_of(away == 0 ? in_row == 0 : in_row + away == row);
        };
        if (is_tile || plan_.is_narrow) return begins(cast<unsigned>(from), cast<unsigned>(given("row")));
        return begins(from, given("row"));
    }
    /// The result of an element, given the state before it and the state that includes it.
    values result(const values& own, const values& exclusive, const values& inclusive) const {
        if (plan_.of_parts()) return exclusive;
        if (plan_.is_inclusive) return does_.result(without_flag(inclusive));
        if (!has_flag_) return does_.result(exclusive);
        const values made = block::variables("result", without_flag(exclusive));
        IF (Bool(own[0])) {
            block::write(made, init());
        }
        return does_.result(block::read(made));
    }
    values without_flag(const values& state) const {
        return has_flag_ ? values(state.begin() + 1, state.end()) : state;
    }
    void give(const Index& i, const values& made) const {
        if (plan_.of_parts()) return parts().store(i, made);
        const Index place = plan_.is_cut ? i + given("first_out") : Index(i);
        for (std::size_t k = 0; k < made.size(); ++k)
            trace::store(given_[{"out", k}], block::node_of(place), made[k], {});
    }
    /// Stores the total of all elements as the carry of the next scan.
    void carry_out(const values& total) const {
        const values made = does_.result(total);
        for (std::size_t k = 0; k < made.size(); ++k)
            trace::store(given_[{plan_.stage == scan_stage::look_back ? "carried" : "carry", k}],
                         block::node_of(0), made[k], {});
    }

    // ---- the chunk of a work-item or group

    struct chunk {
        Index number, begin, end;
        std::optional<Bool> begins_row = {};  ///< if chunks are parts of rows
    };
    bool is_of_row() const { return plan_.rows == row_form::apart && !plan_.of_parts(); }
    chunk own_chunk() const {
        const Index number = named("chunk", group_id(0)), n = given("n");
        if (plan_.of_parts() || plan_.stage == scan_stage::whole) return {number, Index(0), n};
        if (is_of_row()) {
            const Index row = named("row_number", number / given("chunks_of_row"));
            const Index part = named("part", number - row * given("chunks_of_row"));
            const Index end = named("end_of_row", (row + 1) * given("row"));
            const Index begin = named("begin", end - given("row") + part * given("chunk_size"));
            return {number, begin, named("end", min(begin + given("chunk_size"), end)), part == 0};
        }
        const Index begin = named("begin", number * given("chunk_size"));
        return {number, begin, named("end", min(begin + given("chunk_size"), n))};
    }
    values ahead_of(const chunk& own) const {
        const bool is_chunk = plan_.stage == scan_stage::chunks;
        if (is_of_row()) {
            const values ahead = block::variables("ahead", init());
            IF (!*own.begins_row) {
                block::write(ahead, is_chunk ? behind_flag(parts().load(own.number + given("first_part")))
                                             : does_.identity());
            }
            return block::read(ahead);
        }
        if (plan_.makes_totals()) return combines_.identity();
        return is_chunk ? parts().load(own.number + given("first_part")) : start();
    }
    static values behind_flag(const values& state) { return {state.begin() + 1, state.end()}; }
    void give_total(const chunk& own, const values& total) const {
        if (plan_.stage == scan_stage::chunk_totals)
            parts().store(own.number + given("first_part"),
                          is_of_row() ? flagged(block::node_of(*own.begins_row), total) : total);
        else if (plan_.stage == scan_stage::total_of_parts)
            slots(given_["total"], state_, 0).store(Index(0), total);
        else if (plan_.carries_out())
            carry_out(total);
    }

    // ---- CPUs: one chunk per work-item

    void record_chunk_of_item() const {
        const chunk own = own_chunk();
        if (plan_.keys > 0 && !plan_.of_parts()) return record_segments_of_item(own);
        const values sum = block::variables("sum", ahead_of(own));
        take_all(sum, own.begin, own.end);
        give_total(own, block::read(sum));
    }
    void record_rows_of_item() const {
        const Index first = named("first_row", group_id(0) * given("rows_of_item"));
        const Index last = named("last_row", min(first + given("rows_of_item"), given("n") / given("row")));
        for (Index row : named("row_number", range(first, last))) {
            const values sum = block::variables("sum", init());
            const Index begin = named("begin", row * given("row"));
            take_all(sum, begin, begin + given("row"));
        }
    }
    void take_all(const values& sum, const Index& begin, const Index& end) const {
        Index whole = named("whole", begin + (end - begin) / plan_.at_once * plan_.at_once);
        for (Index from : named("from", range(begin, whole, plan_.at_once))) take(sum, from, plan_.at_once);
        for (Index i : named("i", range(whole, end))) take(sum, i, 1);
    }
    /// Combines some elements with each other first. The loop-carried dependency is then one operation, whose
    /// latency would otherwise be exposed for each element.
    void take(const values& sum, const Index& from, int count) const {
        elements list;
        for (int k = 0; k < count; ++k) list.push_back(at(from + k));
        const values ahead = block::read(sum);
        if (plan_.makes_totals())
            return block::write(sum, combines_.combined(ahead, block::reduce(combines_, list)));
        const elements local = block::scan_inclusive(combines_, list);
        values exclusive = ahead;
        for (int k = 0; k < count; ++k) {
            const auto number = static_cast<std::size_t>(k);
            const values inclusive = combines_.combined(ahead, local[number]);
            give(from + k, result(list[number], exclusive, inclusive));
            exclusive = inclusive;
        }
        block::write(sum, exclusive);
    }

    // ---- CPUs: the same by key. Where no segment begins among some elements, they are scanned as if there
    // were no segments.

    void record_segments_of_item(const chunk& own) const {
        if (plan_.makes_totals()) return give_total(own, last_segment(own));
        const values sum = block::variables("sum", without_flag(ahead_of(own)));
        take_in_segment(sum, own.begin, Bool(begins_segment(recorded_at(own.begin))));
        const Index first = named("first", own.begin + 1);
        const int count = plan_.compared_at_once;
        Index whole = count == 1 ? Index(first) : named("whole", first + (own.end - first) / count * count);
        if (count > 1)
            for (Index from : named("from", range(first, whole, count))) take_segments(sum, from);
        for (Index i : named("i", range(whole, own.end))) take_in_segment(sum, i, differs(i));
    }
    values recorded_at(const Index& i) const { return recorded(coordinates(block::node_of(i))); }
    /// Whether the keys of an element differ from those before it, which are in the chunk.
    Bool differs(const Index& i) const {
        return differ(keys_of(recorded_at(i - 1)), keys_of(recorded_at(i)), same_);
    }
    values element(const Index& i) const { return does_.of_element(recorded_at(i), block::node_of(i)); }
    /// The state of a segment's first element.
    values first_of_segment(const values& own) const {
        return plan_.inits == 0 ? own : does_.combined(init(), own, true);
    }
    void take_in_segment(const values& sum, const Index& i, const Bool& begins) const {
        const values own = element(i), ahead = block::read(sum);
        const values now = block::variables("now", own);
        IF (begins) {
            block::write(now, first_of_segment(own));
        }
        ELSE { block::write(now, does_.combined(ahead, own, true)); }
        values made = block::read(now);
        if (!plan_.is_inclusive) {
            const values before = block::variables("before", ahead);
            IF (begins) {
                block::write(before, init());
            }
            made = block::read(before);
        }
        give(i, does_.result(made));
        block::write(sum, block::read(now));
    }
    void take_segments(const values& sum, const Index& from) const {
        Bool begins = differs(from);
        for (int k = 1; k < plan_.compared_at_once; ++k) begins = begins | differs(from + k);
        IF (begins) {
            for (Index i : named("i", range(from, from + plan_.compared_at_once)))
                take_in_segment(sum, i, differs(i));
        }
        ELSE {
            for (int k = 0; k < plan_.compared_at_once; k += plan_.at_once)
                take_of_segment(sum, from + k, plan_.at_once);
        }
    }
    /// As take(), for elements of one segment.
    void take_of_segment(const values& sum, const Index& from, int count) const {
        elements list;
        for (int k = 0; k < count; ++k) list.push_back(element(from + k));
        const elements local = block::scan_inclusive(does_.operation(true), list);
        const values ahead = block::read(sum);
        values exclusive = ahead;
        for (int k = 0; k < count; ++k) {
            const values inclusive = does_.combined(ahead, local[static_cast<std::size_t>(k)], true);
            give(from + k, does_.result(plan_.is_inclusive ? inclusive : exclusive));
            exclusive = inclusive;
        }
        block::write(sum, exclusive);
    }
    /// Whether a segment begins in the chunk, and the total since the last one began, which is searched from
    /// the end, so that only its elements are read.
    values last_segment(const chunk& own) const {
        Index first = named("first", own.begin + 1), last = named("last", own.begin + 0),
              to = named("to", own.end + 0);
        WHILE (to > first && last == own.begin) {
            const Index from = named("from", max(to - searched_at_once, first));
            for (Index i : named("i", range(from, to))) last = max(last, select(differs(i), i, own.begin));
            to = from;
        }
        const Bool begins = named("begins", last > own.begin || Bool(begins_segment(recorded_at(own.begin))));
        const values head = element(last), sum = block::variables("sum", head);
        if (plan_.inits != 0) {
            IF (begins) {
                block::write(sum, first_of_segment(head));
            }
        }
        const block::operation in_order = does_.operation(true);
        first = last + 1;
        const int count = plan_.at_once;
        Index whole = count == 1 ? Index(first) : named("whole", first + (own.end - first) / count * count);
        if (count > 1)
            for (Index from : named("from", range(first, whole, count))) {
                elements list;
                for (int k = 0; k < count; ++k) list.push_back(element(from + k));
                block::accumulate(in_order, sum, block::reduce(in_order, list));
            }
        for (Index i : named("i", range(whole, own.end))) block::accumulate(in_order, sum, element(i));
        return flagged(block::node_of(begins), block::read(sum));
    }

    // ---- GPUs: one chunk per group, tile by tile, or one tile

    block::arrays memory_of_totals() const {
        return g_.shared("totals",
                         block::side_by_side(state_, static_cast<std::size_t>(plan_.tiles.tile.count)),
                         block::scan_room(g_));
    }
    struct tile {
        elements list;
        elements runs;  ///< the total of each run
        Index begin, end;
    };
    tile loaded(const Index& begin, const Index& end) const {
        const auto of_run = [&](const Index& number, int k) { return at_run(number, k); };
        const auto at_each = [&](const Index& i) { return at(i); };
        tile made{block::load(g_, plan_.tiles.tile, begin, end, of_run, at_each, combines_.identity(),
                              test_of_end()),
                  {},
                  begin,
                  end};
        for (auto from = made.list.begin(); from != made.list.end(); from += plan_.tiles.tile.length)
            made.runs.push_back(block::reduce(combines_, {from, from + plan_.tiles.tile.length}));
        return made;
    }
    block::end_test test_of_end() const {
        return plan_.stage == scan_stage::whole_rows ? block::end_test::of_runs : block::end_test::of_tile;
    }
    /// Scans the runs' totals: what precedes each run within the tile.
    block::striped_scan scanned(const tile& own, const block::arrays& totals, values* total) const {
        return block::scan_exclusive_striped(g_, combines_, own.runs, totals, total);
    }
    /// Stores the results, given the state before the tile and, within the tile, before each run.
    void store(const tile& own, const values& ahead, const block::striped_scan& in_tile) const {
        const values ahead_of_sub_group = combines_.combined(ahead, in_tile.ahead);
        elements made;
        auto next = own.list.begin();
        for (const values& of_run : in_tile.before) {
            values exclusive = combines_.combined(ahead_of_sub_group, of_run);
            for (int k = 0; k < plan_.tiles.tile.length; ++k, ++next) {
                const values inclusive = combines_.combined(exclusive, *next);
                made.push_back(result(*next, exclusive, inclusive));
                exclusive = inclusive;
            }
        }
        const auto give_each = [&](const Index& number, const elements& run) {
            for (int k = 0; k < plan_.tiles.tile.length; ++k)
                give(number * plan_.tiles.tile.length + k, run[static_cast<std::size_t>(k)]);
        };
        const auto give_vector = [&](const Index& number, const elements& run) {
            for (std::size_t k = 0; k < run[0].size(); ++k)
                block::store_vector(given_[{"out", k}], number, run, k);
        };
        const bool in_vectors = plan_.stores_vectors && plan_.gives_results();
        block::store(
            g_, plan_.tiles.tile, made, own.begin, own.end,
            [&](const Index& number, const elements& run) {
                in_vectors ? give_vector(number, run) : give_each(number, run);
            },
            [&](const Index& i, const values& one) { give(i, one); }, test_of_end());
    }

    void record_chunk_of_group() const {
        const block::arrays totals = memory_of_totals();
        const chunk own = own_chunk();
        const values sum = block::variables("sum", ahead_of(own));
        const Index step = named("step", Index(g_.items()) * plan_.tiles.tile.elements());
        for (Index begin : named("begin", range(own.begin, own.end, step))) {
            const tile part = loaded(begin, own.end);
            values total;
            const block::striped_scan before = scanned(part, totals, &total);
            const values ahead = block::read(sum);
            if (!plan_.makes_totals()) store(part, ahead, before);
            block::write(sum, combines_.combined(ahead, total));
            g_.barrier();
        }
        IF (g_.item() == 0) {
            give_total(own, block::read(sum));
        }
    }

    void record_tile_with_look_back() const {
        const block::arrays totals = memory_of_totals();
        const look_back others(g_, combines_, state_, given_);
        const Index number = look_back::own_tile();
        const Index begin = named("begin", number * (Index(g_.items()) * plan_.tiles.tile.elements()));
        const tile own = loaded(begin, given("n"));
        values total;
        const block::striped_scan before = scanned(own, totals, &total);
        others.announce_total(number, total);
        const values ahead = others.ahead_of(number, total, start());
        store(own, ahead, before);
        if (!plan_.carries_out()) return;
        IF (g_.item() == 0 && begin + Index(g_.items()) * plan_.tiles.tile.elements() >= given("n")) {
            carry_out(combines_.combined(ahead, total));
        }
    }
    /// A tile of whole rows does not wait for other tiles.
    void record_tile_of_rows() const {
        const block::arrays totals = memory_of_totals();
        const Index begin = named("begin", group_id(0) * given("elements_of_tile"));
        const tile own = loaded(begin, named("end", min(begin + given("elements_of_tile"), given("n"))));
        values total;
        const block::striped_scan before = scanned(own, totals, &total);
        store(own, start(), before);
    }

    const scan_plan plan_;
    const operations& does_;
    const std::shared_ptr<const ir::function>& same_;
    const bool has_flag_;  ///< the state says whether a segment begins
    const block::operation combines_;
    const block::types state_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_scan(trace::recording& r, const parameter_list& given,
                                               const scan_plan& plan, const operations& does,
                                               const std::shared_ptr<const ir::function>& same, const tape& p,
                                               const layout& leaves) {
    return recorder(r, given, plan, does, same, p, leaves).traced();
}

}  // namespace balm::array

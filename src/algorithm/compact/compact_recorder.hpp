#pragma once
// The base of all compaction kernels: records the elements, with the selection and the kept values of each,
// the scanned state, the chunks and the stores of results. The kernels of work-items and of tiles derive from
// it.

#include <utility>

#include "algorithm/block/group.hpp"
#include "algorithm/compact/compact_kernels.hpp"
#include "algorithm/element_of_run.hpp"
#include "algorithm/neighbouring_keys.hpp"
#include "algorithm/reduce/slots.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "ir/ir.hpp"

namespace balm::array::compacting {

using namespace balm::dsl;
using block::arrangement;
using block::elements;
using block::types;
using block::values;
using trace::node;

inline values part_of(const values& list, std::size_t first, std::size_t count) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}
inline values behind(const values& list, std::size_t first) {
    return part_of(list, first, list.size() - first);
}

/// The types in which kernels compute these values.
inline types in_kernels(std::span<const trace::type> list) {
    types made(list.begin(), list.end());
    for (trace::type& each : made)
        if (each.is_scalar() && each.element == scalar::f16) each.element = scalar::f32;
    return made;
}

/// An arbitrary value of a type, for elements that do not exist.
inline node any_value(const trace::type& type) {
    if (type.aggregate != 0)
        return trace::load(trace::object(type, 1, space::private_, true, {}), block::node_of(0), {});
    const node zero = trace::constant(type.element, 0);
    return type.lanes == 1 ? zero : trace::compose(type, &zero, 1);
}

inline Index index_of(const node& count) { return Index(trace::convert(count, scalar::i64)); }
inline Int int_of(const node& count) { return Int(trace::convert(count, scalar::i32)); }

/// Adds counts, and keeps the position of the last run.
inline block::operation of_beginnings(scalar count) {
    const auto combined = [count](const values& first, const values& second) {
        const node is_none = trace::apply(builtin::equal, second[0], trace::constant(count, 0));
        return values{trace::apply(builtin::add, first[0], second[0]),
                      trace::select(is_none, first[1], second[1])};
    };
    return {combined, [count] { return values(2, trace::constant(count, 0)); }};
}
/// Adds counts, and keeps the reductions of the last run.
inline block::operation of_runs(const operations& does, scalar count) {
    const auto combined = [does, count](const values& first, const values& second) {
        values made{trace::apply(builtin::add, first[0], second[0])};
        if (does.state().empty()) return made;
        const values own = behind(second, 1), result = block::variables("of_run", own);
        BALM_IF (Bool(trace::apply(builtin::equal, second[0], trace::constant(count, 0)))) {
            block::write(result, does.combined(behind(first, 1), own, true));
        }
        return block::joined(std::move(made), block::read(result));
    };
    const auto identity = [does, count] {
        return block::joined({trace::constant(count, 0)}, does.identity());
    };
    return {combined, identity};
}

class compact_recorder {
public:
    compact_recorder(trace::recording& r, const parameter_list& given, const compact_plan& plan,
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
          g_({plan.tiles.group, plan.tiles.is_exact, plan.tiles.has_sub_groups}) {
        const types& results = does.results();
        if (plan.has_lengths)
            moved_.push_back(scalar::i32);  // the position in the tile
        else
            moved_.insert(moved_.end(), results.begin(), results.end());
    }
    compact_recorder(const compact_recorder&) = delete;

protected:
    Index given(parameter_name name) const { return Index(given_[name]); }
    slots parts() const { return {given_["parts"], state_, 0}; }

    // ---- elements

    /// An element: whether it is selected, its kept values, the state of its reductions.
    struct element {
        Bool is_selected;
        values kept, state;
    };
    values recorded(const coordinates& place) const { return record(p_, leaves_, given_, place); }
    values recorded(const Index& i) const { return recorded(coordinates(block::node_of(i))); }
    /// Element k of a run of a tile.
    values recorded(const Index& run, int k) const {
        return recorded(element_of_run(run, k, plan_.tiles.tile.length, plan_.tiles.loads_vectors));
    }
    Index index(const Index& run, int k) const { return run * plan_.tiles.tile.length + k; }
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
    /// Element i; if keys delimit runs, i > 0.
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
    /// Any element, given its values and those of the element before it.
    element element_of(const Index& i, const values& list, const values& before) const {
        if (!plan_.of_runs())
            return {Bool(trace::convert(list[plan_.kept], scalar::boolean)), kept_of(list), {}};
        return {begins(keys_of(before), list) || i == 0, kept_of(list), state_of(list, i)};
    }
    values before(const Index& i) const {
        return plan_.of_runs() ? recorded(max(i - 1, std::int64_t{0})) : values{};
    }
    element at_any(const Index& i) const { return element_of(i, recorded(i), before(i)); }
    /// The same for element k of a run: only the first one reads outside of the run.
    element at_any(const Index& run, int k) const {
        const Index i = index(run, k);
        const values list = recorded(run, k);
        if (k == 0 || !plan_.of_runs()) return element_of(i, list, k == 0 ? before(i) : values{});
        return {begins(keys_of(recorded(run, k - 1)), list), kept_of(list), state_of(list, i)};
    }
    Bool begins(const values& before, const values& list) const {
        return differ(before, keys_of(list), how_.same);
    }
    node as_count(const Index& i) const { return trace::convert(block::node_of(i), plan_.count_type()); }
    node counted(const Bool& is_selected) const {
        return trace::convert(block::node_of(is_selected), plan_.count_type());
    }

    // ---- results

    /// Stores if the targets have room.
    template <class F>
    void where_there_is_room(const Index& place, F&& store) const {
        if (!plan_.is_bounded) return store();
        BALM_IF (place < given("room")) {
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
    /// The results of a run, given its state and its end.
    values results_of(const values& state, const Index& end) const {
        return plan_.has_lengths ? values{length_of(state[0], end)} : does_.result(state);
    }
    node length_of(const node& begin, const Index& end) const {
        return trace::apply(builtin::sub, as_count(end), begin);
    }
    /// Stores the count and the results of the last run, given the state of all elements.
    void finish(const values& total) const {
        if (plan_.gives_count())
            trace::store(given_["count"], block::node_of(0), trace::convert(total[0], scalar::i64), {});
        if (!has_reductions_) return;
        const Index last = index_of(total[0]) - 1;
        where_there_is_room(last, [&] { give_results(last, results_of(behind(total, 1), given("n"))); });
    }

    // ---- chunks

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

    const compact_plan plan_;
    const compaction& how_;
    const operations& does_;
    const bool has_reductions_;
    const block::operation combines_;
    const types state_, kept_;
    types moved_;  ///< of the values that move through local memory
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace balm::array::compacting

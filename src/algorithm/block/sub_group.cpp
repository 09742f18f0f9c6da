#include "algorithm/block/sub_group.hpp"

#include "balm/dsl/control.hpp"
#include "ir/passes/aggregate.hpp"

namespace balm::block {

using namespace dsl;
using trace::node;
using trace::sub_group_op;

namespace {

node moved(sub_group_op what, const node& value, const Int& lane, const Int& last);

/// Moves a structure member by member, in a copy.
node moved_structure(sub_group_op what, const node& value, const Int& lane, const Int& last) {
    const trace::structure& of = ir::structure_of(value.type);
    const node copy = trace::object(value), start = node_of(0);
    for (std::uint32_t m = 0; m < of.member_count; ++m)
        for (std::uint32_t k = 0; k < of.members[m].count; ++k) {
            const node place =
                trace::offset(trace::member_of(copy, static_cast<int>(m)), node_of(static_cast<int>(k)));
            trace::store(place, start, moved(what, trace::load(place, start, {}), lane, last), {});
        }
    return trace::load(copy, start, {});
}
node moved_vector(sub_group_op what, const node& value, const Int& lane, const Int& last) {
    values each;
    for (std::uint64_t k = 0; k < value.type.lanes; ++k)
        each.push_back(moved(what, trace::swizzle(value, k, 1), lane, last));
    return trace::compose(value.type, each.data(), each.size());
}
node moved(sub_group_op what, const node& value, const Int& lane, const Int& last) {
    if (ir::is_structure(value.type)) return moved_structure(what, value, lane, last);
    if (value.type.lanes > 1) return moved_vector(what, value, lane, last);
    const node operands[] = {trace::convert(value, promote(value.type.element)), node_of(lane),
                             node_of(last)};
    return trace::convert(trace::sub_group(what, operands, 3, {}), value.type.element);
}

values of_lane(const group& g, const values& own, sub_group_op what, const Int& operand, const Int& from,
               const arrays& shared) {
    if (g.is_single()) return own;
    if (g.has_sub_groups()) {
        values made;
        for (const node& each : own) made.push_back(moved(what, each, operand, g.last()));
        return made;
    }
    shared.store(g.item(), own);
    local_barrier();
    return shared.load(g.first() + select(from >= 0 && from <= g.last(), from, g.lane()));
}

/// Stores `own` of each lane, and returns the lanes whose stored value satisfies `is_one`.
template <class F>
UInt lanes_where(const group& g, const node& own, const arrays& shared, F&& is_one) {
    shared.store(g.item(), {own});
    local_barrier();
    UInt found = named("lanes", 0u);
    for (Int k : named("k", range(g.last() + 1)))
        found |= select(is_one(shared.load(g.first() + k)[0]), UInt(1u) << k, 0u);
    return UInt(found);
}

}  // namespace

values shuffle(const group& g, const values& own, const Int& lane, const arrays& shared) {
    return of_lane(g, own, sub_group_op::shuffle, lane, lane, shared);
}
values shuffle_up(const group& g, const values& own, int distance, const arrays& shared) {
    return of_lane(g, own, sub_group_op::shuffle_up, Int(distance), g.lane() - distance, shared);
}
values shuffle_down(const group& g, const values& own, int distance, const arrays& shared) {
    return of_lane(g, own, sub_group_op::shuffle_down, Int(distance), g.lane() + distance, shared);
}

UInt ballot(const group& g, const Bool& condition, const arrays& shared) {
    if (g.is_single()) return UInt(select(condition, 1u, 0u));
    if (g.has_sub_groups()) return dsl::ballot(condition);
    return lanes_where(g, node_of(condition), shared, [](const node& other) { return Bool(other); });
}

UInt match(const group& g, const Int& label, int bits, const arrays& shared) {
    if (g.is_single()) return UInt(1u);
    if (!g.has_sub_groups())
        return lanes_where(g, node_of(label), shared, [&](const node& other) { return Int(other) == label; });
    const auto same_in = [&](int b) {
        const Bool is_set = (label >> b & 1) != 0;
        const UInt set = dsl::ballot(is_set);
        return UInt(select(is_set, set, ~set));
    };
    UInt same = same_in(0);
    for (int b = 1; b < bits; ++b) same = same & same_in(b);
    return g.has_whole_sub_groups() ? UInt(same) : same & ((UInt(2u) << g.last()) - 1u);
}

}  // namespace balm::block

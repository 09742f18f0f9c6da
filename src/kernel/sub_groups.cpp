// The functions that implement operations, and the pass over the IR that replaces the operations by calls and
// passes local memory to them. In both forms, a reduction combines in the order of a tree whose branches are
// 16, 8, 4, 2 and 1 lanes apart, a scan in that of Hillis and Steele (Data parallel algorithms, 1986): floats
// have the same bits on every device.

#include "kernel/sub_groups.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "balm/kernel.hpp"
#include "ir/passes/hidden_parameters.hpp"

namespace balm::kernels {

namespace {

using namespace dsl;
using ir::opcode;
using ir::sub_group_op;
using ir::value_id;
using traced_function = std::shared_ptr<const ir::function>;

/// The scalar types that can be exchanged, in the order of their parameters.
constexpr scalar exchange_types[] = {scalar::i32, scalar::u32, scalar::i64,
                                     scalar::u64, scalar::f32, scalar::f64};

bool has_type(const ir::function& f, scalar s) { return (f.exchanges >> static_cast<unsigned>(s) & 1) != 0; }

// ---- reductions and scans

enum class combination : std::uint8_t { add, min, max };
enum class extent_of : std::uint8_t { whole, inclusive, exclusive };

bool is_collective(sub_group_op what) { return what >= sub_group_op::reduce_add; }
int collective_number(sub_group_op what) {
    return static_cast<int>(what) - static_cast<int>(sub_group_op::reduce_add);
}
combination combination_of(sub_group_op what) {
    return static_cast<combination>(collective_number(what) % 3);
}
extent_of extent_in(sub_group_op what) { return static_cast<extent_of>(collective_number(what) / 3); }

template <class T>
Var<T> combined(combination how, const Var<T>& a, const Var<T>& b) {
    return how == combination::add ? Var<T>(a + b) : how == combination::min ? min(a, b) : max(a, b);
}
/// The identity of the combination.
template <class T>
T neutral(combination how) {
    using limits = std::numeric_limits<T>;
    if (how == combination::add) return T(0);
    if constexpr (std::floating_point<T>)
        return how == combination::min ? limits::infinity() : -limits::infinity();
    else
        return how == combination::min ? limits::max() : limits::lowest();
}

/// The position of the work-item in its sub-group.
struct lane_place {
    Int item = named("item", cast<int>(local_linear_id()));
    Int lane = named("lane", item&(lanes_of_sub_group - 1));
    Int first = named("first", item - lane);  ///< item of the sub-group's first lane
    /// The last present lane.
    Int last = named("last", min(cast<int>(local_linear_size()) - 1 - first, Int(lanes_of_sub_group - 1)));
};

std::string function_name(const char* prefix, sub_group_op what) {
    return std::string(prefix) + ir::to_string(what);
}

// ---- by shuffles

template <class T>
traced_function by_shuffles(sub_group_op what) {
    const combination how = combination_of(what);
    const extent_of extent = extent_in(what);
    auto body = [=](Var<T> value) {
        lane_place me;
        if (extent == extent_of::whole) {
            for (int distance = lanes_of_sub_group / 2; distance > 0; distance /= 2) {
                const Var<T> other = shuffle_down(value, distance);
                value = select(me.lane + distance <= me.last, combined(how, value, other), value);
            }
            return Var<T>(shuffle(value, 0));
        }
        for (int distance = 1; distance < lanes_of_sub_group; distance *= 2) {
            const Var<T> other = shuffle_up(value, distance);
            value = select(me.lane >= distance, combined(how, other, value), value);
        }
        if (extent == extent_of::inclusive) return Var<T>(value);
        const Var<T> before = shuffle_up(value, 1);
        return Var<T>(select(me.lane == 0, neutral<T>(how), before));
    };
    return balm::function(function_name("lanes_", what) + "(value)", body).function();
}

// ---- through local memory

template <class T>
traced_function emulated_shuffle(sub_group_op what) {
    auto body = [what](Local<T> room, Var<T> value, Int operand, Int last) {
        lane_place me;
        const Int by = operand & (lanes_of_sub_group - 1);
        const Int from = what == sub_group_op::shuffle        ? by
                         : what == sub_group_op::shuffle_up   ? me.lane - by
                         : what == sub_group_op::shuffle_down ? me.lane + by
                                                              : me.lane ^ by;
        room[me.item] = value;
        local_barrier();
        Var<T> result = room[me.first + select(from >= 0 && from <= last, from, me.lane)];
        local_barrier();
        return result;
    };
    return balm::function(function_name("emulated_", what) + "(room, value, lane, last)", body).function();
}

/// The first lane does the work of all lanes, in order.
template <class T>
traced_function emulated_collective(sub_group_op what) {
    const combination how = combination_of(what);
    const extent_of extent = extent_in(what);
    auto body = [=](Local<T> room, Var<T> value) {
        lane_place me;
        room[me.item] = value;
        local_barrier();
        IF (me.lane == 0) {
            Int distance = extent == extent_of::whole ? lanes_of_sub_group / 2 : 1;
            if (extent == extent_of::whole) {
                WHILE (distance > 0) {
                    for (Int k : range(me.item, me.item + min(distance, me.last + 1 - distance)))
                        room[k] = combined<T>(how, room[k], room[k + distance]);
                    distance /= 2;
                }
            } else {
                WHILE (distance <= me.last) {
                    for (Int k : range(me.item + me.last, me.item + distance - 1, -1))
                        room[k] = combined<T>(how, room[k - distance], room[k]);
                    distance *= 2;
                }
            }
        }
        local_barrier();
        Int at = extent == extent_of::whole       ? me.first
                 : extent == extent_of::inclusive ? me.item
                                                  : max(me.item - 1, me.first);
        Var<T> result = room[at];
        local_barrier();
        if (extent == extent_of::exclusive) result = select(me.lane == 0, neutral<T>(how), result);
        return result;
    };
    return balm::function(function_name("emulated_", what) + "(room, value)", body).function();
}

traced_function emulated_ballot() {
    auto body = [](Local<std::uint32_t> room, Bool condition) {
        lane_place me;
        room[me.item] = select(condition, UInt(1u) << me.lane, 0u);
        local_barrier();
        UInt lanes = 0u;
        for (Int k : range(me.first, me.first + me.last + 1)) lanes |= room[k];
        local_barrier();
        return UInt(lanes);
    };
    return balm::function("emulated_ballot(room, condition)", body).function();
}

traced_function emulated_barrier_count() {
    auto body = [](Local<std::uint32_t> room, Bool condition) {
        IF (local_linear_id() == 0) {
            room[0] = 0u;
        }
        local_barrier();
        IF (condition) {
            atomic_inc(room[0]);
        }
        barrier();
        Int count = cast<int>(room[0]);
        local_barrier();
        return count;
    };
    return balm::function("emulated_barrier_count(room, condition)", body).function();
}

// ---- the pass

template <class T>
traced_function trace_of(sub_group_op what, bool emulates) {
    if (!emulates) return by_shuffles<T>(what);
    return is_collective(what) ? emulated_collective<T>(what) : emulated_shuffle<T>(what);
}
traced_function trace_of(sub_group_op what, scalar s, bool emulates) {
    if (what == sub_group_op::ballot) return emulated_ballot();
    switch (s) {
        case scalar::i32: return trace_of<std::int32_t>(what, emulates);
        case scalar::u32: return trace_of<std::uint32_t>(what, emulates);
        case scalar::i64: return trace_of<std::int64_t>(what, emulates);
        case scalar::u64: return trace_of<std::uint64_t>(what, emulates);
        case scalar::f32: return trace_of<float>(what, emulates);
        default: return trace_of<double>(what, emulates);
    }
}

class sub_group_pass final : public ir::hidden_parameter_pass {
public:
    explicit sub_group_pass(bool emulates) : emulates_(emulates) {}

private:
    bool concerns(const ir::function& f) const override { return f.exchanges != 0; }
    std::vector<ir::parameter> parameters(const ir::function& f) const override {
        std::vector<ir::parameter> rooms;
        for (const scalar s : exchange_types) {
            if (!emulates_ || !has_type(f, s)) continue;
            ir::parameter p;
            p.what = ir::type(s, 1, space::local);
            p.use = ir::access::local;
            p.name = std::string("exchange_") + to_string(s);
            p.origin = origin_of(s);
            rooms.push_back(std::move(p));
        }
        return rooms;
    }
    void rewrite(ir::function& f, const ir::hidden_values& rooms) override {
        if (emulates_) require_whole_groups(f);
        for (const ir::block& b : f.blocks)
            for (const value_id v : b) {
                const ir::instruction& i = f.code[v];
                const bool counts = i.op == opcode::barrier && i.operand_count > 0;
                if (i.op == opcode::sub_group || counts) replace(f, v, rooms);
            }
    }
    static runtime::parameter_origin origin_of(scalar s) {
        return {runtime::origin::exchange, static_cast<std::uint16_t>(s)};
    }

    /// Replaces the operation by a call or a barrier, or keeps it.
    void replace(ir::function& f, value_id v, const ir::hidden_values& rooms) {
        const bool counts = f.code[v].op == opcode::barrier;
        const auto what = counts ? sub_group_op::barrier : static_cast<sub_group_op>(f.code[v].detail);
        if (!emulates_ && !is_collective(what)) return;
        ir::instruction changed = f.code[v];
        changed.detail = 0;
        if (!counts && what == sub_group_op::barrier) {
            changed.op = opcode::barrier;
            changed.bits = 3;
            f.code[v] = changed;
            return;
        }
        const scalar s = counts ? scalar::u32 : changed.result.element;
        std::vector<value_id> operands;
        if (emulates_) operands.push_back(rooms(origin_of(s)));
        for (const value_id o : f.operands_of(v)) operands.push_back(o);
        changed.op = opcode::call;
        changed.bits = ir::callee_number(f, counts ? counting_barrier() : function_for(what, s));
        f.code[v] = changed;
        f.set_operands(v, operands);
    }
    const traced_function& counting_barrier() {
        if (!count_) count_ = emulated_barrier_count();
        return count_;
    }
    const traced_function& function_for(sub_group_op what, scalar s) {
        traced_function& known = made_[{what, s}];
        if (!known) known = trace_of(what, s, emulates_);
        return known;
    }
    bool emulates_;
    std::map<std::pair<sub_group_op, scalar>, traced_function> made_;
    traced_function count_;
};

}  // namespace

ir::function write_out_sub_groups(const ir::function& kernel, const emit::features& has) {
    if (kernel.exchanges == 0) return kernel;
    return sub_group_pass(!has.has_sub_groups).apply(kernel);
}

}  // namespace balm::kernels

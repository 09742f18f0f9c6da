// Decides what has a vector form, and sets the lanes. The runtime pads memory
// to whole vectors (device_state::allocate), so that the last elements need no
// separate code, and no element's result depends on its position. What has no
// vector form beside functions that have one is computed lane by lane: loads at
// computed positions, calls, conversions. Lanes past the last element then
// compute that of the first lane again, because their own operands are padding.

#include "ir/lower/widen.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/loop_index.hpp"
#include "ir/lower/straight_body.hpp"

namespace balm::ir {

namespace {

/// Vector built-ins of PoCL 3.1 whose result in one lane depends on the other
/// lanes, and which Balm does not implement itself: powers are wrong beside a
/// subnormal element, fmod and remainder may never return. `balm selftest`
/// tries them all.
bool depends_on_neighbours(builtin what) {
    switch (what) {
        case builtin::half_powr:
        case builtin::native_powr:
        case builtin::fmod:
        case builtin::pown:
        case builtin::powr:
        case builtin::rootn:
        case builtin::remainder: return true;
        default: return false;
    }
}

/// The body of a loop, the values that vary from element to element, and those
/// that only determine where a call of four elements begins.
class body_view {
public:
    body_view(const function& f, value_id loop)
        : f_(f),
          loop_(loop),
          indices_(f, loop),
          varies_(f.code.size(), false),
          is_loaded_(f.code.size(), false),
          is_place_(f.code.size(), true) {
        varies_[loop] = true;
        for (value_id v : f.blocks[f.code[loop].blocks[0]]) {
            const auto operands = f.operands_of(v);
            const auto any_of = [&](const std::vector<bool>& have) {
                return std::any_of(operands.begin(), operands.end(),
                                   [&](value_id o) { return o != none && have[o]; });
            };
            const bool loads = f.code[v].op == opcode::load;
            varies_[v] = (loads && may_change(v)) || (any_of(varies_) && !is_same_in_lanes(v));
            is_loaded_[v] = loads || any_of(is_loaded_);
        }
        const block& body = f.blocks[f.code[loop].blocks[0]];
        std::for_each(body.rbegin(), body.rend(), [&](value_id v) { find_places(v); });
    }
    bool varies(value_id v) const { return v < varies_.size() && varies_[v]; }

    /// Whether v is the loop's variable without its lowest bits, in which the elements of a vector differ.
    bool is_same_in_lanes(value_id v) const {
        const instruction& i = f_.code[v];
        if (i.op != opcode::builtin || i.detail != static_cast<std::uint16_t>(builtin::shr)) return false;
        constexpr auto bits_of_lanes = static_cast<std::uint64_t>(std::countr_zero(most_lanes));
        const instruction& by = f_.code[f_.operand(v, 1)];
        return f_.operand(v, 0) == loop_ && by.op == opcode::constant && by.bits >= bits_of_lanes &&
               by.bits < 64;
    }

    /// Whether v is a call whose callee can compute four elements at once, at an
    /// index that is the loop's plus a multiple of four.
    bool is_call_of_four(value_id v) const {
        const instruction& i = f_.code[v];
        if (i.op != opcode::evaluate || f_.callees[i.bits]->of_four == nullptr) return false;
        const auto operands = f_.operands_of(v);
        const std::optional<index_sum> index = indices_.sum_of(operands[0]);
        const std::optional<index_sum> offset = index ? index->offset_from(loop_) : std::nullopt;
        return offset && offset->constant % 4 == 0 && indices_.is_in_fours(*offset) &&
               std::none_of(operands.begin() + 1, operands.end(), [&](value_id o) {
                   return varies(o) || (o < is_loaded_.size() && is_loaded_[o]);
               });
    }
    /// The index of such a call, as a sum over the loop.
    index_sum index_of_call(value_id v) const { return *indices_.sum_of(f_.operand(v, 0)); }
    /// Whether only the index of calls of four depends on v.
    bool is_place(value_id v) const { return is_place_[v]; }

    bool has_vector_form(value_id v) const {
        const instruction& i = f_.code[v];
        if (!is_plain(i.result)) return false;
        switch (i.op) {
            case opcode::constant: return true;
            case opcode::load: return !varies(v) || is_own_element(v);
            case opcode::store: return is_own_element(v) && is_whole(f_.operand(v, 2));
            case opcode::convert: return converts(v);
            case opcode::select: return !varies(v) || (varies(f_.operand(v, 0)) && is_number(v));
            case opcode::builtin: return !varies(v) || has_vector_row(v);
            case opcode::evaluate: return is_call_of_four(v);
            default: return false;
        }
    }

    /// Whether v can be computed lane by lane, each lane like the scalar.
    bool has_form_by_lane(value_id v) const {
        const instruction& i = f_.code[v];
        const auto operands = f_.operands_of(v);
        const auto has_lanes = [&](value_id o) {
            return !varies(o) || (is_plain(f_.code[o].result) && is_number(o));
        };
        if (!is_plain(i.result) || !is_number(v)) return false;
        if (!std::all_of(operands.begin(), operands.end(), has_lanes)) return false;
        switch (i.op) {
            case opcode::load: return !is_volatile(i) && !is_stored_to(v);
            case opcode::call: return f_.callees[i.bits]->only_reads;
            case opcode::evaluate:
            case opcode::convert:
            case opcode::select:
            case opcode::builtin: return true;
            default: return false;
        }
    }
    /// Whether v is a function on vectors, which a CPU's compiler would not
    /// vectorise in a loop of scalars.
    bool is_function(value_id v) const {
        if (f_.code[v].op != opcode::builtin || !varies(v) || !has_vector_form(v)) return false;
        switch (const auto what = static_cast<builtin>(f_.code[v].detail)) {
            case builtin::abs:
            case builtin::ceil:
            case builtin::floor:
            case builtin::rint:
            case builtin::sqrt:
            case builtin::trunc: return false;
            default: return is_floating(type_of(v)) && !is_one_instruction(what);
        }
    }
    /// Whether v, a load or store, accesses its parameter's memory in vectors.
    bool is_in_vectors(value_id v) const {
        const opcode op = f_.code[v].op;
        return op == opcode::store || (op == opcode::load && varies(v) && is_own_element(v));
    }

private:
    /// Whether a load at a position that is the same for all elements may return
    /// different values.
    bool may_change(value_id v) const { return is_volatile(f_.code[v]) || is_stored_to(v); }
    /// Whether the body stores to the memory from which v loads.
    bool is_stored_to(value_id v) const {
        const block& body = f_.blocks[f_.code[loop_].blocks[0]];
        const value_id root = root_of(f_, f_.operand(v, 0));
        return std::any_of(body.begin(), body.end(), [&](value_id other) {
            return f_.code[other].op == opcode::store && root_of(f_, f_.operand(other, 0)) == root;
        });
    }
    /// Must visit the users of v before v.
    void find_places(value_id v) {
        const instruction& i = f_.code[v];
        if (i.op == opcode::store || !varies(v)) is_place_[v] = false;
        const bool is_call = is_call_of_four(v);
        const auto operands = f_.operands_of(v);
        for (std::size_t k = 0; k < operands.size(); ++k)
            if (operands[k] != none && !(is_call && k == 0) && !(is_place_[v] && !is_call))
                is_place_[operands[k]] = false;
        if (is_call) is_place_[v] = false;
    }
    static bool is_plain(type t) { return t.is_scalar(); }
    /// Whether a load or store accesses a parameter of scalars at the loop's
    /// index.
    bool is_own_element(value_id v) const {
        const instruction& pointer = f_.code[f_.operand(v, 0)];
        return f_.operand(v, 1) == loop_ && pointer.op == opcode::parameter && !is_volatile(f_.code[v]) &&
               is_plain(pointee(pointer.result)) && pointer.result.element != scalar::f16;
    }
    scalar type_of(value_id v) const { return f_.code[v].result.element; }
    bool is_number(value_id v) const { return type_of(v) != scalar::boolean; }
    /// A uniform bool has another form than one in lanes.
    bool is_whole(value_id v) const { return is_number(v) || varies(v); }

    bool converts(value_id v) const {
        const scalar from = type_of(f_.operand(v, 0)), to = type_of(v);
        const bool saturates = is_floating(from) && is_integer(to);  // a helper function, for scalars
        return !varies(v) || !saturates;
    }
    bool has_vector_row(value_id v) const {
        const auto what = static_cast<builtin>(f_.code[v].detail);
        const builtin_info& row = info(what);
        const auto operands = f_.operands_of(v);
        const scalar type = type_of(operands[0]);
        if (!std::all_of(operands.begin(), operands.end(), [&](value_id o) { return is_whole(o); }))
            return false;
        if (row.takes == detail::rule::shift) return type_of(operands[1]) == type;
        return has_lanes_in_opencl(what, type);
    }

    const function& f_;
    value_id loop_;
    const loop_index indices_;
    std::vector<bool> varies_;
    std::vector<bool> is_loaded_;  ///< depends on memory
    std::vector<bool> is_place_;
};

/// Replaces a call for one element by calls of four elements, as many as the
/// lanes need.
class calls_of_four {
public:
    calls_of_four(function& f, value_id loop, value_id first_element, builder& to)
        : f_(f), at_first_(f, {&loop, 1}, {{loop, first_element}}), to_(to) {}

    void replace(value_id v, const index_sum& index, std::uint8_t lanes) {
        const type four(f_.code[v].result.element, 4);
        const std::uint64_t callee = add_callee(f_.callees[f_.code[v].bits]->of_four);
        const auto own = f_.operands_of(v);
        std::vector<value_id> operands(own.begin(), own.end());
        const value_id first = to_.make(opcode::convert, scalar::u64, {at_first_.value_of(index, to_)});
        std::vector<value_id> parts;
        for (std::uint64_t k = 0; k < lanes / 4u; ++k) {
            // Adds before it shifts: the index may wrap from -1 to 0.
            const value_id of_part =
                k == 0 ? first : to_.apply(builtin::add, first, constant(4 * k), scalar::u64);
            operands[0] = to_.apply(builtin::shr, of_part, constant(2), scalar::u64);
            parts.push_back(to_.make(opcode::evaluate, four, operands, 0, callee));
        }
        // The call becomes the result that its users read: the call of four, or
        // several composed.
        instruction& i = f_.code[v];
        i.result.lanes = lanes;
        if (parts.size() == 1) {
            i = f_.code[parts[0]];
            to_.made.back() = v;
            return;
        }
        i.op = opcode::compose;
        i.bits = 0;
        f_.set_operands(v, parts);
        to_.made.push_back(v);
    }

private:
    value_id constant(std::uint64_t bits) { return to_.constant(bits, scalar::u64); }
    /// The callee's number among those of the function, which it joins if it is
    /// new.
    std::uint64_t add_callee(const std::shared_ptr<const function>& callee) {
        const auto known = std::find(f_.callees.begin(), f_.callees.end(), callee);
        if (known != f_.callees.end()) return static_cast<std::uint64_t>(known - f_.callees.begin());
        f_.callees.push_back(callee);
        return f_.callees.size() - 1;
    }

    function& f_;
    const index_values at_first_;
    builder& to_;
};

/// Computes values lane by lane, in a body that is being widened.
class lane_by_lane {
public:
    lane_by_lane(function& f, value_id loop, value_id first_element, value_id indices, std::uint8_t lanes,
                 builder& to)
        : f_(f),
          loop_(loop),
          first_(first_element),
          count_(f.operand(loop, 0)),
          indices_(indices),
          lanes_(lanes),
          to_(to) {}

    /// v becomes the vector of its lanes. `varies(o)`: whether operand o has
    /// lanes.
    template <class Varies>
    void compute(value_id v, const Varies& varies) {
        const auto own = f_.operands_of(v);
        std::map<value_id, std::vector<value_id>> operands;
        for (const value_id o : std::vector<value_id>(own.begin(), own.end()))
            if (varies(o) && !operands.count(o)) operands.emplace(o, lanes_of(o));
        std::vector<value_id> parts;
        for (std::size_t k = 0; k < lanes_; ++k)
            parts.push_back(to_.copy(v, [&](value_id o) {
                const auto found = operands.find(o);
                return found == operands.end() ? o : found->second[k];
            }));
        instruction& i = f_.code[v];
        i.op = opcode::compose;
        i.detail = 0;
        i.bits = 0;
        i.result.lanes = lanes_;
        f_.set_operands(v, parts);
        to_.made.push_back(v);
    }

private:
    std::vector<value_id> lanes_of(value_id o) {
        const value_id whole = o == loop_ ? indices_ : o;
        const scalar element = f_.code[whole].result.element;
        const value_id first = o == loop_ ? first_ : lane(whole, 0, element);
        if (is_inside_ == none)
            is_inside_ = to_.make(opcode::builtin, type(scalar::boolean, lanes_), {indices_, count_},
                                  static_cast<std::uint16_t>(builtin::less));
        const value_id firsts = to_.make(opcode::broadcast, type(element, lanes_), {first});
        const value_id safe = to_.make(opcode::select, type(element, lanes_), {is_inside_, whole, firsts});
        std::vector<value_id> found{first};
        for (std::uint64_t k = 1; k < lanes_; ++k) found.push_back(lane(safe, k, element));
        return found;
    }
    value_id lane(value_id whole, std::uint64_t k, scalar element) {
        return to_.make(opcode::swizzle, element, {whole}, 0, k);
    }

    function& f_;
    const value_id loop_, first_, count_, indices_;
    const std::uint8_t lanes_;
    builder& to_;
    value_id is_inside_ = none;  ///< in lanes: the element exists
};

}  // namespace

bool has_lanes_in_opencl(builtin what, scalar type) {
    if (info(what).takes >= detail::rule::to_f32) return false;  // conversions of vectors have other names
    if (depends_on_neighbours(what)) return false;
    if (is_integer(type) && (what == builtin::div || what == builtin::rem || what == builtin::abs))
        return false;
    const std::string_view spelt = info(what).opencl;
    const bool by_kind =
        what == builtin::abs || what == builtin::min || what == builtin::max || what == builtin::clamp;
    return by_kind || spelt.empty() || spelt.back() != '!' || what == builtin::step;
}

bool has_own_lanes(builtin what, scalar type) {
    switch (what) {
        case builtin::sin:
        case builtin::cos:
        case builtin::tan:
        case builtin::pow:
        case builtin::half_sin:
        case builtin::half_cos:
        case builtin::half_tan:
        case builtin::native_sin:
        case builtin::native_cos:
        case builtin::native_tan:
        case builtin::step: return is_floating(type);
        default: return false;
    }
}

bool is_slow_in_loops(builtin what, scalar type) {
    if (!is_floating(type) || info(what).ulp == 0 || !has_lanes_in_opencl(what, type)) return false;
    switch (what) {  // PoCL 3.1 inlines these, or has no faster ones for vectors
        case builtin::acospi:
        case builtin::asinpi:
        case builtin::atanpi:
        case builtin::cospi:
        case builtin::exp:
        case builtin::log2:
        case builtin::rsqrt:
        case builtin::sinpi:
        case builtin::sqrt:
        case builtin::tanh:
        case builtin::tgamma: return false;
        default: return info(what).symbol == nullptr;
    }
}

std::uint8_t lanes_for(const function& f, value_id loop) {
    const block& body = f.blocks[f.code[loop].blocks[0]];
    const body_view view(f, loop);
    std::size_t widest = 4;
    bool has_function = false, is_whole = true;
    for (value_id v : body) {
        has_function = has_function || view.is_function(v);
        if (!view.has_vector_form(v)) {
            if (!view.has_form_by_lane(v)) return 1;
            is_whole = false;
            widest = std::max(widest, size_of(f.code[v].result.element));
            continue;
        }
        if (view.is_place(v) || (f.code[v].op != opcode::store && !view.varies(v))) continue;
        const bool uses_index = [&] {
            const auto operands = f.operands_of(v);
            return f.code[v].op != opcode::load && f.code[v].op != opcode::store &&
                   !view.is_call_of_four(v) &&
                   std::find(operands.begin(), operands.end(), loop) != operands.end();
        }();
        widest = std::max(widest, uses_index ? 8 : size_of(f.code[v].result.element));
    }
    if (!is_whole && !has_function) return 1;
    // 64 bytes: sin on double8 is 20 % faster than on double16 and 70 % than on
    // double4 (AVX-512, PoCL 3.1).
    return static_cast<std::uint8_t>(64 / widest);
}

bool has_call_of_four(const function& f, value_id loop) {
    const block& body = f.blocks[f.code[loop].blocks[0]];
    const body_view view(f, loop);
    return std::any_of(body.begin(), body.end(), [&](value_id v) { return view.is_call_of_four(v); });
}

bool is_arithmetic_on_fours(const function& f, value_id loop) {
    if (!has_call_of_four(f, loop)) return false;
    const block& body = f.blocks[f.code[loop].blocks[0]];
    const body_view view(f, loop);
    return std::all_of(body.begin(), body.end(), [&](value_id v) {
        if (!view.has_vector_form(v)) return false;
        if (f.code[v].op != opcode::builtin) return true;
        const auto what = static_cast<builtin>(f.code[v].detail);
        return is_one_instruction(what) || what == builtin::sqrt;
    });
}

bool does_little_but_gather(const function& f, value_id loop) {
    // A kernel that gathers one double per element: 14 ms with gather
    // instructions, 10 ms one by one; with four more fma as long, with eighteen
    // 19 and 31 ms (2^24 elements, Zen 4, PoCL 3.1, two cores).
    constexpr std::size_t little = 4;
    const auto is_quick = [](builtin what) {
        const bool is_operator = info(what).symbol != nullptr;
        return what == builtin::fma || (is_operator && what != builtin::div && what != builtin::rem);
    };
    std::vector<bool> depends_on_memory(f.code.size(), false);
    std::size_t gathered = 0, computed = 0;
    for (value_id v : f.blocks[f.code[loop].blocks[0]]) {
        const instruction& i = f.code[v];
        const auto operands = f.operands_of(v);
        depends_on_memory[v] = i.op == opcode::load ||
                               std::any_of(operands.begin(), operands.end(),
                                           [&](value_id o) { return o != none && depends_on_memory[o]; });
        switch (i.op) {
            case opcode::constant:
            case opcode::convert: break;
            case opcode::load:
            case opcode::store: gathered += depends_on_memory[operands[1]] ? 1 : 0; break;
            case opcode::builtin:
                if (!is_quick(static_cast<builtin>(i.detail))) return false;
                ++computed;
                break;
            default: return false;
        }
    }
    return gathered > 0 && computed <= little * gathered;
}

void widen(function& f, value_id loop, std::uint8_t lanes, value_id vector_index, value_id first_element) {
    const block_id body = f.code[loop].blocks[0];
    const body_view view(f, loop);
    f.is_widened = true;
    const block before = f.blocks[body];
    builder after(f, source_line());
    const value_id indices = after.make(opcode::lane_index, type(scalar::i64, lanes), {first_element});
    calls_of_four calls(f, loop, first_element, after);
    lane_by_lane by_lane(f, loop, first_element, indices, lanes, after);
    // The forms are known before anything changes.
    std::vector<bool> is_in_vectors(f.code.size(), false), is_by_lane(f.code.size(), false);
    for (value_id v : before) {
        is_by_lane[v] = !view.has_vector_form(v);
        is_in_vectors[v] = is_memory_access(f.code[v]) && view.is_in_vectors(v);
    }
    std::map<value_id, type> scalars;  // the types of pointers to memory that is accessed in vectors
    for (value_id v : before) {
        if (!is_in_vectors[v]) continue;
        const value_id pointer = f.operand(v, 0);
        if (!scalars.emplace(pointer, f.code[pointer].result).second) continue;
        f.code[pointer].result.lanes = lanes;
        f.parameters[f.code[pointer].bits].what.lanes = lanes;
    }
    for (value_id v : before) {
        if (view.is_place(v)) continue;
        if (view.is_call_of_four(v)) {
            calls.replace(v, view.index_of_call(v), lanes);
            continue;
        }
        const opcode op = f.code[v].op;
        const bool in_memory = is_memory_access(f.code[v]);
        for (std::size_t k = 0; !is_in_vectors[v] && k < f.code[v].operand_count; ++k)
            if (const auto memory = scalars.find(f.operand(v, k)); memory != scalars.end()) {
                const value_id pointer = after.make(opcode::reinterpret, memory->second, {memory->first});
                f.operands_of(v)[k] = pointer;
            }
        if (is_in_vectors[v]) f.operands_of(v)[1] = vector_index;
        if (is_by_lane[v]) {
            by_lane.compute(v, [&](value_id o) { return view.varies(o); });
            continue;
        }
        for (std::size_t k = in_memory ? 2 : 0; k < f.code[v].operand_count; ++k) {
            const value_id o = f.operand(v, k);
            if (o == loop) f.operands_of(v)[k] = view.is_same_in_lanes(v) ? first_element : indices;
            const bool is_operator =
                op == opcode::builtin && info(static_cast<builtin>(f.code[v].detail)).symbol;
            const bool takes_scalars = is_operator || op == opcode::convert;
            if ((view.varies(v) || op == opcode::store) && !view.varies(o) && !takes_scalars) {
                const value_id whole =
                    after.make(opcode::broadcast, type(f.code[o].result.element, lanes), {o});
                f.operands_of(v)[k] = whole;
            }
        }
        if (view.varies(v) && op != opcode::store) f.code[v].result.lanes = lanes;
        after.made.push_back(v);
    }
    f.blocks[body] = std::move(after.made);
}

}  // namespace balm::ir

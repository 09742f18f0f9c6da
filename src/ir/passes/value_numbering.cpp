// Value numbering over structured blocks: one walk in program order, in which facts known at a point hold in
// the blocks nested there. Tables are undone when a block ends, never copied, so the work is proportional to
// the program.

#include "ir/passes/value_numbering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ir/passes/memory_versions.hpp"

namespace balm::ir {

namespace {

bool is_constant(const function& f, value_id v) { return f.code[v].op == opcode::constant; }
bool is_constant(const function& f, value_id v, std::uint64_t bits) {
    return is_constant(f, v) && f.code[v].bits == bits;
}
bool is_jump(opcode op) { return op == opcode::break_ || op == opcode::continue_ || op == opcode::return_; }
std::uint64_t one(scalar s) {
    return s == scalar::f32 ? 0x3f800000u : s == scalar::f64 ? 0x3ff0000000000000u : 1u;
}

/// The instructions seen so far, by what they compute: a hash table with open addressing. Entries are removed
/// in reverse order of insertion, which restores the table.
class value_table {
public:
    explicit value_table(const function& f) : f_(f), slots_(std::bit_ceil(2 * f.code.size() + 2)) {}

    /// The first instruction that computes the same as v in the same version of memory; v if there is
    /// none.
    value_id find_or_add(value_id v, std::uint32_t version) {
        const std::uint32_t hash = hash_of(v, version);
        std::size_t at = hash & (slots_.size() - 1);
        for (; slots_[at].value != none; at = (at + 1) & (slots_.size() - 1)) {
            const slot& s = slots_[at];
            if (s.hash == hash && s.version == version && is_same(s.value, v)) return s.value;
        }
        slots_[at] = {v, hash, version};
        added_.push_back(static_cast<std::uint32_t>(at));
        return v;
    }

    std::size_t size() const { return added_.size(); }
    /// Forgets all but the first `count` instructions added.
    void shrink(std::size_t count) {
        for (; added_.size() > count; added_.pop_back()) slots_[added_.back()] = {};
    }

private:
    struct slot {
        value_id value = none;
        std::uint32_t hash = 0;
        std::uint32_t version = 0;
    };

    std::uint32_t hash_of(value_id v, std::uint32_t version) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio
        const instruction& i = f_.code[v];
        std::uint64_t h =
            static_cast<std::uint64_t>(i.op) | std::uint64_t{i.detail} << 8 | code(i.result) << 24;
        h = (h ^ std::uint64_t{version} << 40) * odd;
        h = (h ^ i.bits * odd) * odd;
        for (value_id o : f_.operands_of(v)) h = (std::rotl(h, 29) ^ o) * odd;
        return static_cast<std::uint32_t>(h >> 32);
    }
    bool is_same(value_id a, value_id b) const {
        const instruction &x = f_.code[a], &y = f_.code[b];
        const auto mine = f_.operands_of(a), other = f_.operands_of(b);
        return x.op == y.op && x.detail == y.detail && x.result == y.result && x.bits == y.bits &&
               std::equal(mine.begin(), mine.end(), other.begin(), other.end());
    }

    const function& f_;
    std::vector<slot> slots_;
    std::vector<std::uint32_t> added_;  ///< slots, in the order in which they were filled
};

/// The known values of variables.
class variable_values {
public:
    explicit variable_values(std::size_t count) : value_(count, none) {}

    void resize(std::size_t count) { value_.resize(count, none); }
    value_id operator[](value_id cell) const { return value_[cell]; }
    void set(value_id cell, value_id value) {
        undo_.push_back({cell, value_[cell]});
        value_[cell] = value;
    }

    std::size_t size() const { return undo_.size(); }
    void shrink(std::size_t count) {
        for (; undo_.size() > count; undo_.pop_back()) value_[undo_.back().cell] = undo_.back().value;
    }

private:
    struct change {
        value_id cell, value;
    };
    std::vector<value_id> value_;
    std::vector<change> undo_;
};

class value_numbering {
public:
    explicit value_numbering(function& f)
        : f_(f),
          effects_(effects_by_block(f)),
          stands_for_(f.code.size()),
          values_(f),
          variables_(f.code.size()),
          memory_(f, 0),
          unread_(f.code.size()) {
        for (value_id v = 0; v < stands_for_.size(); ++v) stands_for_[v] = v;
    }

    bool run() {
        block_(0);
        return is_stale_;
    }

private:
    void block_(block_id b) {
        const std::size_t begin = kept_.size();
        walk(b);
        f_.blocks[b].clear();
        for (std::size_t k = begin; k < kept_.size(); ++k)
            if (!unread_[kept_[k]].is_overwritten) f_.blocks[b].push_back(kept_[k]);
        kept_.resize(begin);
    }

    /// Walks a block's instructions, as part of the block that is being rewritten.
    void walk(block_id b) {
        const std::size_t count = f_.blocks[b].size();
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t before = kept_.size();
            const value_id v = f_.blocks[b][k];
            if (instruction_(v)) kept_.push_back(v);
            if (kept_.size() > before && is_jump(f_.code[kept_.back()].op)) {
                if (k + 1 < count) dropped_effects();
                return;  // code after a jump is unreachable
            }
        }
    }

    void nested(block_id b) {
        const std::size_t values = values_.size(), variables = variables_.size(), memory = memory_.size();
        ++depth_;
        ++stretch_;
        block_(b);
        ++stretch_;
        --depth_;
        values_.shrink(values);
        variables_.shrink(variables);
        memory_.shrink(memory);
    }

    void dropped_effects() { is_stale_ = is_stale_ || depth_ > 0; }
    void drop(block_id b) {
        if (!f_.blocks[b].empty()) dropped_effects();
    }

    void forget(const effects& e) {
        for (value_id cell : e.cells)
            if (variables_[cell] != none) variables_.set(cell, none);
        if (e.touch_memory()) memory_.change(e, ++last_version_);
    }
    void forget_effects_inside(value_id v) {
        for (block_id b : f_.code[v].blocks)
            if (b != none) forget(effects_[b]);
    }

    /// Replaces uses of v by uses of `by`, and drops v.
    bool replace(value_id v, value_id by) {
        stands_for_[v] = by;
        if (f_.code[by].name == none) f_.code[by].name = f_.code[v].name;
        return false;
    }

    /// Whether the instruction stays.
    bool instruction_(value_id v) {
        const opcode op = f_.code[v].op;
        if (op == opcode::while_) {
            forget_effects_inside(v);
            nested(f_.code[v].blocks[0]);
            f_.operands_of(v)[0] = stands_for_[f_.operand(v, 0)];
            nested(f_.code[v].blocks[1]);
            return true;
        }
        if (op == opcode::logic_and || op == opcode::logic_or) return guard(v);
        for (value_id& o : f_.operands_of(v))
            if (o != none) o = stands_for_[o];
        switch (op) {
            case opcode::cell:
            case opcode::write_cell: return write(v);
            case opcode::read_cell: return read(v);
            case opcode::object:
            case opcode::write_image:  // no kernel reads an image that it writes
            case opcode::prefetch:
            case opcode::print: return true;
            case opcode::load: return has_effect(f_.code[v]) || share(v, version_of(v));
            case opcode::store:
            case opcode::atomic:
            case opcode::barrier:
            case opcode::fence:
            case opcode::sub_group:
            case opcode::call: {
                effects e;
                add_own_effects(f_, v, e);
                forget(e);
                return true;
            }
            case opcode::if_: return if_(v);
            case opcode::for_:
            case opcode::grid_for:
                forget_effects_inside(v);
                nested(f_.code[v].blocks[0]);
                return true;
            case opcode::break_:
            case opcode::continue_:
            case opcode::return_: return true;
            default: return pure(v);
        }
    }

    std::uint32_t version_of(value_id load) {
        const memory_versions::version now = memory_.of(load);
        return std::max(now.own, now.of_space);
    }
    bool share(value_id v, std::uint32_t version) {
        const value_id same = values_.find_or_add(v, version);
        return same == v || replace(v, same);
    }

    bool write(value_id v) {
        if (f_.code[v].op == opcode::cell)
            variables_.set(v, f_.operand(v, 0));
        else
            overwrite(v);
        return true;
    }
    /// Drops a write that was never read if the next write follows in the same block, with no block or exit
    /// between.
    void overwrite(value_id v) {
        const value_id cell = f_.operand(v, 0);
        variables_.set(cell, f_.operand(v, 1));
        write_state& last = unread_[cell];
        if (last.write != none && last.stretch == stretch_) unread_[last.write].is_overwritten = true;
        last.write = v;
        last.stretch = stretch_;
    }
    bool read(value_id v) {
        const value_id cell = f_.operand(v, 0);
        if (variables_[cell] != none) return replace(v, variables_[cell]);
        variables_.set(cell, v);
        unread_[cell].write = none;
        return true;
    }

    bool if_(value_id v) {
        const block_id on_true = f_.code[v].blocks[0], on_false = f_.code[v].blocks[1];
        const value_id condition = f_.operand(v, 0);
        if (is_constant(f_, condition)) {
            const bool taken = f_.code[condition].bits != 0;
            drop(taken ? on_false : on_true);
            walk(taken ? on_true : on_false);
            return false;
        }
        nested(on_true);
        nested(on_false);
        forget_effects_inside(v);
        return !(f_.blocks[on_true].empty() && f_.blocks[on_false].empty());
    }

    bool guard(value_id v) {
        const bool is_and = f_.code[v].op == opcode::logic_and;
        const block_id right = f_.code[v].blocks[0];
        const value_id left = stands_for_[f_.operand(v, 0)];
        f_.operands_of(v)[0] = left;
        if (is_constant(f_, left, is_and ? 0 : 1)) {  // decides the result
            drop(right);
            return replace(v, left);
        }
        if (is_constant(f_, left)) {  // the right operand is the result
            walk(right);
            return replace(v, stands_for_[f_.operand(v, 1)]);
        }
        nested(right);
        forget_effects_inside(v);
        f_.operands_of(v)[1] = stands_for_[f_.operand(v, 1)];
        return true;
    }

    /// Makes a constant; returns the existing value if there is one.
    value_id constant(scalar type, std::uint64_t bits) {
        instruction i;
        i.op = opcode::constant;
        i.result = type;
        i.bits = bits;
        const value_id v = f_.add(i);
        stands_for_.push_back(v);
        unread_.emplace_back();
        variables_.resize(f_.code.size());
        memory_.resize(f_.code.size());
        const value_id same = values_.find_or_add(v, 0);
        if (same == v) kept_.push_back(v);
        return same;
    }
    /// (pointer + a) + b is pointer + (a + b), so that pointer offsets form no chains.
    void join_steps(value_id v) {
        if (f_.code[v].op != opcode::offset) return;
        const value_id before = f_.operand(v, 0), step = f_.operand(v, 1);
        if (f_.code[before].op != opcode::offset || !is_constant(f_, step)) return;
        const value_id step_before = f_.operand(before, 1);
        if (!is_constant(f_, step_before)) return;
        const auto number = [&](value_id k) {
            return static_cast<std::int64_t>(
                fold_conversion(f_.code[k].result.element, scalar::i64, f_.code[k].bits));
        };
        std::int64_t sum = 0;
        if (__builtin_add_overflow(number(step_before), number(step), &sum)) return;
        const bool is_int = std::in_range<std::int32_t>(sum);
        const std::uint64_t bits = is_int ? static_cast<std::uint32_t>(sum) : static_cast<std::uint64_t>(sum);
        const value_id joined[] = {f_.operand(before, 0), constant(is_int ? scalar::i32 : scalar::i64, bits)};
        std::copy(joined, joined + 2, f_.operands_of(v).begin());
    }

    /// Lanes of lanes are lanes of the vector.
    void join_swizzles(value_id v) {
        instruction& i = f_.code[v];
        if (i.op != opcode::swizzle) return;
        const instruction& before = f_.code[f_.operand(v, 0)];
        if (before.op != opcode::swizzle) return;
        std::uint64_t order = 0;
        for (int k = 0; k < i.result.lanes; ++k)
            order |= lane_of(before.bits, static_cast<int>(lane_of(i.bits, k))) << 4 * k;
        i.bits = order;
        f_.operands_of(v)[0] = f_.operand(f_.operand(v, 0), 0);
    }
    static std::uint64_t lane_of(std::uint64_t order, int k) { return order >> 4 * k & 15; }

    bool pure(value_id v) {
        join_steps(v);
        join_swizzles(v);
        find_negation(v);
        if (const std::optional<std::uint64_t> bits = constant_value(v)) {
            instruction& i = f_.code[v];
            i.op = opcode::constant;
            i.detail = 0;
            i.operand_count = 0;
            i.bits = *bits;
        } else if (const value_id same = simpler(v); same != v) {
            return replace(v, same);
        }
        return share(v, 0);
    }

    /// 0 - x, x * -1 and -1 * x of integers become -x.
    void find_negation(value_id v) {
        instruction& i = f_.code[v];
        if (i.op != opcode::builtin || !is_integer(i.result.element)) return;
        const auto what = static_cast<builtin>(i.detail);
        if (what != builtin::sub && what != builtin::mul) return;
        const auto x = f_.operands_of(v);
        const std::uint64_t by =
            what == builtin::sub ? 0 : ~std::uint64_t{0} >> (64 - 8 * size_of(i.result.element));
        const bool is_behind = is_constant(f_, x[0], by);
        if (!is_behind && (what == builtin::sub || !is_constant(f_, x[1], by))) return;
        i.detail = static_cast<std::uint16_t>(builtin::neg);
        i.operand_count = 1;
        i.first_operand += is_behind ? 1 : 0;
    }

    /// The constant value of v, if its operands are constants and every device agrees on the result.
    std::optional<std::uint64_t> constant_value(value_id v) const {
        const instruction& i = f_.code[v];
        const auto operands = f_.operands_of(v);
        if ((i.op != opcode::convert && i.op != opcode::builtin) ||
            !std::all_of(operands.begin(), operands.end(), [&](value_id o) { return is_constant(f_, o); }))
            return std::nullopt;
        const scalar from = f_.code[operands[0]].result.element;
        if (i.op == opcode::convert)
            return fold_conversion(from, i.result.element, f_.code[operands[0]].bits);
        std::array<std::uint64_t, 4> bits{};
        for (std::size_t k = 0; k < operands.size(); ++k) bits[k] = f_.code[operands[k]].bits;
        return fold(static_cast<builtin>(i.detail), from, std::span(bits.data(), operands.size()));
    }

    /// Whether a swizzle names all lanes in order.
    static bool is_whole(const instruction& swizzle, const instruction& vector) {
        bool in_order = swizzle.result.lanes == vector.result.lanes;
        for (int k = 0; in_order && k < vector.result.lanes; ++k)
            in_order = lane_of(swizzle.bits, k) == static_cast<std::uint64_t>(k);
        return in_order;
    }

    /// An operand of v, or of that operand, that is always equal to v, or v itself.
    value_id simpler(value_id v) const {
        const instruction& i = f_.code[v];
        const auto operands = f_.operands_of(v);
        if (i.op == opcode::select) {
            if (is_constant(f_, operands[0])) return operands[f_.code[operands[0]].bits ? 1 : 2];
            return operands[1] == operands[2] ? operands[1] : v;
        }
        if (i.op == opcode::swizzle) {
            const instruction& vector = f_.code[operands[0]];
            if (i.result.lanes > 1) return is_whole(i, vector) ? operands[0] : v;
            if (vector.op == opcode::compose) return f_.operand(operands[0], i.bits);
            return vector.op == opcode::broadcast ? f_.operand(operands[0], 0) : v;
        }
        return i.op == opcode::builtin ? identity(v, static_cast<builtin>(i.detail), operands) : v;
    }

    /// x + 0, x * 1 and similar identities; for floating point only those that are exact for every x.
    value_id identity(value_id v, builtin what, std::span<const value_id> x) const {
        const scalar type = f_.code[v].result.element;
        const bool floating = is_floating(type);
        switch (what) {
            case builtin::add:
            case builtin::bit_or:
            case builtin::bit_xor:
                if (floating) return v;
                return is_constant(f_, x[1], 0) ? x[0] : is_constant(f_, x[0], 0) ? x[1] : v;
            case builtin::sub:
            case builtin::shl:
            case builtin::shr: return is_constant(f_, x[1], 0) ? x[0] : v;
            case builtin::mul:
                if (!floating && is_constant(f_, x[0], 0)) return x[0];
                if (!floating && is_constant(f_, x[1], 0)) return x[1];
                return is_constant(f_, x[1], one(type)) ? x[0] : is_constant(f_, x[0], one(type)) ? x[1] : v;
            case builtin::div: return is_constant(f_, x[1], one(type)) ? x[0] : v;
            default: return v;
        }
    }

    function& f_;
    std::vector<effects> effects_;  ///< of each block, before the walk
    std::vector<value_id> stands_for_;
    value_table values_;
    variable_values variables_;
    memory_versions memory_;
    std::uint32_t last_version_ = 0;
    /// By cell: the last write, and the stretch of instructions that contains it. By write: whether it is
    /// dropped.
    struct write_state {
        value_id write = none;
        std::uint32_t stretch = 0;
        bool is_overwritten = false;
    };
    std::vector<write_state> unread_;
    std::uint32_t stretch_ = 0;  ///< changes wherever a block begins or ends
    block kept_;                 ///< of the blocks being rewritten, inner ones after outer ones
    int depth_ = 0;
    bool is_stale_ = false;
};

}  // namespace

bool number_values(function& f) { return value_numbering(f).run(); }

}  // namespace balm::ir

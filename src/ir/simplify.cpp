// Makes a function smaller without changing a bit of its results. One forward walk folds constants, shares
// equal values and forwards variables; a sweep drops what nobody uses; both repeat until nothing changes.
// Last, pure values move to their use, which gives one order whatever order the C++ compiler evaluated in.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/ir.hpp"

namespace balm::ir {

namespace {

bool is_constant(const function& f, value_id v) { return f.code[v].op == opcode::constant; }
bool is_constant(const function& f, value_id v, std::uint64_t bits) {
    return is_constant(f, v) && f.code[v].bits == bits;
}

std::uint64_t one(scalar s) {
    return s == scalar::f32 ? 0x3f800000u : s == scalar::f64 ? 0x3ff0000000000000u : 1u;
}

/// The forward walk.
class value_numbering {
public:
    explicit value_numbering(function& f) : f_(f), stands_for_(f.code.size()) {
        for (value_id v = 0; v < stands_for_.size(); ++v) stands_for_[v] = v;
    }

    bool run() {
        block_(0);
        return changed_;
    }

private:
    using key = std::tuple<opcode, std::uint16_t, std::uint64_t, std::uint64_t, value_id, value_id, value_id>;

    /// What is known at a point of the program; a block inherits it, and what it learns ends with it.
    struct known {
        std::map<key, value_id> values;          ///< pure values
        std::map<value_id, value_id> variables;  ///< cell -> its value now
        std::map<std::pair<value_id, value_id>, value_id> loads;
    };

    void block_(block_id b) {
        block kept;
        const block before = std::move(f_.blocks[b]);
        for (std::size_t k = 0; k < before.size(); ++k) {
            const value_id v = before[k];
            if (!instruction_(v, kept)) {
                changed_ = true;
                continue;
            }
            kept.push_back(v);
            const opcode op = f_.code[v].op;
            if (op == opcode::break_ || op == opcode::continue_ || op == opcode::return_) {
                changed_ = changed_ || k + 1 < before.size();
                break;  // nothing after a jump is reached
            }
        }
        f_.blocks[b] = std::move(kept);
    }

    void nested(block_id b) {
        if (b == none) return;
        known outside = state_;
        block_(b);
        state_ = std::move(outside);
    }

    void forget(const effects& e) {
        for (value_id cell : e.cells) state_.variables.erase(cell);
        std::erase_if(state_.loads, [&](const auto& entry) { return clobbers(f_, e, entry.second); });
    }

    bool replace(value_id v, value_id by) {
        stands_for_[v] = by;
        if (f_.code[by].name == none) f_.code[by].name = f_.code[v].name;
        return false;
    }

    value_id new_constant(value_id v, std::uint64_t bits, block& kept) {
        instruction c;
        c.op = opcode::constant;
        c.result = f_.code[v].result;
        c.bits = bits;
        c.where = f_.code[v].where;
        const value_id id = f_.add(c);
        stands_for_.push_back(id);
        const auto [place, is_new] = state_.values.try_emplace(key_of(id), id);
        if (is_new) kept.push_back(id);
        return place->second;
    }

    key key_of(value_id v) const {
        const instruction& i = f_.code[v];
        value_id operands[3] = {none, none, none};
        const auto list = f_.operands_of(v);
        std::copy_n(list.begin(), std::min<std::size_t>(list.size(), 3), operands);
        return {i.op, i.detail, code(i.result), i.bits, operands[0], operands[1], operands[2]};
    }

    /// Whether the instruction stays.
    bool instruction_(value_id v, block& kept) {
        const opcode op = f_.code[v].op;
        if (op == opcode::while_) {
            forget(effects_of(f_, v));
            nested(f_.code[v].blocks[0]);
            f_.operands_of(v)[0] = stands_for_[f_.operand(v, 0)];
            nested(f_.code[v].blocks[1]);
            return true;
        }
        if (op == opcode::logic_and || op == opcode::logic_or) return guard(v, kept);
        for (value_id& o : f_.operands_of(v))
            if (o != none) o = stands_for_[o];
        switch (op) {
            case opcode::cell: state_.variables[v] = f_.operand(v, 0); return true;
            case opcode::read_cell: {
                const auto value = state_.variables.find(f_.operand(v, 0));
                if (value != state_.variables.end()) return replace(v, value->second);
                state_.variables[f_.operand(v, 0)] = v;
                return true;
            }
            case opcode::write_cell: state_.variables[f_.operand(v, 0)] = f_.operand(v, 1); return true;
            case opcode::load: {
                const auto [place, is_new] =
                    state_.loads.try_emplace({f_.operand(v, 0), f_.operand(v, 1)}, v);
                return is_new || replace(v, place->second);
            }
            case opcode::object: return true;
            case opcode::store:
            case opcode::barrier:
            case opcode::call: forget(effects_of(f_, v)); return true;
            case opcode::if_: return if_(v, kept);
            case opcode::for_:
            case opcode::grid_for:
                forget(effects_of(f_, v));
                nested(f_.code[v].blocks[0]);
                return true;
            case opcode::break_:
            case opcode::continue_:
            case opcode::return_: return true;
            default: return pure(v, kept);
        }
    }

    bool if_(value_id v, block& kept) {
        const instruction i = f_.code[v];
        const value_id condition = f_.operand(v, 0);
        if (is_constant(f_, condition)) {
            const block chosen = f_.blocks[i.blocks[f_.code[condition].bits ? 0 : 1]];
            for (value_id inner : chosen)
                if (instruction_(inner, kept)) kept.push_back(inner);
            return false;
        }
        const effects e = effects_of(f_, v);
        nested(i.blocks[0]);
        nested(i.blocks[1]);
        forget(e);
        return !(f_.blocks[i.blocks[0]].empty() && f_.blocks[i.blocks[1]].empty());
    }

    bool guard(value_id v, block& kept) {
        const instruction i = f_.code[v];
        const value_id left = stands_for_[f_.operand(v, 0)];
        f_.operands_of(v)[0] = left;
        const bool is_and = i.op == opcode::logic_and;
        const bool decided = is_constant(f_, left, is_and ? 0 : 1);
        if (decided) return replace(v, left);
        const bool always = is_constant(f_, left);  // the right operand is the answer
        if (always) {
            const block right = f_.blocks[i.blocks[0]];
            for (value_id inner : right)
                if (instruction_(inner, kept)) kept.push_back(inner);
            return replace(v, stands_for_[f_.operand(v, 1)]);
        }
        const effects e = effects_of(f_, v);
        nested(i.blocks[0]);
        forget(e);
        f_.operands_of(v)[1] = stands_for_[f_.operand(v, 1)];
        return true;
    }

    bool pure(value_id v, block& kept) {
        if (const value_id same = simpler(v, kept); same != v) return replace(v, same);
        if (f_.code[v].operand_count > 3) return true;
        const auto [place, is_new] = state_.values.try_emplace(key_of(v), v);
        return is_new || replace(v, place->second);
    }

    /// A value that is always equal to v, or v itself.
    value_id simpler(value_id v, block& kept) {
        const instruction i = f_.code[v];
        const auto operands = f_.operands_of(v);
        if (i.op == opcode::select) {
            if (is_constant(f_, operands[0])) return operands[f_.code[operands[0]].bits ? 1 : 2];
            return operands[1] == operands[2] ? operands[1] : v;
        }
        if (i.op == opcode::convert) {
            const value_id from = operands[0];
            if (!is_constant(f_, from)) return v;
            return new_constant(
                v, fold_conversion(f_.code[from].result.element, i.result.element, f_.code[from].bits), kept);
        }
        if (i.op != opcode::builtin) return v;
        const auto what = static_cast<builtin>(i.detail);
        if (std::all_of(operands.begin(), operands.end(), [&](value_id o) { return is_constant(f_, o); })) {
            std::vector<std::uint64_t> bits;
            for (value_id o : operands) bits.push_back(f_.code[o].bits);
            if (const auto folded = fold(what, f_.code[operands[0]].result.element, bits))
                return new_constant(v, *folded, kept);
            return v;
        }
        return identity(v, what, operands);
    }

    /// x + 0, x * 1 and their kin; for floating point only what is exact for every x.
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
    std::vector<value_id> stands_for_;
    known state_;
    bool changed_ = false;
};

/// The sweep: keeps what writes memory, synchronises or jumps, and all that this needs. A write to a variable
/// is needed when a needed value reads the variable, and a block when something in it is.
class sweep {
public:
    explicit sweep(function& f)
        : f_(f), is_live_(f.code.size(), false), around_(f.code.size(), none), writes_(f.code.size()) {}

    bool run() {
        survey(0, none);
        for (value_id v : roots_) mark(v);
        return clean(0);
    }

private:
    static bool is_root(opcode op) {
        return has_effect(op) && op != opcode::cell && op != opcode::object && op != opcode::write_cell &&
               op != opcode::if_ && op != opcode::for_ && op != opcode::grid_for;
    }
    void survey(block_id b, value_id owner) {
        for (value_id v : f_.blocks[b]) {
            around_[v] = owner;
            if (is_root(f_.code[v].op)) roots_.push_back(v);
            if (f_.code[v].op == opcode::write_cell) writes_[f_.operand(v, 0)].push_back(v);
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) survey(inner, v);
        }
    }
    void mark(value_id v) {
        if (v == none || is_live_[v]) return;
        is_live_[v] = true;
        for (value_id o : f_.operands_of(v)) mark(o);
        mark(around_[v]);
        if (f_.code[v].op == opcode::read_cell)
            for (value_id write : writes_[f_.operand(v, 0)]) mark(write);
    }
    bool clean(block_id b) {
        const std::size_t dropped = std::erase_if(f_.blocks[b], [&](value_id v) { return !is_live_[v]; });
        bool changed = dropped > 0;
        for (value_id v : f_.blocks[b])
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) changed = clean(inner) || changed;
        return changed;
    }

    function& f_;
    std::vector<bool> is_live_;
    std::vector<value_id> around_;               ///< the instruction in whose block it stands
    std::vector<std::vector<value_id>> writes_;  ///< of each cell
    std::vector<value_id> roots_;
};

/// Moves pure and reading values down to their first use, in the order of use; effects keep their order, and
/// a read stays ahead of the effect that would change it.
class ordering {
public:
    explicit ordering(function& f) : f_(f), is_placed_(f.code.size(), false), home_(f.code.size(), none) {}

    void run() {
        settle(0);
        block_(0, none);
    }

private:
    void settle(block_id b) {
        for (value_id v : f_.blocks[b]) {
            home_[v] = b;
            for (block_id inner : f_.code[v].blocks)
                if (inner != none) settle(inner);
        }
    }

    /// Orders a block; `exit_value` is used after its last instruction.
    void block_(block_id b, value_id exit_value) {
        const block before = std::move(f_.blocks[b]);
        block after;
        for (std::size_t k = 0; k < before.size(); ++k) {
            const value_id v = before[k];
            if (!has_effect(f_, v)) continue;
            const effects e = effects_of(f_, v);
            for (std::size_t earlier = 0; earlier < k; ++earlier)
                if (!is_placed_[before[earlier]] && clobbers(f_, e, before[earlier]))
                    place(before[earlier], b, after);
            place(v, b, after);
        }
        if (exit_value != none) place(exit_value, b, after);
        f_.blocks[b] = std::move(after);
        for (value_id v : f_.blocks[b]) inside(v);
    }

    void inside(value_id v) {
        const instruction& i = f_.code[v];
        const bool guard = i.op == opcode::logic_and || i.op == opcode::logic_or;
        if (i.blocks[0] != none)
            block_(i.blocks[0], guard ? f_.operand(v, 1) : i.op == opcode::while_ ? f_.operand(v, 0) : none);
        if (i.blocks[1] != none) block_(i.blocks[1], none);
    }

    /// Puts v at the end of block b, after all that it and the blocks inside it need from there.
    void place(value_id v, block_id b, block& after) {
        if (v == none || is_placed_[v] || home_[v] != b) return;
        is_placed_[v] = true;  // first: a loop's variable is used inside the loop
        for (value_id o : f_.operands_of(v)) place(o, b, after);
        for (block_id inner : f_.code[v].blocks)
            if (inner != none) place_needs(inner, b, after);
        after.push_back(v);
    }
    void place_needs(block_id inner, block_id b, block& after) {
        for (value_id v : f_.blocks[inner]) {
            for (value_id o : f_.operands_of(v)) place(o, b, after);
            for (block_id deeper : f_.code[v].blocks)
                if (deeper != none) place_needs(deeper, b, after);
        }
    }

    function& f_;
    std::vector<bool> is_placed_;
    std::vector<block_id> home_;
};

}  // namespace

void simplify(function& f) {
    bool changed = true;
    while (changed) {
        changed = value_numbering(f).run();
        changed = sweep(f).run() || changed;
    }
    ordering(f).run();
}

}  // namespace balm::ir

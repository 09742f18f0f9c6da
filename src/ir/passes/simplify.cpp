// Makes a function smaller without changing a bit of its results. A forward walk (value_numbering.cpp) folds
// constants, eliminates common subexpressions and forwards variables; a sweep removes dead code; last, pure
// values move to their use, so that their order does not depend on the order in which the C++ compiler
// evaluated operands. Each is one walk, with an explicit stack for long chains of operands: a kernel of n
// instructions takes O(n) time.

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/ir.hpp"
#include "ir/passes/memory_versions.hpp"
#include "ir/passes/value_numbering.hpp"

namespace balm::ir {

namespace {

/// The sweep: keeps instructions that write memory, synchronise or jump, and all values that these need. A
/// write to a variable is live if a live value reads the variable; a block is live if something in it is.
class sweep {
public:
    explicit sweep(function& f)
        : f_(f),
          is_live_(f.code.size(), false),
          is_reached_(f.blocks.size(), false),
          around_(f.code.size(), none),
          last_write_(f.code.size(), none),
          write_before_(f.code.size(), none) {}

    void run() {
        survey(0, none);
        while (!pending_.empty()) {
            const value_id v = pending_.back();
            pending_.pop_back();
            needs_of(v);
        }
        for (block_id b = 0; b < f_.blocks.size(); ++b) {
            if (is_reached_[b])
                std::erase_if(f_.blocks[b], [&](value_id v) { return !is_live_[v]; });
            else
                f_.blocks[b].clear();  // of a removed instruction
        }
    }

private:
    static bool is_root(const instruction& i) {
        const opcode op = i.op;
        return has_effect(i) && op != opcode::cell && op != opcode::object && op != opcode::write_cell &&
               op != opcode::if_ && op != opcode::for_ && op != opcode::grid_for;
    }
    void survey(block_id b, value_id owner) {
        is_reached_[b] = true;
        for (value_id v : f_.blocks[b]) {
            const instruction& i = f_.code[v];
            around_[v] = owner;
            if (is_root(i)) mark(v);
            if (i.op == opcode::write_cell)
                write_before_[v] = std::exchange(last_write_[f_.operand(v, 0)], v);
            for (block_id inner : i.blocks)
                if (inner != none) survey(inner, v);
        }
    }
    void mark(value_id v) {
        if (v == none || is_live_[v]) return;
        is_live_[v] = true;
        pending_.push_back(v);
    }
    void needs_of(value_id v) {
        for (value_id o : f_.operands_of(v)) mark(o);
        mark(around_[v]);
        if (f_.code[v].op != opcode::read_cell) return;
        // The first read marks all writes.
        value_id write = std::exchange(last_write_[f_.operand(v, 0)], none);
        for (; write != none; write = write_before_[write]) mark(write);
    }

    function& f_;
    std::vector<bool> is_live_;
    std::vector<bool> is_reached_;        ///< by block
    std::vector<value_id> around_;        ///< the instruction whose block contains it
    std::vector<value_id> last_write_;    ///< by cell
    std::vector<value_id> write_before_;  ///< by write: another one to the same cell
    std::vector<value_id> pending_;       ///< live, with operands still to mark
};

/// Moves pure and reading values down to their first use, in the order of use; effects keep their order, and
/// a read stays ahead of the effect that would change its result.
class ordering {
public:
    explicit ordering(function& f)
        : f_(f),
          effects_(effects_by_block(f)),
          depth_(f.blocks.size(), 0),
          home_(f.code.size(), none),
          has_effect_(f.code.size(), false),
          is_placed_(f.code.size(), false),
          needs_(f.code.size()),
          next_write_(f.code.size(), never),
          next_change_(f, never) {}

    void run() {
        survey(0);
        block_(0, none);
    }

private:
    // ---- survey

    /// A list of values, in `need_nodes_`.
    struct need_list {
        std::uint32_t first = none, last = none;
    };
    struct need_node {
        value_id value;
        std::uint32_t next;
    };

    /// Notes the home of each value, and for each instruction with blocks the values that these use from the
    /// block that contains it. Returns whether something in b has an effect.
    bool survey(block_id b) {
        bool any_effect = false;
        depth_[b] = static_cast<std::uint32_t>(path_.size());
        for (value_id v : f_.blocks[b]) {
            const instruction& i = f_.code[v];
            home_[v] = b;
            for (value_id o : f_.operands_of(v)) need(o);
            if (i.op == opcode::load) next_change_.note(v);
            bool effect = ir::has_effect(i);
            path_.push_back(v);
            for (block_id inner : i.blocks)
                if (inner != none) effect = survey(inner) || effect;
            path_.pop_back();
            has_effect_[v] = effect;
            any_effect = any_effect || effect;
        }
        return any_effect;
    }
    /// Notes that something at the end of path_ uses o. If o is in an enclosing block, the instruction of
    /// that block on path_ needs it. (The last operand of && and WHILE is inside and has no home yet.)
    void need(value_id o) {
        if (o == none || home_[o] == none || depth_[home_[o]] == path_.size()) return;
        need_list& list = needs_[path_[depth_[home_[o]]]];
        const auto node = static_cast<std::uint32_t>(need_nodes_.size());
        need_nodes_.push_back({o, none});
        (list.first == none ? list.first : need_nodes_[list.last].next) = node;
        list.last = node;
    }

    // ---- deadlines of reads

    /// A point of the program: instructions are counted in the order in which blocks are ordered.
    using position = std::uint32_t;
    static constexpr position never = std::numeric_limits<position>::max();

    /// Finds for each effect of the block the readers that must come before it, in order.
    void find_deadlines(const block& b) {
        first_due_.assign(b.size(), none);
        next_due_.resize(b.size());
        for (std::size_t k = b.size(); k-- > 0;) {
            const value_id v = b[k];
            if (has_effect_[v]) {
                change_at(v, begin_ + static_cast<position>(k));
            } else if (const position due = deadline(v); due < never) {
                next_due_[k] = std::exchange(first_due_[due - begin_], static_cast<std::uint32_t>(k));
            }
        }
    }
    void change_at(value_id v, position at) {
        own_effects_.cells.clear();
        own_effects_.objects.clear();
        own_effects_.parameters = 0;
        own_effects_.spaces = 0;
        own_effects_.all_memory = false;
        add_own_effects(f_, v, own_effects_);
        change_at(own_effects_, at);
        for (block_id inner : f_.code[v].blocks)
            if (inner != none) change_at(effects_[inner], at);
    }
    void change_at(const effects& e, position at) {
        for (value_id cell : e.cells) next_write_[cell] = at;
        next_change_.change(e, at);
    }
    /// The first effect after v in its block that changes the result of v.
    position deadline(value_id v) {
        const instruction& i = f_.code[v];
        const auto here = [&](position at) { return at < begin_ ? never : at; };  // not in another block
        position due = never;
        if (i.op == opcode::read_cell) due = here(next_write_[f_.operand(v, 0)]);
        if (i.op == opcode::load) {
            const memory_versions::version next = next_change_.of(v);
            due = std::min(here(next.own), here(next.of_space));
        }
        for (block_id inner : i.blocks)
            if (inner != none)
                for (value_id reader : f_.blocks[inner]) due = std::min(due, deadline(reader));
        return due;
    }

    // ---- the order

    /// Orders a block; `exit_value` is used after its last instruction.
    void block_(block_id b, value_id exit_value) {
        block& order = f_.blocks[b];
        find_deadlines(order);
        after_.clear();
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (!has_effect_[order[k]]) continue;
            for (std::uint32_t due = first_due_[k]; due != none; due = next_due_[due]) place(order[due], b);
            place(order[k], b);
        }
        place(exit_value, b);
        begin_ += static_cast<position>(order.size());
        order.assign(after_.begin(), after_.end());
        for (value_id v : order) inside(v);
    }

    void inside(value_id v) {
        const instruction& i = f_.code[v];
        const bool guard = i.op == opcode::logic_and || i.op == opcode::logic_or;
        if (i.blocks[0] != none)
            block_(i.blocks[0], guard ? f_.operand(v, 1) : i.op == opcode::while_ ? f_.operand(v, 0) : none);
        if (i.blocks[1] != none) block_(i.blocks[1], none);
    }

    /// A value that is being placed, and how many of its operands and needs have been.
    struct visit {
        value_id value;
        std::uint32_t operand;
        std::uint32_t need;
    };

    /// Puts v at the end of block b, after all that it and the blocks inside it need from there.
    void place(value_id v, block_id b) {
        begin_visit(v, b);
        while (!visits_.empty()) {
            visit& top = visits_.back();
            if (top.operand < f_.code[top.value].operand_count) {
                begin_visit(f_.operand(top.value, top.operand++), b);
            } else if (top.need != none) {
                const need_node node = need_nodes_[top.need];
                top.need = node.next;
                begin_visit(node.value, b);
            } else {
                after_.push_back(top.value);
                visits_.pop_back();
            }
        }
    }
    void begin_visit(value_id v, block_id b) {
        if (v == none || is_placed_[v] || home_[v] != b) return;
        is_placed_[v] = true;  // first: a loop's variable is used inside the loop
        visits_.push_back({v, 0, needs_[v].first});
    }

    function& f_;
    std::vector<effects> effects_;      ///< by block
    std::vector<std::uint32_t> depth_;  ///< by block: how many blocks enclose it
    std::vector<value_id> path_;        ///< while surveying: the enclosing instructions, outermost first
    std::vector<block_id> home_;        ///< by value: the block that contains it
    std::vector<bool> has_effect_;      ///< by value, with the blocks inside
    std::vector<bool> is_placed_;
    std::vector<need_list> needs_;  ///< by value: the values that its blocks use from the block around it
    std::vector<need_node> need_nodes_;
    std::vector<position> next_write_;      ///< by cell
    memory_versions next_change_;           ///< of the memory that loads read
    position begin_ = 0;                    ///< of the block being ordered
    std::vector<std::uint32_t> first_due_;  ///< by index of an effect in the block: its first reader …
    std::vector<std::uint32_t> next_due_;   ///< … and by reader: the next one
    std::vector<visit> visits_;
    effects own_effects_;
    block after_;
};

/// Drops callees that are no longer called, with their requirements.
void drop_uncalled(function& f) {
    std::vector<std::uint64_t> number(f.callees.size(), none);
    std::vector<std::shared_ptr<const function>> called;
    for (const block& b : f.blocks)
        for (const value_id v : b) {
            instruction& i = f.code[v];
            if (!is_call(i)) continue;
            if (number[i.bits] == none) {
                number[i.bits] = called.size();
                called.push_back(f.callees[i.bits]);
            }
            i.bits = number[i.bits];
        }
    f.callees = std::move(called);
}

/// Limits the walks for a cascade of branches in loops, each of which folds only after the one before it.
constexpr int max_walks = 16;

}  // namespace

void simplify(function& f) {
    bool is_stale = true;
    for (int walk = 0; is_stale && walk < max_walks; ++walk) {
        is_stale = number_values(f);
        sweep(f).run();
    }
    ordering(f).run();
    drop_uncalled(f);
}

}  // namespace balm::ir

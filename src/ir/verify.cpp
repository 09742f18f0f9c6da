// Checks a recorded function against the IR's rules. In: a function as traced or changed by a pass. Out:
// nothing, or a trace_error that names the C++ line and what to write instead.

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

namespace {

[[noreturn]] void fail(const source_line& where, const std::string& what) {
    throw trace_error(where.file ? fmt::format("{}:{}: {}", where.file, where.line, what) : what);
}

/// Every value is defined before it is used, in the same block or one around it, and rows get their types.
class definition_check {
public:
    explicit definition_check(const function& f) : f_(f), visible_(f.code.size(), false) {}
    void run() { block_(0); }

private:
    void block_(block_id b) {
        for (value_id v : f_.blocks[b]) {
            instruction_(v);
            visible_[v] = true;
        }
    }
    void leave(block_id b) {
        for (value_id v : f_.blocks[b]) visible_[v] = false;
    }
    void inside(value_id owner, block_id b, int braces) {
        chain_ += 1;
        braces_ += braces;
        if (braces_ > max_nesting) too_deep(owner, "IF, WHILE or range", max_nesting);
        if (chain_ > max_chain) too_deep(owner, "ELIF, && or ||", max_chain);
        block_(b);
        braces_ -= braces;
        chain_ -= 1;
    }
    [[noreturn]] void too_deep(value_id owner, const char* what, int limit) const {
        fail(f_.code[owner].where,
             fmt::format("'{}' nests {} more than {} deep, which device compilers do not "
                         "take. Put the inner ones into a balm::function",
                         f_.name, what, limit));
    }
    /// An ELSE block that ends in an IF is taken for ELIF, which is printed without braces.
    int braces_of_else(block_id b) const {
        return f_.blocks[b].empty() || f_.code[f_.blocks[b].back()].op == opcode::if_ ? 0 : 1;
    }

    void use(value_id user, value_id v) {
        if (v == none || visible_[v]) return;
        const instruction& first = line_of_use(user);
        fail(first.where,
             fmt::format(
                 "a device value is used {} outside of the block (IF, WHILE, range, &&) in which it was "
                 "made{}. Declare the variable before the block and assign to it inside",
                 first.knows_line ? "here" : "here or soon after", made_at(f_.code[v])));
    }
    static std::string made_at(const instruction& i) {
        if (!i.where.file) return {};
        return fmt::format(" ({} {}:{})", i.knows_line ? "at" : "at or soon after", i.where.file,
                           i.where.line);
    }
    /// The user, or the first instruction that takes its value and knows its own line.
    const instruction& line_of_use(value_id user) const {
        std::vector<bool> takes(f_.code.size(), false);
        takes[user] = true;
        for (value_id v = user; v < f_.code.size(); ++v) {
            const auto operands = f_.operands_of(v);
            takes[v] = takes[v] || std::any_of(operands.begin(), operands.end(),
                                               [&](value_id o) { return o != none && takes[o]; });
            if (takes[v] && f_.code[v].knows_line) return f_.code[v];
        }
        return f_.code[user];
    }

    void instruction_(value_id v) {
        const instruction& i = f_.code[v];
        switch (i.op) {
            case opcode::logic_and:
            case opcode::logic_or:
                use(v, f_.operand(v, 0));
                inside(v, i.blocks[0], 0);
                use(v, f_.operand(v, 1));
                leave(i.blocks[0]);
                return;
            case opcode::while_:
                inside(v, i.blocks[0], 1);
                use(v, f_.operand(v, 0));
                inside(v, i.blocks[1], 1);
                leave(i.blocks[1]);
                leave(i.blocks[0]);
                return;
            default: break;
        }
        for (value_id o : f_.operands_of(v)) use(v, o);
        types(v);
        visible_[v] = true;  // a loop's variable, inside its body
        for (int k = 0; k < 2; ++k)
            if (const block_id inner = i.blocks[k]; inner != none) {
                inside(v, inner, k == 0 ? 1 : braces_of_else(inner));
                leave(inner);
            }
    }
    void types(value_id v) {
        const instruction& i = f_.code[v];
        if (i.op == opcode::builtin) {
            scalar types[4] = {};
            const auto operands = f_.operands_of(v);
            for (std::size_t k = 0; k < operands.size(); ++k) types[k] = f_.code[operands[k]].result.element;
            const auto resolve = i.result.lanes > 1 ? detail::resolve_lanes : detail::resolve;
            const auto r = resolve(static_cast<builtin>(i.detail), types, operands.size());
            if (r.result != i.result.element || r.first != types[0])
                fail(i.where, fmt::format("internal: '{}' has operands of type {}",
                                          info(static_cast<builtin>(i.detail)).name, to_string(types[0])));
        }
        if (i.op == opcode::store) {
            const type pointer = f_.code[f_.operand(v, 0)].result;
            const type given = f_.code[f_.operand(v, 2)].result;
            if (!(given == value_of_memory(pointee(pointer))))
                fail(i.where,
                     fmt::format("internal: a value of type {} is stored through a pointer of type {}",
                                 to_string(given), to_string(pointer)));
        }
        if (i.op == opcode::return_) {
            const value_id value = f_.operand(v, 0);
            const type given = value == none ? type() : f_.code[value].result;
            if (!(given == f_.result))
                fail(i.where, fmt::format("return_ gives {}, but '{}' returns {}", to_string(given), f_.name,
                                          to_string(f_.result)));
        }
    }

    const function& f_;
    std::vector<bool> visible_;
    int braces_ = 0;  ///< blocks around, of those that max_nesting counts …
    int chain_ = 0;   ///< … and max_chain
};

/// Whether the function, or one it calls, asks for its place in the grid.
bool differs_by_work_item(const function& f) {
    for (const instruction& i : f.code)
        if (i.op == opcode::place) return true;
    for (const auto& callee : f.callees)
        if (differs_by_work_item(*callee)) return true;
    return false;
}

/// Finds what may differ between the work-items of a group, and refuses a barrier that some may not reach.
/// A value differs when it stems from a work-item's place; a variable, when a differing value is written to
/// it or it is written where control differs. Loops make this a fixpoint; flags only ever rise.
class barrier_check {
public:
    explicit barrier_check(const function& f) : f_(f), differs_(f.code.size(), false) {}

    void run() {
        do {
            changed_ = false;
            pass();
        } while (changed_);
        report_ = true;
        pass();
    }

private:
    /// Whether control differs between work-items: on entry, and after a jump that only some take.
    struct control {
        bool here = false;
        bool loop_left = false;  ///< some may have left the innermost loop
    };

    void pass() {
        control c;
        returned_ = false;
        block_(0, c);
    }
    void mark(value_id v, bool differs) {
        if (!differs || differs_[v]) return;
        differs_[v] = true;
        changed_ = true;
    }
    bool any_operand(value_id v) const {
        for (value_id o : f_.operands_of(v))
            if (o != none && differs_[o]) return true;
        return false;
    }
    void block_(block_id b, control& c) {
        for (value_id v : f_.blocks[b]) instruction_(v, c);
    }
    void inner(block_id b, control& c, bool condition_differs) {
        const bool before = c.here;
        c.here = before || condition_differs;
        block_(b, c);
        c.here = before || returned_ || c.loop_left;
    }
    void loop(value_id v, control& c, bool condition_differs) {
        const instruction& i = f_.code[v];
        control in;
        in.here = c.here || condition_differs || differs_[v];
        const bool returned_before = returned_;
        for (block_id b : i.blocks)
            if (b != none) block_(b, in);
        if (in.loop_left || returned_ != returned_before)
            mark(v, true);  // the next turn begins with some gone
        c.here = c.here || returned_;
    }
    void instruction_(value_id v, control& c) {
        const instruction& i = f_.code[v];
        switch (i.op) {
            case opcode::place: {
                const auto what = static_cast<place>(i.detail);
                return mark(v, what == place::global_id || what == place::local_id);
            }
            case opcode::load:
                return mark(v, any_operand(v) || f_.code[f_.operand(v, 0)].result.where == space::private_);
            case opcode::parameter: return mark(v, f_.dimensions == 0 && !i.result.is_pointer());
            case opcode::call: {
                const function& callee = *f_.callees[i.bits];
                if (report_ && c.here && has_barrier(callee)) refuse(i.where);
                return mark(v, any_operand(v) || differs_by_work_item(callee));
            }
            case opcode::write_cell: return mark(f_.operand(v, 0), c.here || differs_[f_.operand(v, 1)]);
            case opcode::logic_and:
            case opcode::logic_or:
                inner(i.blocks[0], c, differs_[f_.operand(v, 0)]);
                return mark(v, any_operand(v));
            case opcode::if_: {
                const bool condition = differs_[f_.operand(v, 0)];
                inner(i.blocks[0], c, condition);
                return inner(i.blocks[1], c, condition);
            }
            case opcode::while_: return loop(v, c, differs_[f_.operand(v, 0)]);
            case opcode::for_: return loop(v, c, any_operand(v));
            case opcode::grid_for: mark(v, true); return loop(v, c, true);
            case opcode::break_:
            case opcode::continue_: c.loop_left = c.loop_left || c.here; return;
            case opcode::return_: returned_ = returned_ || c.here; return;
            case opcode::barrier:
                if (report_ && c.here) refuse(i.where);
                return;
            default: return mark(v, any_operand(v));
        }
    }
    [[noreturn]] void refuse(const source_line& where) {
        fail(where,
             "barrier() stands where not all work-items of a group need arrive: under a condition that can "
             "differ between them, or after a return_() or break_() that only some may take. Take it out of "
             "the IF or loop, and guard the work around it instead");
    }

    const function& f_;
    std::vector<bool> differs_;
    bool changed_ = false;
    bool returned_ = false;  ///< some work-items may have ended
    bool report_ = false;
};

}  // namespace

void verify(const function& f) {
    definition_check(f).run();
    if (has_barrier(f)) barrier_check(f).run();
}

}  // namespace balm::ir

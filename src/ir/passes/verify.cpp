// Checks a recorded function against the IR's rules. In: a function as traced or changed by a pass. Throws
// trace_error, which names the C++ line and what to write instead.

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "ir/passes/turns.hpp"

namespace balm::ir {

namespace {

[[noreturn]] void fail(const source_line& where, const std::string& what) {
    throw trace_error(where.file ? fmt::format("{}:{}: {}", where.file, where.line, what) : what);
}

/// Every value is defined before it is used, in the same block or an enclosing one, and rows get operands of
/// their types.
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
        fail(f_.code[owner].where, fmt::format("'{}' nests {} more than {} deep, which device compilers do "
                                               "not support. Move the inner ones into a balm::function",
                                               f_.name, what, limit));
    }
    /// An ELSE block that ends in an IF counts as ELIF, which is printed without braces.
    int braces_of_else(block_id b) const {
        return f_.blocks[b].empty() || f_.code[f_.blocks[b].back()].op == opcode::if_ ? 0 : 1;
    }

    void use(value_id user, value_id v) {
        if (v == none || visible_[v]) return;
        const instruction& first = line_of_use(user);
        fail(first.where,
             fmt::format("a device value is used {} outside the block (IF, WHILE, range, &&) in which it was "
                         "created{}. Declare the variable before the block and assign to it inside",
                         first.knows_line ? "here" : "here or soon after", made_at(f_.code[v])));
    }
    static std::string made_at(const instruction& i) {
        if (!i.where.file) return {};
        return fmt::format(" ({} {}:{})", i.knows_line ? "at" : "at or soon after", i.where.file,
                           i.where.line);
    }
    /// The user, or the first instruction that depends on its value and knows its own line.
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
        if (i.op == opcode::atomic) {
            const type element = pointee(f_.code[f_.operand(v, 0)].result);
            for (value_id o : f_.operands_of(v).subspan(2))
                if (!(f_.code[o].result == element))
                    fail(i.where, fmt::format("internal: atomic {} of {} is given a value of type {}",
                                              to_string(static_cast<atomic_op>(i.detail)), to_string(element),
                                              to_string(f_.code[o].result)));
        }
        if (i.op == opcode::read_image || i.op == opcode::write_image) image(v);
        if (i.op == opcode::return_) {
            const value_id value = f_.operand(v, 0);
            const type given = value == none ? type() : f_.code[value].result;
            if (!(given == f_.result))
                fail(i.where, fmt::format("return_() is given {}, but '{}' returns {}", to_string(given),
                                          f_.name, to_string(f_.result)));
        }
    }

    void image(value_id v) {
        const instruction& i = f_.code[v];
        const instruction& of = f_.code[f_.operand(v, 0)];
        const bool writes = i.op == opcode::write_image;
        const bool is_parameter = of.op == opcode::parameter && of.result.is_image();
        const access use = is_parameter ? f_.parameters[of.bits].use : access::value;
        const auto dimensions = static_cast<std::size_t>(image_dimensions(of.result));
        const auto at = f_.operands_of(v).subspan(1);
        const scalar coordinate = use == access::sampled_image ? scalar::f32 : scalar::i32;
        const bool fits = is_parameter && writes == (use == access::out_image) &&
                          at.size() == dimensions + (writes ? 1 : 0) &&
                          std::all_of(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(dimensions),
                                      [&](value_id o) { return f_.code[o].result == type(coordinate); });
        const type value = writes ? f_.code[at.back()].result : i.result;
        if (!fits || !(value == trace::value_of_image(of.result)))
            fail(i.where, fmt::format("internal: {} of {}", to_string(i.op), to_string(of.result)));
    }

    const function& f_;
    std::vector<bool> visible_;
    int braces_ = 0;  ///< enclosing blocks that max_nesting counts …
    int chain_ = 0;   ///< … and max_chain
};

/// Whether a call of the function may return different results to work-items for the same arguments.
bool differs_by_work_item(const function& f) {
    const std::vector<const function*> all = with_callees(f);
    return std::any_of(all.begin(), all.end(), [](const function* each) {
        return (each->text && each->text->asks_for_its_place) ||
               std::any_of(each->code.begin(), each->code.end(), [](const instruction& i) {
                   return i.op == opcode::place || i.op == opcode::atomic || i.op == opcode::sub_group;
               });
    });
}

/// Divergence analysis. Finds the values that may differ between the work-items of a group or of a sub-group,
/// and refuses barriers and sub-group operations in divergent control flow. A value is divergent if it
/// depends on a work-item's place; a variable, if a divergent value is written to it or it is written in
/// divergent control flow. Loops require a fixpoint; levels only rise. Also finds the barriers that a whole
/// group may skip.
class barrier_check {
public:
    /// The scope in which a value, or control flow, is uniform.
    enum level : std::uint8_t { group, sub_group, work_item };

    barrier_check(const function& f, level sub_groups_need)
        : f_(f), sub_groups_need_(sub_groups_need), level_(f.code.size(), group) {}

    void run() {
        settle();
        report_ = true;
        pass();
    }
    /// Reports no errors.
    barrier_use find() {
        settle();
        use_.steps_over = use_.steps_over || (returns_early_ && met_ > 0) ||
                          std::any_of(loops_with_barriers_.begin(), loops_with_barriers_.end(),
                                      [&](value_id loop) { return may_become_branches(f_, loop); });
        return use_;
    }

private:
    void settle() {
        do {
            changed_ = false;
            pass();
        } while (changed_);
    }
    /// The scope in which control flow is uniform: on entry, and after a jump that only some work-items take.
    struct control {
        level here = group;
        level loop_left = group;  ///< some may have left the innermost loop
        bool jumps = false;       ///< some or all of them may, or may begin its next iteration
    };

    void pass() {
        control c;
        returned_ = group;
        met_ = 0;
        loops_with_barriers_.clear();
        block_(0, c);
    }
    void mark(value_id v, level found) {
        if (found <= level_[v]) return;
        level_[v] = found;
        changed_ = true;
    }
    level of_operands(value_id v) const {
        level most = group;
        for (value_id o : f_.operands_of(v))
            if (o != none) most = std::max(most, level_[o]);
        return most;
    }
    void block_(block_id b, control& c) {
        for (value_id v : f_.blocks[b]) instruction_(v, c);
    }
    void inner(block_id b, control& c, level condition) {
        const level before = c.here;
        const std::size_t met_before = met_;
        c.here = std::max(before, condition);
        block_(b, c);
        if (condition != group)
            use_.parts_ways = true;
        else
            use_.steps_over = use_.steps_over || met_ > met_before;
        c.here = std::max({before, returned_, c.loop_left});
    }
    void loop(value_id v, control& c, level condition) {
        const instruction& i = f_.code[v];
        control in;
        in.here = std::max({c.here, condition, level_[v]});
        const level returned_before = returned_;
        const std::size_t met_before = met_;
        use_.parts_ways = use_.parts_ways || in.here != group;
        for (block_id b : i.blocks)
            if (b != none) block_(b, in);
        use_.steps_over = use_.steps_over || (in.jumps && met_ > met_before);
        if (met_ > met_before) loops_with_barriers_.push_back(v);
        // Some may have left before the next iteration.
        mark(v, std::max(in.loop_left, returned_ != returned_before ? returned_ : group));
        c.here = std::max(c.here, returned_);
    }
    /// A barrier, or a call of a function that has one.
    void meet(const control& c, const instruction& i) {
        ++met_;
        need(group, c, "barrier()", i);
    }
    void instruction_(value_id v, control& c) {
        const instruction& i = f_.code[v];
        switch (i.op) {
            case opcode::place: return mark(v, of_place(static_cast<place>(i.detail)));
            case opcode::load: {
                const bool is_own = f_.code[f_.operand(v, 0)].result.where == space::private_;
                // The result of a volatile load depends on when it executes.
                return mark(v, is_own || is_volatile(i) ? work_item : of_operands(v));
            }
            case opcode::parameter:
                return mark(v, f_.dimensions == 0 && !i.result.is_pointer() ? work_item : group);
            case opcode::call: {
                const function& callee = *f_.callees[i.bits];
                if (has_barrier(callee)) meet(c, i);
                if (callee.exchanges != 0) need(sub_groups_need_, c, "a sub-group operation", i);
                return mark(v, differs_by_work_item(callee) ? work_item : of_operands(v));
            }
            case opcode::write_cell:
                return mark(f_.operand(v, 0), std::max(c.here, level_[f_.operand(v, 1)]));
            case opcode::logic_and:
            case opcode::logic_or:
                inner(i.blocks[0], c, level_[f_.operand(v, 0)]);
                return mark(v, of_operands(v));
            case opcode::if_: {
                const level condition = level_[f_.operand(v, 0)];
                inner(i.blocks[0], c, condition);
                return inner(i.blocks[1], c, condition);
            }
            case opcode::while_: return loop(v, c, level_[f_.operand(v, 0)]);
            case opcode::for_: return loop(v, c, of_operands(v));
            case opcode::grid_for: mark(v, work_item); return loop(v, c, work_item);
            case opcode::break_:
            case opcode::continue_:
                c.jumps = true;
                c.loop_left = std::max(c.loop_left, c.here);
                return;
            case opcode::return_:
                returns_early_ = returns_early_ || (c.here == group && v != f_.blocks[0].back());
                returned_ = std::max(returned_, c.here);
                return;
            case opcode::barrier: return meet(c, i);
            case opcode::atomic: return mark(v, work_item);  // work-items execute it one after the other
            case opcode::sub_group:
                need(sub_groups_need_, c, "a sub-group operation", i);
                return mark(v, of_sub_group(v));
            default: return mark(v, of_operands(v));
        }
    }
    static level of_place(place what) {
        switch (what) {
            case place::global_id:
            case place::local_id:
            case place::local_linear_id: return work_item;
            case place::sub_group_id: return sub_group;
            default: return group;
        }
    }
    level of_sub_group(value_id v) const {
        const auto what = static_cast<sub_group_op>(f_.code[v].detail);
        const bool reduces = what >= sub_group_op::reduce_add && what <= sub_group_op::reduce_max;
        if (what == sub_group_op::ballot || reduces) return sub_group;
        if (what != sub_group_op::shuffle) return work_item;
        // Lane 0 is always present; a shuffle from an absent lane returns each lane's own value.
        const instruction& from = f_.code[f_.operand(v, 1)];
        return from.op == opcode::constant && from.bits == 0 ? sub_group : work_item;
    }
    /// Refuses an instruction in control flow that is not uniform in the scope `most`.
    void need(level most, const control& c, const char* what, const instruction& i) const {
        if (!report_ || c.here <= most) return;
        const bool emulated = most == group && sub_groups_need_ == group && i.op != opcode::barrier;
        if (emulated)
            fail(i.where,
                 fmt::format(
                     "{} is in divergent control flow: not all sub-groups of a group may reach it. "
                     "This device has no sub-groups of {} lanes: they are emulated by barriers, which "
                     "all work-items of the group must reach. Take it out of the IF or loop, and guard "
                     "the work around it instead; or choose an NVIDIA GPU",
                     what, ir::sub_group_size));
        fail(i.where,
             fmt::format(
                 "{} is in divergent control flow: not all work-items of a {} may reach it. It is under "
                 "a condition that can differ between them, or after a return_() or break_() that only "
                 "some may take. Take it out of the IF or loop, and guard the work around it instead",
                 what, most == group ? "group" : "sub-group"));
    }

    const function& f_;
    level sub_groups_need_;
    std::vector<level> level_;  ///< of values
    bool changed_ = false;
    level returned_ = group;  ///< some work-items may have returned
    bool report_ = false;
    barrier_use use_;
    std::size_t met_ = 0;  ///< barriers so far
    std::vector<value_id> loops_with_barriers_;
    bool returns_early_ = false;  ///< all work-items do, ahead of the function's end
};

}  // namespace

void verify(const function& f) {
    definition_check(f).run();
    if (has_barrier(f) || exchanged_types(f) != 0) barrier_check(f, barrier_check::sub_group).run();
}

barrier_use use_of_barriers(const function& f) {
    if (!has_barrier(f)) return {};
    barrier_use all;
    for (const function* each : with_callees(f)) {
        if (each->text) {
            all.parts_ways = true;  // the code is unknown
            continue;
        }
        const barrier_use found = barrier_check(*each, barrier_check::group).find();
        all.steps_over = all.steps_over || found.steps_over;
        all.parts_ways = all.parts_ways || found.parts_ways;
    }
    return all;
}

void require_whole_groups(const function& f) { barrier_check(f, barrier_check::group).run(); }

}  // namespace balm::ir

// One walk in program order. A value that is used once waits for its use; an effect that would change what it
// reads forces its declaration first. Values that are cheap to repeat (reads of variables, addresses, lanes)
// wait however often they are used. A value that is used in a loop but does not depend on it is declared
// before that loop, in a block that contains all of its uses.

#include "emit/folding.hpp"

#include <algorithm>
#include <utility>

#include "ir/passes/aggregate.hpp"

namespace balm::emit {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

/// A value of more operations than this is named even if it is used once, so that lines stay readable.
constexpr int max_operations_in_line = 14;

bool is_loop(opcode op) { return op == opcode::for_ || op == opcode::while_ || op == opcode::grid_for; }
bool is_guard(opcode op) { return op == opcode::logic_and || op == opcode::logic_or; }

class planner {
public:
    explicit planner(const ir::function& f) : f_(f), values_(f.code.size()), blocks_(f.blocks.size()) {
        plan_.statements.resize(f.blocks.size());
        for (const instruction& i : f.code)
            plan_.forms.push_back(i.op == opcode::constant    ? form::inlined
                                  : i.op == opcode::parameter ? form::declared
                                                              : form::unused);
    }

    folding_plan run() {
        survey(0);
        // OpenCL C requires local arrays at the top level of a kernel.
        for (value_id v : f_.blocks[0])
            if (is_local_array(v)) place(v);
        block_(0);
        return std::move(plan_);
    }

private:
    struct value_facts {
        int uses = 0;  ///< uses that the walk has not reached
        int operations = 0;
        int loads = 0;                   ///< that are printed with it
        value_id first_load = ir::none;  ///< of these, as recorded
        bool waits = false;
        block_id home = ir::none;               ///< the block that contains it
        block_id use_block = ir::none;          ///< contains its uses, and the loops around them
        std::uint32_t first_use_in_loop = ~0u;  ///< in a loop outside of which it is defined, as a position
        std::uint32_t position = 0, end = 0;    ///< the range of the instruction, with its inner blocks
    };
    struct block_facts {
        value_id owner = ir::none;
        block_id around = ir::none;
        int depth = 0;
    };

    const instruction& at(value_id v) const { return f_.code[v]; }
    bool is_declared(value_id v) const { return plan_.forms[v] == form::declared; }
    bool is_local_array(value_id v) const {
        return at(v).op == opcode::object && at(v).result.where == space::local;
    }
    /// Whether naming it gains nothing.
    bool is_trivial(value_id v) const {
        const opcode op = at(v).op;
        return op == opcode::constant || op == opcode::read_cell || op == opcode::constant_array ||
               is_declared(v);
    }
    bool is_lane_of_value(value_id v) const {
        return at(v).op == opcode::swizzle && at(v).result.is_scalar();
    }
    /// Whether it is an address, or a lane of a vector.
    bool is_path(value_id v) const {
        return at(v).op == opcode::offset || at(v).op == opcode::member || is_lane_of_value(v);
    }
    /// Whether it is one that needs no computation.
    bool is_plain_path(value_id v) const {
        const auto operands = f_.operands_of(v);
        return is_path(v) && std::all_of(operands.begin(), operands.end(),
                                         [&](value_id o) { return is_trivial(o) || is_plain_path(o); });
    }

    // ---- where values are defined and used

    void survey(block_id b) {
        for (value_id v : f_.blocks[b]) {
            const instruction& i = at(v);
            values_[v].home = b;
            const std::uint32_t position = values_[v].position = position_++;
            // The last operand of && and of WHILE is computed in their first block.
            const std::size_t outside = i.op == opcode::while_ ? 0 : is_guard(i.op) ? 1 : i.operand_count;
            for (std::size_t k = 0; k < outside; ++k) note_use(f_.operand(v, k), b, position);
            block_id around = b;
            for (block_id inner : i.blocks) {
                if (inner == ir::none) continue;
                blocks_[inner] = {v, around, blocks_[around].depth + 1};
                survey(inner);
                if (i.op == opcode::while_) around = inner;  // the body sees what the condition declares
            }
            for (std::size_t k = outside; k < i.operand_count; ++k)
                note_use(f_.operand(v, k), i.blocks[0], position);
            values_[v].end = position_;
        }
    }
    void note_use(value_id v, block_id b, std::uint32_t user) {
        if (v == ir::none) return;
        value_facts& facts = values_[v];
        ++facts.uses;
        block_id outside = b;  // outside of all loops that v does not depend on
        for (block_id inner = b; inner != facts.home; inner = blocks_[inner].around) {
            if (!is_loop(at(blocks_[inner].owner).op)) continue;
            outside = blocks_[inner].around;
            facts.first_use_in_loop = std::min(facts.first_use_in_loop, user);
        }
        facts.use_block = facts.use_block == ir::none ? outside : common_block(facts.use_block, outside);
    }
    /// The innermost block that contains both.
    block_id common_block(block_id a, block_id b) const {
        while (a != b) {
            block_id& inner = blocks_[a].depth >= blocks_[b].depth ? a : b;
            inner = blocks_[inner].around;
        }
        return a;
    }

    // ---- values that wait

    void wait(value_id v) {
        values_[v].waits = true;
        plan_.forms[v] = form::inlined;
    }
    /// Notes that a use of v is printed. The last use of a waiting value also prints its operands.
    void use(value_id v) {
        if (v == ir::none || --values_[v].uses > 0 || !values_[v].waits) return;
        values_[v].waits = false;
        use_operands(v);
    }
    void use_operands(value_id v) {
        for (value_id o : f_.operands_of(v)) use(o);
    }
    void place(value_id v) {
        plan_.statements[here_].push_back(v);
        plan_.forms[v] = form::declared;
    }
    void declare(value_id v) {
        values_[v].waits = false;
        use_operands(v);
        place(v);
    }

    /// Declares waiting values that the instruction would change.
    void settle_before(value_id v) {
        const ir::effects e = effects_of(f_, v);
        for (value_id w : waiting_)
            if (values_[w].waits && clobbers(f_, e, w)) declare(w);
        std::erase_if(waiting_, [&](value_id w) { return !values_[w].waits; });
    }
    /// Declares waiting values that are used by loops inside the instruction, or by the instruction itself if
    /// it is a loop, if this is the block for them: they are computed once, before these loops.
    void settle_for_loops(value_id v) {
        const value_facts& loops = values_[v];
        for (value_id w : waiting_) {
            const value_facts& facts = values_[w];
            if (facts.waits && facts.use_block == loops.home && !is_trivial(w) && !is_lane(f_, w) &&
                facts.first_use_in_loop >= loops.position && facts.first_use_in_loop < loops.end)
                declare(w);
        }
    }

    // ---- the walk

    void block_(block_id b) {
        const block_id outside = std::exchange(here_, b);
        for (value_id v : f_.blocks[b]) statement(v);
        here_ = outside;
    }
    void statement(value_id v) {
        const instruction& i = at(v);
        if (i.op == opcode::for_) declare_bounds(v);
        switch (i.op) {
            case opcode::constant:
            case opcode::parameter: return;
            case opcode::cell:
            case opcode::object:
                if (!is_declared(v)) declare(v);
                return;
            case opcode::while_: break;
            default:
                if (!has_effect(i)) return value(v);
                use_operands(v);
        }
        settle_before(v);
        settle_for_loops(v);
        place(v);
        if (values_[v].uses == 0 && i.op != opcode::for_) plan_.forms[v] = form::unused;
        if (i.blocks[0] != ir::none) inner_blocks(v);
    }
    /// After the blocks of an instruction, only values wait that waited before it.
    void inner_blocks(value_id v) {
        const instruction& i = at(v);
        const std::vector<value_id> outside = waiting_;
        if (i.op == opcode::while_ && is_expression(i.blocks[0]))
            fold_region(i.blocks[0]);
        else
            block_(i.blocks[0]);
        if (is_guard(i.op)) use(f_.operand(v, 1));
        if (i.op == opcode::while_) use(f_.operand(v, 0));
        if (i.blocks[1] != ir::none) {
            if (i.op != opcode::while_) waiting_ = outside;
            block_(i.blocks[1]);
        }
        waiting_ = outside;
    }
    /// The bounds of a loop are evaluated in every iteration: they are declared before it.
    void declare_bounds(value_id loop) {
        const ir::effects e = effects_of(f_, loop);
        for (value_id bound : {f_.operand(loop, 1), f_.operand(loop, 2)})
            if (!is_declared(bound) && (!is_trivial(bound) || clobbers(f_, e, bound))) declare(bound);
    }

    /// A value: it waits for its use, or is declared here.
    void value(value_id v) {
        const block_id region = is_guard(at(v).op) ? at(v).blocks[0] : ir::none;
        if (values_[v].uses == 0 && !has_effect(f_, v)) return;
        if (region != ir::none) {
            if (!is_expression(region)) return guard_statement(v);
            fold_region(region);
        }
        declare_early_loads(v);
        value_facts& facts = values_[v];
        facts.operations = 1;
        if (at(v).op == opcode::load) {
            facts.loads = 1;
            facts.first_load = v;
        }
        for (value_id o : f_.operands_of(v)) {
            if (is_declared(o)) continue;
            facts.operations += values_[o].operations;
            facts.loads += values_[o].loads;
            facts.first_load = std::min(facts.first_load, values_[o].first_load);
        }
        const bool fits = is_lane(f_, v) || facts.operations <= max_operations_in_line;
        const bool waits = is_trivial(v) || (fits && (is_path(v) || facts.uses == 1));
        if (!waits) return declare(v);
        if (is_path(v) && facts.uses > 1) declare_parts(v);
        wait(v);
        waiting_.push_back(v);
    }
    /// Sums of products are printed as fma(b, y, a * x): if both parts load several elements, the first one
    /// is declared, so that memory is read in the order of the program.
    void declare_early_loads(value_id v) {
        const auto operands = f_.operands_of(v);
        const auto loads_several = [&](value_id o) { return !is_declared(o) && values_[o].loads > 1; };
        for (std::size_t k = 1; k < operands.size(); ++k) {
            const value_id o = operands[k];
            const bool is_printed_late = std::any_of(operands.begin(), operands.begin() + k, [&](value_id p) {
                return loads_several(p) && values_[p].first_load > values_[o].first_load;
            });
            if (loads_several(o) && is_printed_late) declare(o);
        }
    }
    /// An address or lane is printed at each use; its operands are computed once, before it.
    void declare_parts(value_id path) {
        for (value_id o : f_.operands_of(path)) {
            if (is_trivial(o)) continue;
            if (is_path(o))
                declare_parts(o);
            else
                declare(o);
        }
    }
    void guard_statement(value_id v) {
        use(f_.operand(v, 0));
        settle_before(v);
        settle_for_loops(v);
        place(v);
        inner_blocks(v);
    }

    /// Whether a region (of && or a loop's condition) can be one expression.
    bool is_expression(block_id region) const {
        int operations = 0;
        return std::all_of(f_.blocks[region].begin(), f_.blocks[region].end(), [&](value_id v) {
            const instruction& i = at(v);
            if (ir::has_effect(i) || (is_guard(i.op) && !is_expression(i.blocks[0]))) return false;
            if (is_trivial(v)) return true;
            return (values_[v].uses <= 1 || is_plain_path(v)) && ++operations <= max_operations_in_line;
        });
    }
    /// Makes the values of such a region wait for their use: none is declared before its guard.
    void fold_region(block_id region) {
        for (value_id v : f_.blocks[region]) {
            if (values_[v].uses == 0 || is_declared(v)) continue;
            if (is_guard(at(v).op)) fold_region(at(v).blocks[0]);
            wait(v);
        }
    }

    const ir::function& f_;
    folding_plan plan_;
    std::vector<value_facts> values_;
    std::vector<block_facts> blocks_;
    std::vector<value_id> waiting_;  ///< in program order; some no longer wait
    block_id here_ = 0;
    std::uint32_t position_ = 0;
};

}  // namespace

bool is_lane(const ir::function& f, value_id v) {
    return f.code[v].op == opcode::member && !ir::is_structure(pointee(f.code[f.operand(v, 0)].result));
}

folding_plan plan_folding(const ir::function& f) { return planner(f).run(); }

}  // namespace balm::emit

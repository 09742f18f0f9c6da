// Any device value can become a variable: those that were assigned do, when the trace ends.

#include "kernel/trace/tracer.hpp"

#include <span>

namespace balm::trace {

using ir::instruction;
using ir::opcode;
using ir::value_id;

namespace {

/// Turns reads, writes and addresses of variables in memory into loads, stores and pointers.
void use_objects(ir::function& f) {
    const value_id index = f.add(make(opcode::constant, scalar::i32));
    f.blocks[0].insert(f.blocks[0].begin(), index);
    const auto become = [&](value_id v, opcode op, std::initializer_list<value_id> operands) {
        f.code[v].op = op;
        f.set_operands(v, {operands.begin(), operands.size()});
    };
    for (value_id v = 0; v < index; ++v) {
        const instruction& i = f.code[v];
        if (i.operand_count == 0 || f.operand(v, 0) == ir::none) continue;
        const value_id object = f.operand(v, 0);
        if (f.code[object].op != opcode::object) continue;
        if (i.op == opcode::read_cell)
            become(v, opcode::load, {object, index});
        else if (i.op == opcode::write_cell)
            become(v, opcode::store, {object, index, f.operand(v, 1)});
        else if (i.op == opcode::offset && i.operand_count == 1)
            become(v, opcode::offset, {object, index});
    }
}

/// Adds a variable, initialised to the value, for each value that was assigned, and makes reads and writes
/// refer to it. Reads of all other values are replaced by the values and removed. A variable whose address
/// was taken becomes an object. `recorded` receives the code before this change.
void make_cells(ir::function& f, const std::vector<bool>& assigned, const std::vector<bool>& addressed,
                recording_memory& recorded) {
    const auto is = [](const std::vector<bool>& flags, value_id v) { return v < flags.size() && flags[v]; };
    recorded.code.swap(f.code);
    recorded.operands.swap(f.operands);
    const auto count = static_cast<value_id>(recorded.code.size());
    const auto operands_of = [&](value_id v) {
        return std::span<const value_id>(recorded.operands)
            .subspan(recorded.code[v].first_operand, recorded.code[v].operand_count);
    };
    // A value is defined before it is read, so its new id is known by then; its variable follows it.
    std::vector<value_id> becomes(count), cell_of(count, ir::none);
    std::vector<bool> goes(count, false);
    value_id made = 0;
    for (value_id v = 0; v < count; ++v) {
        const value_id source = recorded.code[v].op == opcode::read_cell ? operands_of(v)[0] : ir::none;
        goes[v] = source != ir::none && cell_of[source] == ir::none;
        becomes[v] = goes[v] ? becomes[source] : made++;
        if (is(assigned, v) || is(addressed, v)) cell_of[v] = made++;
    }
    f.code.reserve(made);
    f.operands.reserve(recorded.operands.size());
    for (value_id v = 0; v < count; ++v) {
        const instruction& i = recorded.code[v];
        if (!goes[v]) {
            const auto first = static_cast<std::uint32_t>(f.operands.size());
            for (value_id o : operands_of(v)) f.operands.push_back(o == ir::none ? o : becomes[o]);
            const bool takes_address = i.op == opcode::offset && i.operand_count == 1;
            const bool is_access = i.op == opcode::read_cell || i.op == opcode::write_cell || takes_address;
            if (is_access) f.operands[first] = cell_of[operands_of(v)[0]];
            f.code.push_back(i);
            f.code.back().first_operand = first;
        }
        if (cell_of[v] != ir::none) {
            instruction cell = make(opcode::cell, i.result, i.where);
            cell.name = i.name;
            cell.knows_line = i.knows_line;
            if (is(addressed, v)) {
                cell.op = opcode::object;
                cell.result = pointer_to(i.result, space::private_);
                cell.bits = 1;
                cell.detail = ir::one_element;
            }
            f.add(cell, {&becomes[v], 1});
        }
    }
    for (value_id v = 0; v < count; ++v)
        if (goes[v] && recorded.code[v].name != ir::none) f.code[becomes[v]].name = recorded.code[v].name;
    ir::block order;
    for (ir::block& block : f.blocks) {
        order.clear();
        for (value_id v : block) {
            if (!goes[v]) order.push_back(becomes[v]);
            if (cell_of[v] != ir::none) order.push_back(cell_of[v]);
        }
        block.assign(order.begin(), order.end());
    }
}

}  // namespace

void make_variables(tracer& t, recording_memory& recorded) {
    make_cells(t.function, t.assigned, t.addressed, recorded);
    if (!t.addressed.empty()) use_objects(t.function);
}

}  // namespace balm::trace

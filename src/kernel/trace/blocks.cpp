// Control flow.

#include "kernel/trace/tracer.hpp"

#include <exception>

namespace balm::trace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

position here() {
    const frame& f = current().frames.back();
    return {f.block, static_cast<std::uint32_t>(current().recorded(f).size())};
}

node guard(bool is_and, node left, position since, node right) {
    tracer& t = current();
    value_id ids[] = {t.use(left), t.use(right)};
    instruction i = make(is_and ? opcode::logic_and : opcode::logic_or, scalar::boolean);
    i.blocks[0] = t.add_block();
    const block_id around = t.frames.back().block;
    if (since.block == around) {
        auto& outside = t.function.blocks[around];
        const auto first = outside.begin() + static_cast<std::ptrdiff_t>(since.size);
        t.function.blocks[i.blocks[0]].assign(first, outside.end());
        outside.erase(first, outside.end());
    }
    return t.node_of(t.record(i, ids));
}

std::uint32_t open_if(node condition, location where) {
    tracer& t = current();
    const value_id id = t.use(condition);
    instruction i = make(opcode::if_, scalar::nothing, where);
    i.blocks[0] = t.add_block();
    i.blocks[1] = t.add_block();
    return t.enter(construct::if_, t.record(i, {&id, 1}), where);
}

void open_else(std::uint32_t token) {
    tracer& t = current();
    frame& f = t.top(token);
    if (t.recorded(f).empty()) t.refuse_empty(f, "IF");
    f.block = t.function.code[f.owner].blocks[1];
}

bool mark_else() {
    current().frames.back().has_else = true;
    return true;
}

std::uint32_t open_while(location where) {
    tracer& t = current();
    const value_id condition = ir::none;
    instruction i = make(opcode::while_, scalar::nothing, where);
    i.blocks[0] = t.add_block();
    i.blocks[1] = t.add_block();
    return t.enter(construct::while_, t.record(i, {&condition, 1}), where);
}

void test_while(std::uint32_t token, node condition) {
    tracer& t = current();
    frame& f = t.top(token);
    t.function.operands_of(f.owner)[0] = t.use(condition);
    f.block = t.function.code[f.owner].blocks[1];
}

namespace {

std::uint32_t open_loop(instruction i, std::span<const value_id> operands, node& variable) {
    tracer& t = current();
    i.blocks[0] = t.add_block();
    const value_id id = t.record(i, operands);
    variable = t.node_of(id);
    return t.enter(construct::loop, id, i.where);
}

}  // namespace

std::uint32_t open_for(node begin, node end, node step, node& variable, location where) {
    tracer& t = current();
    const value_id ids[] = {t.use(begin), t.use(end), t.use(step)};
    const instruction& by = t.function.code[ids[2]];
    if (by.op == opcode::constant && by.bits == 0) fail(where, "the step of this range is 0");
    return open_loop(make(opcode::for_, begin.type, where), ids, variable);
}

std::uint32_t open_grid_for(node count, node& variable, location where, int dimension) {
    tracer& t = current();
    const auto blocks_around = static_cast<int>(t.frames.size()) - 1;
    const int loops_around = t.function.dimensions - 1 - dimension;
    if (blocks_around < loops_around)
        fail(where, "grid_range needs a 1-dimensional kernel; this kernel has more dimensions");
    if (blocks_around > loops_around)
        fail(where,
             "grid_range is inside a function or another block; it covers the whole grid, so use it at the "
             "top level of a kernel");
    const value_id id = t.use(count);
    instruction loop = make(opcode::grid_for, scalar::i64, where);
    loop.bits = static_cast<std::uint64_t>(dimension);
    return open_loop(loop, {&id, 1}, variable);
}

void close(std::uint32_t token) {
    tracer& t = current();
    const frame f = t.top(token);
    if (f.kind == construct::while_ && t.recorded(f).empty()) t.refuse_empty(f, "WHILE");
    if (f.kind == construct::if_ && f.has_else && t.recorded(f).empty()) t.refuse_empty(f, "ELSE");
    t.frames.pop_back();
}

void left_early(std::uint32_t token, const char* construct, location where,
                int exceptions_at_start) noexcept {
    if (!innermost) return;
    auto& frames = innermost->frames;
    while (frames.size() > 1 && frames.back().token >= token) frames.pop_back();
    if (std::uncaught_exceptions() > exceptions_at_start || !innermost->fault.empty()) return;
    try {
        innermost->fault = fmt::format(
            "{}:{}: this {} block is left by a C++ break, return or goto, which the device cannot see: write "
            "break_(), return_() or continue_()",
            where.file, where.line, construct);
    } catch (...) {
        innermost->fault = "left by a break";  // short enough to need no allocation
    }
}

void break_(location where) {
    tracer& t = current();
    if (!t.in_loop()) fail(where, "break_() is outside of WHILE and range");
    t.record(make(opcode::break_, scalar::nothing, where));
}

void continue_(location where) {
    tracer& t = current();
    if (!t.in_loop()) fail(where, "continue_() is outside of WHILE and range");
    t.record(make(opcode::continue_, scalar::nothing, where));
}

void return_(const node* value, location where) {
    tracer& t = current();
    if (value && t.function.dimensions > 0)
        fail(where, "a kernel returns no value; write to an Out parameter and return_()");
    const value_id id = value ? t.use(*value) : ir::none;
    t.record(make(opcode::return_, scalar::nothing, where), {&id, 1});
}

}  // namespace balm::trace

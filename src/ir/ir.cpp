// The tables and small queries of the IR.

#include "ir/ir.hpp"

#include <algorithm>

namespace balm {

const char* to_string(scalar s) noexcept {
    constexpr const char* names[] = {"nothing", "bool", "i8",  "u8",  "i16", "u16",
                                     "i32",     "u32",  "i64", "u64", "f32", "f64"};
    return names[static_cast<std::size_t>(s)];
}

}  // namespace balm

namespace balm::ir {

const builtin_info& info(builtin b) noexcept {
    using detail::rule;
    static constexpr builtin_info table[] = {
#define BALM_OPERATOR(id, symbol, arity, precedence, takes) \
    {#id, arity, rule::takes, symbol, precedence, "", "", 0},
#define BALM_BUILTIN(id, arity, takes, opencl, cuda, ulp) \
    {#id, arity, rule::takes, nullptr, 0, opencl, cuda, ulp},
#include "balm/builtins.def"
    };
    return table[static_cast<std::size_t>(b)];
}

std::string to_string(type t) {
    std::string text = balm::to_string(t.element);
    if (t.lanes > 1) text += "x" + std::to_string(t.lanes);
    if (t.where == space::global) text += " global*";
    if (t.where == space::local) text += " local*";
    return text;
}

value_id function::add(instruction what, std::span<const value_id> its_operands) {
    what.first_operand = static_cast<std::uint32_t>(operands.size());
    what.operand_count = static_cast<std::uint8_t>(its_operands.size());
    operands.insert(operands.end(), its_operands.begin(), its_operands.end());
    code.push_back(what);
    return static_cast<value_id>(code.size() - 1);
}

bool has_barrier(const function& f) {
    for (const instruction& i : f.code)
        if (i.op == opcode::barrier) return true;
    for (const auto& callee : f.callees)
        if (has_barrier(*callee)) return true;
    return false;
}

bool has_effect(opcode op) {
    switch (op) {
        case opcode::cell:
        case opcode::write_cell:
        case opcode::store:
        case opcode::if_:
        case opcode::for_:
        case opcode::while_:
        case opcode::grid_for:
        case opcode::break_:
        case opcode::continue_:
        case opcode::return_:
        case opcode::barrier:
        case opcode::call: return true;
        default: return false;
    }
}

bool has_effect(const function& f, value_id v) {
    const instruction& i = f.code[v];
    if (i.op != opcode::logic_and && i.op != opcode::logic_or) return has_effect(i.op);
    const block& right = f.blocks[i.blocks[0]];
    return std::any_of(right.begin(), right.end(), [&](value_id inner) { return has_effect(f, inner); });
}

const char* to_string(opcode op) noexcept {
    constexpr const char* names[] = {"parameter", "constant", "place",    "builtin",   "convert",
                                     "select",    "and",      "or",       "cell",      "read",
                                     "write",     "load",     "store",    "if",        "for",
                                     "while",     "grid_for", "break",    "continue",  "return",
                                     "barrier",   "call",     "evaluate", "broadcast", "lane_index"};
    return names[static_cast<std::size_t>(op)];
}

namespace {

void dump_block(const function& f, block_id b, int depth, std::string& text) {
    for (value_id v : f.blocks[b]) {
        const instruction& i = f.code[v];
        text.append(static_cast<std::size_t>(depth) * 2, ' ');
        text += "%" + std::to_string(v) + " = " + to_string(i.result) + " " + to_string(i.op);
        if (i.op == opcode::builtin) text += std::string(" ") + info(static_cast<builtin>(i.detail)).name;
        if (i.op == opcode::place) text += std::string(" ") + to_string(static_cast<trace::place>(i.detail));
        for (value_id o : f.operands_of(v)) text += o == none ? " -" : " %" + std::to_string(o);
        if (i.op == opcode::constant || i.op == opcode::parameter || i.op == opcode::place ||
            i.op == opcode::barrier || i.op == opcode::call || i.op == opcode::evaluate)
            text += " #" + std::to_string(i.bits);
        text += "\n";
        for (block_id inner : i.blocks)
            if (inner != none) {
                dump_block(f, inner, depth + 1, text);
                text.append(static_cast<std::size_t>(depth) * 2, ' ');
                text += "end\n";
            }
    }
}

}  // namespace

std::string dump(const function& f) {
    std::string text = f.name + "\n";
    dump_block(f, 0, 1, text);
    return text;
}

namespace {

/// The parameter that a pointer comes from.
std::uint64_t parameter_bit(const function& f, value_id pointer) {
    return std::uint64_t{1} << std::min<std::uint64_t>(f.code[pointer].bits, 63);
}

void add_effects(const function& f, value_id v, effects& sum) {
    const instruction& i = f.code[v];
    if (i.op == opcode::write_cell) sum.cells.push_back(f.operand(v, 0));
    if (i.op == opcode::store) sum.parameters |= parameter_bit(f, f.operand(v, 0));
    if (i.op == opcode::barrier || i.op == opcode::call) sum.all_memory = true;
    for (block_id b : i.blocks)
        if (b != none)
            for (value_id inner : f.blocks[b]) add_effects(f, inner, sum);
}

/// A parameter that nothing else in the kernel can write through.
bool is_constant_memory(const function& f, value_id pointer) {
    const parameter& p = f.parameters[f.code[pointer].bits];
    return p.use == access::in && p.is_restrict;
}

/// Whether a store through the parameters in `stored` may change what `pointer` points to.
bool may_alias(const function& f, std::uint64_t stored, value_id pointer) {
    const parameter& mine = f.parameters[f.code[pointer].bits];
    if (stored & parameter_bit(f, pointer)) return true;
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
        const parameter& other = f.parameters[k];
        if (!(stored >> std::min<std::size_t>(k, 63) & 1)) continue;
        const bool same_space = other.what.where == mine.what.where;
        if (same_space && mine.use != access::local && !(mine.is_restrict && other.is_restrict)) return true;
    }
    return false;
}

}  // namespace

effects effects_of(const function& f, value_id v) {
    effects sum;
    add_effects(f, v, sum);
    return sum;
}

bool clobbers(const function& f, const effects& e, value_id reader) {
    const instruction& i = f.code[reader];
    if (i.op == opcode::read_cell)
        return std::find(e.cells.begin(), e.cells.end(), f.operand(reader, 0)) != e.cells.end();
    if (i.op == opcode::load) {
        const value_id pointer = f.operand(reader, 0);
        return (e.all_memory && !is_constant_memory(f, pointer)) || may_alias(f, e.parameters, pointer);
    }
    for (block_id b : i.blocks)
        if (b != none)
            for (value_id inner : f.blocks[b])
                if (clobbers(f, e, inner)) return true;
    return false;
}

const char* to_string(trace::place p) noexcept {
    constexpr const char* names[] = {"global_id",  "local_id",    "group_id",     "global_size",
                                     "local_size", "group_count", "global_offset"};
    return names[static_cast<std::size_t>(p)];
}

}  // namespace balm::ir

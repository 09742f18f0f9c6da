#include "ir/lower/straight_body.hpp"

#include <algorithm>
#include <vector>

namespace balm::ir {

namespace {

constexpr std::size_t instructions_of_function = 16;

/// The same for GPUs.
bool is_one_instruction_of_gpus(builtin what) {
    return is_one_instruction(what) || what == builtin::abs || what == builtin::ceil ||
           what == builtin::floor || what == builtin::trunc;
}

/// Whether an instruction's effects are stores, or none.
bool only_stores(const function& f, const instruction& i) {
    if (i.op == opcode::store || !has_effect(i)) return true;
    return i.op == opcode::call && f.callees[i.bits]->only_reads;
}

}  // namespace

bool is_one_instruction(builtin what) {
    switch (what) {
        case builtin::clamp:
        case builtin::fabs:
        case builtin::fma:
        case builtin::fmax:
        case builtin::fmin:
        case builtin::mad:
        case builtin::max:
        case builtin::min: return true;
        default: return info(what).symbol != nullptr;
    }
}

std::size_t widest_access(const function& f, const block& body) {
    std::size_t widest = 1;
    for (const value_id v : body)
        if (is_memory_access(f.code[v])) widest = std::max(widest, trace::size_of(accessed_by(f, v)));
    return widest;
}

bool is_straight(const function& f, const block& body, bool is_distinct) {
    std::vector<value_id> written;
    for (const value_id v : body) {
        const instruction& i = f.code[v];
        if (i.blocks[0] != none || !only_stores(f, i)) return false;
        if (i.op == opcode::store) written.push_back(root_of(f, f.operand(v, 0)));
        if (written.empty()) continue;
        if (i.op == opcode::call) return false;
        if (i.op != opcode::load) continue;
        const value_id root = root_of(f, f.operand(v, 0));
        const bool may_be_written = std::find(written.begin(), written.end(), root) != written.end();
        if (!is_distinct || may_be_written) return false;
    }
    return true;
}

std::size_t instructions_of(const function& f, const block& body) {
    std::size_t count = 0;
    for (const value_id v : body) {
        const instruction& i = f.code[v];
        switch (i.op) {
            case opcode::load:
            case opcode::store:
            case opcode::convert:
            case opcode::select: ++count; break;
            case opcode::builtin:
                count +=
                    is_one_instruction_of_gpus(static_cast<builtin>(i.detail)) ? 1 : instructions_of_function;
                break;
            case opcode::read_image: count += instructions_of_function; break;
            case opcode::call:
            case opcode::evaluate: {
                const function& callee = *f.callees[i.bits];
                for (const block& each : callee.blocks) count += instructions_of(callee, each);
                break;
            }
            case opcode::for_:
            case opcode::while_: return most_instructions + 1;
            default: break;
        }
        if (count > most_instructions) break;
    }
    return count;
}

bool has_wide_form(const function& f, value_id v) {
    const value_id pointer = f.operand(v, 0);
    const type memory = f.code[pointer].result;
    return f.code[pointer].op == opcode::parameter && memory.where == space::global &&
           pointee(memory).is_scalar() && !is_volatile(f.code[v]);
}

std::optional<index_sum> index_of_stores(const function& f, const block& body, value_id loop,
                                         const loop_index& index) {
    std::optional<index_sum> common;
    for (const value_id v : body) {
        if (f.code[v].op != opcode::store) continue;
        const std::optional<index_sum> index_of_store =
            has_wide_form(f, v) ? index.sum_of_access(v) : std::nullopt;
        const std::optional<index_sum> own =
            index_of_store ? index_of_store->offset_from(loop) : std::nullopt;
        if (!own || (common && *common != *own)) return std::nullopt;
        common = own;
    }
    return common;
}

}  // namespace balm::ir

// Checks and properties of a function that require its simplified form.

#include "kernel/trace/tracer.hpp"

#include <algorithm>
#include <optional>

#include "ir/passes/aggregate.hpp"

namespace balm::trace {

using ir::instruction;
using ir::opcode;
using ir::value_id;

namespace {

/// Whether a pointer points into private memory that the function declares, or to constants.
bool is_own(const ir::function& f, value_id pointer) {
    const opcode root = f.code[ir::root_of(f, pointer)].op;
    return root == opcode::object || root == opcode::constant_array;
}

/// The number of elements that a pointer without an offset points to; 0 if unknown.
std::uint64_t elements_of(const ir::function& f, value_id pointer) {
    const instruction& i = f.code[pointer];
    if (i.op == opcode::object) return i.bits;
    if (i.op == opcode::constant_array) {
        const ir::constant_data& data = *f.constants[i.bits];
        return data.is_given() ? data.given_count : data.bits.size();
    }
    if (i.op != opcode::member) return 0;
    const type whole = pointee(f.code[f.operand(pointer, 0)].result);
    const std::uint64_t count = ir::is_structure(whole) ? ir::structure_of(whole).members[i.bits].count : 1;
    return count > 1 ? count : 0;
}

/// The first scalar out of range that a vector at an index of vectors may have: its last one, or its first.
std::optional<std::int64_t> last_scalar(std::int64_t vector, std::int64_t lanes) {
    std::int64_t first = 0;
    if (__builtin_mul_overflow(vector, lanes, &first) || first > INT64_MAX - lanes) return std::nullopt;
    return first < 0 ? first : first + lanes - 1;
}

/// Refuses indices that are known to be out of range only after simplification.
void refuse_indices_beyond(const ir::function& f) {
    const auto constant = [&](value_id v) -> std::optional<std::int64_t> {
        if (f.code[v].op != opcode::constant) return std::nullopt;
        return number_of(f.code[v].result.element, f.code[v].bits);
    };
    for (const auto& block : f.blocks) {
        for (value_id v : block) {
            const opcode op = f.code[v].op;
            if (op != opcode::load && op != opcode::store && op != opcode::atomic) continue;
            value_id pointer = f.operand(v, 0);
            std::optional<std::int64_t> index = constant(f.operand(v, 1));
            if (const type element = pointee(f.code[pointer].result); index && element.is_packed) {
                index = last_scalar(*index, element.lanes);
                pointer = f.operand(pointer, 0);
            }
            for (; index && f.code[pointer].op == opcode::offset; pointer = f.operand(pointer, 0)) {
                const std::optional<std::int64_t> step = constant(f.operand(pointer, 1));
                std::int64_t sum = 0;
                const bool fits = step && !__builtin_add_overflow(*index, *step, &sum);
                index = fits ? std::optional(sum) : std::nullopt;
            }
            const std::uint64_t elements = index ? elements_of(f, pointer) : 0;
            if (elements > 0 && (*index < 0 || static_cast<std::uint64_t>(*index) >= elements))
                refuse_index(*index, elements, f.code[v].where);
        }
    }
}

/// Refuses steps that are known to be 0 only after simplification.
void refuse_endless_ranges(const ir::function& f) {
    for (const auto& block : f.blocks) {
        for (value_id v : block) {
            if (f.code[v].op != opcode::for_) continue;
            const instruction& step = f.code[f.operand(v, 2)];
            if (step.op == opcode::constant && step.bits == 0)
                fail(f.code[v].where, "the step of this range is 0");
        }
    }
}

}  // namespace

void refuse_known_faults(const ir::function& f) {
    refuse_endless_ranges(f);
    refuse_indices_beyond(f);
}

// A function that only reads may read images: a launch that writes an image binds it only once
// (kernel/launch/launch.cpp), so no launch changes an image that it reads. `exchanges` covers the operations
// of sub-groups; their queries are places.
bool only_reads(const ir::function& f) {
    if (f.result == type() || f.exchanges != 0) return false;
    return std::none_of(f.code.begin(), f.code.end(), [&](const instruction& i) {
        switch (i.op) {
            case opcode::load: return ir::is_volatile(i);
            case opcode::store: return !is_own(f, f.operands[i.first_operand]);
            case opcode::call: return !f.callees[i.bits]->only_reads;
            case opcode::barrier:
            case opcode::place:
            case opcode::atomic:
            case opcode::fence:
            case opcode::print:
            case opcode::write_image: return true;
            default: return false;
        }
    });
}

bool reads_memory(const ir::function& f) {
    return std::any_of(f.code.begin(), f.code.end(), [&](const instruction& i) {
        const bool is_load = i.op == opcode::load && !is_own(f, f.operands[i.first_operand]);
        return is_load || i.op == opcode::call;
    });
}

}  // namespace balm::trace

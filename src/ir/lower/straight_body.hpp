#pragma once
// Properties of a loop body that decide whether it can be repeated for several elements.

#include <cstddef>
#include <optional>

#include "ir/ir.hpp"
#include "ir/lower/loop_index.hpp"

namespace balm::ir {

/// Beyond this number of instructions per work-item, arithmetic and registers bound the kernel rather than
/// memory.
inline constexpr std::size_t most_instructions = 256;

inline bool is_memory_access(const instruction& i) { return i.op == opcode::load || i.op == opcode::store; }
/// The type of the element that a load or store accesses.
inline type accessed_by(const function& f, value_id v) { return pointee(f.code[f.operand(v, 0)].result); }
/// Bytes of the widest element that the body accesses; at least 1.
std::size_t widest_access(const function&, const block& body);

/// Whether the body can be computed for several elements at once: straight-line code whose only effects are
/// stores, and which reads nothing that it has written before.
bool is_straight(const function&, const block& body, bool is_distinct);

/// Whether GPUs and the vector units of CPUs compute it in an instruction or two: operators, and a few
/// functions.
bool is_one_instruction(builtin);

/// The number of instructions that a work-item executes in a block. A built-in function counts as several; a
/// loop counts as more than most_instructions.
std::size_t instructions_of(const function&, const block& body);

/// Whether a load or store can become part of a vector access: it accesses scalars in a parameter's memory.
bool has_wide_form(const function&, value_id access);

/// The offset of the stores' index from the loop's, if it is the same for all stores and vectors can be
/// stored there.
std::optional<index_sum> index_of_stores(const function&, const block& body, value_id loop,
                                         const loop_index&);

}  // namespace balm::ir

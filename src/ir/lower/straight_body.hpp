#pragma once
// What is known of the body of a loop before it is repeated for several elements.

#include <cstddef>
#include <optional>

#include "ir/ir.hpp"
#include "ir/lower/loop_index.hpp"

namespace balm::ir {

/// Instructions of a work-item: beyond, arithmetic and registers bound the kernel rather than memory.
inline constexpr std::size_t most_instructions = 256;

inline bool is_memory_access(const instruction& i) { return i.op == opcode::load || i.op == opcode::store; }
/// The element that a load or store accesses.
inline type accessed_by(const function& f, value_id v) { return pointee(f.code[f.operand(v, 0)].result); }
/// Bytes of the widest element that the body accesses; at least 1.
std::size_t widest_access(const function&, const block& body);

/// Whether the body can be done for several elements at once: a straight line whose effects are stores, and
/// which reads nothing that it has written before.
bool is_straight(const function&, const block& body, bool is_distinct);

/// What a work-item executes of a block, with a function counted as several; loops count as more than it
/// should.
std::size_t instructions_of(const function&, const block& body);

/// Whether a load or store can be part of one of several elements: of scalars in a parameter's memory.
bool has_wide_form(const function&, value_id access);

/// The index of all stores besides the loop's own, where it is the same for all, and vectors can be stored
/// there.
std::optional<index_sum> index_of_stores(const function&, const block& body, value_id loop,
                                         const loop_index&);

}  // namespace balm::ir

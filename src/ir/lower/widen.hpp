#pragma once
// Explicit vectors: for CPUs, whose compilers vectorise arithmetic but no library functions, and for elements
// that share costly work. In: a grid_for whose body treats every element alike. Out: the same body on short
// vectors, one per iteration.

#include "ir/ir.hpp"

namespace balm::ir {

/// What lanes_for returns at most: 64 bytes of the smallest elements, of 4. Elements whose numbers differ
/// only in the lowest bits, below this number, may share what does not depend on these bits.
inline constexpr std::uint64_t most_lanes = 16;

/// The number of lanes that pays off for the loop's body on a CPU: 1 if it has no vector form. It has one if
/// it is straight-line code of operations that OpenCL C has for vectors, and accesses memory only at the
/// loop's index, or at one position for all elements. Beside functions on vectors, other values may be
/// computed lane by lane.
std::uint8_t lanes_for(const function&, value_id loop);

/// Whether the loop's body calls a function for which four neighbouring elements can share a call
/// (function::of_four).
bool has_call_of_four(const function&, value_id loop);

/// Whether four elements share a call, and the rest is arithmetic: a CPU's compiler vectorises over several
/// such fours, while the calls for the lanes of an explicit vector would run one by one.
bool is_arithmetic_on_fours(const function&, value_id loop);

/// Whether the loop's body does little but gather or scatter, at positions read from memory: compilers that
/// vectorise such a loop make it slower.
bool does_little_but_gather(const function&, value_id loop);

/// Whether OpenCL C has the row for vectors, spelt as for scalars, and implementations compute it correctly.
bool has_lanes_in_opencl(builtin, scalar operand_type);

/// Whether Balm implements the row on 8 or 16 lanes in OpenCL C, for CPUs (emit/elementary_functions.hpp).
bool has_own_lanes(builtin, scalar operand_type);

/// Whether a CPU computes the row several times faster on vectors than in a loop of scalars, where its
/// compiler calls the function for each element.
bool is_slow_in_loops(builtin, scalar operand_type);

/// Rewrites the body: memory is read and written at `vector_index`, in vectors, and the loop's variable
/// becomes `first_element` + {0, 1, 2, …}. `lanes` must be the result of lanes_for.
void widen(function&, value_id loop, std::uint8_t lanes, value_id vector_index, value_id first_element);

}  // namespace balm::ir

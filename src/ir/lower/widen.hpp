#pragma once
// Explicit vectors: for CPUs, whose compilers vectorise arithmetic but no library functions, and for elements
// that share what is costly. In: a grid_for whose body treats every element alike. Out: the same body on
// short vectors, a vector a turn.

#include "ir/ir.hpp"

namespace balm::ir {

/// How many lanes the loop's body is worth on a CPU: 1 where it has no vector form. It has one when it is a
/// straight line of operations that OpenCL C knows for vectors, and touches memory only at the loop's index.
std::uint8_t lanes_for(const function&, value_id loop);

/// Whether the loop's body calls a function of which four neighbouring elements can share a call
/// (function::of_four).
bool has_call_of_four(const function&, value_id loop);

/// Whether four elements share a call, and the rest is arithmetic: a CPU's compiler makes vectors of several
/// such fours, whose calls would be done one by one for the lanes of a vector.
bool is_arithmetic_on_fours(const function&, value_id loop);

/// Whether the loop's body does little but read or write elements where memory says, which a compiler that
/// makes vectors of it slows down.
bool does_little_but_gather(const function&, value_id loop);

/// Whether OpenCL C has the row for vectors, spelt as for scalars, and implementations can be trusted with
/// it.
bool has_lanes_in_opencl(builtin, scalar operand_type);

/// Whether OpenCL C programs have functions of Balm's own for the row on 8 or 16 lanes, as CPUs get them
/// (emit/elementary_functions.hpp).
bool has_own_lanes(builtin, scalar operand_type);

/// Rewrites the body: memory is read and written at `vector_index`, in vectors, and the loop's variable
/// becomes `first_element` + {0, 1, 2, …}. Call only with what lanes_for gave.
void widen(function&, value_id loop, std::uint8_t lanes, value_id vector_index, value_id first_element);

}  // namespace balm::ir

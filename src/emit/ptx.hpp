#pragma once
// Helper functions in PTX, for the dialects whose compilers accept it. The instructions are in the PTX ISA,
// sections 9.7.13 (barriers, fences, votes) and 9.7.9 (shuffles, conversions).

#include <optional>
#include <string>

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::emit::ptx {

/// A value of another lane: $0 is the value, $1 the lane or distance, $2 the last present lane.
sync_spelling shuffle(const dialect&, ir::sub_group_op, scalar element);

/// The full 64-bit product of two u32.
helper_function wide_product(const dialect&);

/// Converts floating point to an integer of 32 or 64 bits as saturating_conversion does, in one instruction;
/// two more where NaN would not become 0.
helper_function saturating_conversion(const dialect&, scalar from, scalar to);

/// The correctly rounded square root of an f32 between 2^-100 and 2^126.
helper_function root_of_normal(const dialect&);

/// Integer arithmetic that must be hidden from NVIDIA's compilers, which is then computed in PTX:
///
/// * -x of 32 bits, also unsigned, which may be converted: CUDA 13.0's ptxas computes max(max(a, -b), c) as
///   the maximum of a, b and c, and min likewise (sm_90, sm_100).
/// * Sums, differences, products and absolute values of 16 bits: NVVM makes neg.s16 of any negation that it
///   finds (0 - x, x * -2, ~x + 1), and ptxas takes the result for one that needs no sign extension. After
///   `short y = -x`, x = -32768, (int)y is 32768 (CUDA 13.0, sm_90). Instructions of u16 are right.
/// * Saturated sums and differences of 8 and 16 bits: after max(min(x, 255), 0) ptxas takes a comparison
///   with 255 from the predicate of VIMNMX.RELU, which says something else.
/// * Saturated differences of u32: NVIDIA's OpenCL extends them to 64 bits, and sub_sat(mul_hi(b, c), 0) is
///   then 0.
std::optional<helper_function> hidden_arithmetic(const dialect&, builtin, scalar operand);
/// Whether a conversion hides the arithmetic before it, which NVVM would compute in the 16 bits of the
/// result.
bool hides_arithmetic(scalar from, scalar to);
/// Such a conversion.
helper_function truncation(const dialect&, scalar from, scalar to);

/// max(min(x, y), 0) of i32, in either order of operands: ptxas 13.0 makes one VIMNMX.RELU of it, and takes
/// `max(min(x, y), 0) == y` from that instruction's predicate, which says something else (sm_90). The zero is
/// hidden.
helper_function maximum_of_minimum(const dialect&);

/// The bits of a number as another type, for numbers that are truth values: in functions with loops,
/// CUDA 13.0's ptxas follows a truth value through the register into conversions of the other type, which
/// then convert truth: the i32 nearest to as_float(c) is 1, not 0 (sm_90, in CUDA and in NVIDIA's OpenCL).
helper_function bits_of_truth(const dialect&, builtin as, scalar from);

/// How a function uses a pointer: a store writes what it points to, a function that is called may write
/// anywhere in the array behind it.
enum class handed { to_store, to_function };
/// Whether NVIDIA's compilers must be told of what may be written through the pointer: it goes, or may go, to
/// a member of an element, at an index that is not constant, of an array of structures that is itself a
/// member. Copies of the whole structure are compiled to loads of up to 16 bytes; one that begins at another
/// member of an element and ends in the next element is taken for independent of the store, and may return
/// the values before it (NVRTC 13.0, also in NVIDIA's OpenCL). For functions for which may_lose_stores holds.
bool loses_stores(const ir::function&, ir::value_id pointer, handed);
/// Whether a function sees structures that have arrays of structures: others cannot copy one.
bool may_lose_stores(const ir::function&);
/// dialect::prefetch
helper_function prefetch(const dialect&);

/// Tells the compiler that the memory around an address may have been written.
helper_function written(const dialect&);

/// The body of an atomic addition to an f32 in global or local memory. For local memory ptxas makes a loop of
/// instructions that lock a word, several times as fast as one of compare-and-exchange.
std::string f32_add(space where);

}  // namespace balm::emit::ptx

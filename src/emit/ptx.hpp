#pragma once
// Helper functions in PTX, for the dialects whose compilers take it. PTX is quoted from the PTX ISA, sections
// 9.7.13 (barriers, fences, votes) and 9.7.9 (shuffles).

#include "emit/dialect.hpp"

namespace balm::emit::ptx {

/// A value of another lane: $0 is the value, $1 the lane or distance, $2 the last lane that is there.
sync_spelling shuffle(const dialect&, ir::sub_group_op, scalar element);

/// The whole product of two u32.
helper_function wide_product(const dialect&);

/// The square root of an f32 between 2^-100 and 2^126. Rounds correctly.
helper_function root_of_normal(const dialect&);

/// Whether ptxas must not see an integer's -x: that of CUDA 13.0 computes max(max(a, -b), c), and min
/// likewise, as the maximum of a, b and c (sm_90, sm_100). Of 32 bits, unsigned too, which may be converted.
bool hides_negation(scalar);
/// -x of such an integer.
helper_function negation(const dialect&, scalar);

/// The body of an atomic addition to an f32 in global memory.
inline constexpr std::string_view f32_add =
    "float old;\n    asm volatile(\"atom.global.add.f32 %0, [%1], %2;\" : \"=f\"(old) : \"l\"(p), "
    "\"f\"(value) : \"memory\");\n    return old;";

}  // namespace balm::emit::ptx

#pragma once
// Reciprocals of integers, by which kernels multiply instead of dividing by an argument of the launch
// (ir/passes/reciprocals.hpp): Granlund and Montgomery, Division by invariant integers using multiplication,
// PLDI 1994; Robison, N-bit unsigned division via N-bit multiply-add, ARITH 2005. Quotients are exact for
// every dividend and divisor; those by 0 are 0.
//
// With d the divisor, h(a, b) the upper 64 bits of a * b, and s = floor(log2 d):
//     x below 2^32:      x / d = h(narrow, x + 1)              narrow = floor((2^64 - 1) / d)
//     x up to 2^63:      x / d = h(wide, x + 1) >> s           wide = floor((2^(64 + s) - 1) / d)
//     x below 2^64:      x / d = (t + ((x - t) >> min(l, 1))) >> (l - min(l, 1))
//                                                              t = h(whole, x), l = ceil(log2 d),
//                                                              whole = floor(2^64 (2^l - d) / d) + 1
// The first two: with r the remainder of the reciprocal's division and n its dividend plus 1, h is the floor
// of (x + 1) / d - (x + 1) (r + 1) / (d n), which is not less than floor(x / d) if (x + 1) (r + 1) <= n. r +
// 1 is at most d; a narrow one of d >= 2^32 yields 0 because x + 1 <= d.

#include "base/launch_plan.hpp"
#include "runtime/backend.hpp"

namespace balm::runtime {

/// A part of the reciprocal of |d|.
std::uint64_t reciprocal_of(std::uint64_t d, reciprocal_part);

/// The argument for a parameter of origin::reciprocal, from that of the divisor.
argument reciprocal_argument(const argument& divisor, const parameter_origin&);

}  // namespace balm::runtime

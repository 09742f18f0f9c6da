#pragma once
// Divisions of integers by an argument of the launch become multiplications by a reciprocal, which the launch
// computes (runtime/program/reciprocal.hpp). 64-bit divisions take some hundred instructions on GPUs, and on
// CPUs 20 to 40 cycles, in which loops are not vectorised.

#include "ir/ir.hpp"

namespace balm::ir {

/// The kernel, in which the divisions and remainders whose divisor is a value parameter are multiplications,
/// unless the dividend is the same for all work-items. It has a parameter more for each part of a reciprocal.
/// `small_counts` is that of launch_facts.
function with_reciprocals(function kernel, std::uint64_t small_counts);

}  // namespace balm::ir

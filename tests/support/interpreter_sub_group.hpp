#pragma once
// What the lanes of a sub-group get from its operations.

#include <cstdint>
#include <span>

#include "ir/ir.hpp"

namespace balm::test {

/// `values` are those of the lanes that are there, as bits of the scalar type; `operands` the lane or
/// distance of a shuffle. The results stand in `values` afterwards. Floats are combined as the kernel
/// language promises: in a tree whose branches are 16, 8, 4, 2 and 1 lanes apart, scans as Hillis and Steele
/// do.
void apply_sub_group(ir::sub_group_op, scalar, std::span<std::uint64_t> values,
                     std::span<const std::uint64_t> operands);

}  // namespace balm::test

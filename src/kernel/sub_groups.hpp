#pragma once
// Implements the sub-group operations that a device's language lacks, in the kernel language: reductions and
// scans by shuffles. Without sub-groups, all operations pass through local memory, between barriers of the
// whole group; a sub-group is then 32 consecutive work-items.

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// The kernel with such operations replaced by calls of functions. Without sub-groups, these work in local
/// memory, which the kernel takes as additional last parameters; throws trace_error if only some sub-groups
/// of a group may reach one.
ir::function write_out_sub_groups(const ir::function& kernel, const emit::features&);

}  // namespace balm::kernels

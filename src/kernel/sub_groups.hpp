#pragma once
// The operations of sub-groups that a device's language has no word for, written in the kernel language:
// reductions and scans by shuffles; and where there are no sub-groups, all of them through local memory,
// between barriers of the whole group, a sub-group being 32 work-items in a row.

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// The kernel with such operations written as calls of functions. Where there are no sub-groups, these work
/// in local memory, which the kernel takes as further parameters at its end; throws trace_error where only
/// some sub-groups of a group may reach one.
ir::function write_out_sub_groups(const ir::function& kernel, const emit::features&);

}  // namespace balm::kernels

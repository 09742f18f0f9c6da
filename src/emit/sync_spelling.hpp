#pragma once
// How fences, counting barriers and the operations of sub-groups are spelt: three columns, portable OpenCL C,
// NVIDIA's OpenCL C with PTX, and CUDA C++. What a dialect has no word for is written out before the kernel
// is printed (kernel/sub_groups.hpp).

#include <string>
#include <vector>

#include "emit/builtin_spelling.hpp"
#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

/// An expression with $0, $1 … for the operands, which stand as a call's arguments.
struct sync_spelling {
    std::string pattern;
    std::vector<helper_function> helpers;
};

/// `takes_ptx`: the compiler of OpenCL C takes PTX. `element`: of the value that is passed on, if any.
sync_spelling spell(runtime::dialect, bool takes_ptx, ir::sub_group_op, scalar element);
/// A barrier for both memories that counts the true conditions ($0).
sync_spelling spell_counting_barrier(runtime::dialect, bool takes_ptx);
/// A statement.
std::string spell_fence(runtime::dialect, bool takes_ptx, trace::memory_scope);

}  // namespace balm::emit

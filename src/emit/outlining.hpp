#pragma once
// Which functions a compiler must not inline. An algorithm calls a function, such as the comparison of a sort
// or the operation of a scan, once for each element of a work-item. NVIDIA's compilers inline every call and
// unroll the loops inside, so that a function of 48 sines took minutes to compile.

#include <set>

#include "ir/ir.hpp"

namespace balm::emit {

/// The functions that the kernel calls, directly or indirectly, that are large and called so often that the
/// program would be huge if they were inlined.
std::set<const ir::function*> outlined_functions(const ir::function& kernel);

}  // namespace balm::emit

#pragma once
// What OpenCL C has and CUDA C++ lacks, as CUDA C++ text: vector types, work-item functions, conversions,
// built-ins. A rewritten text is compiled behind it, inside its namespace.

#include <set>
#include <string>

namespace balm::emit::cuda {

/// What compilers' logs call it; build errors do not list its lines.
inline constexpr const char* prelude_file = "balm_opencl_c.h";

/// The prelude for a text that uses these words, in a kernel of that many dimensions: elementary functions
/// that it does not name are left out. Ends inside the open namespace.
std::string prelude(const std::set<std::string>& words, int dimensions, bool has_offset);

}  // namespace balm::emit::cuda

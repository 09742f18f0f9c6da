#pragma once
// The features of OpenCL C that CUDA C++ lacks, as CUDA C++ text: vector types, work-item functions,
// conversions, built-ins. A rewritten text is compiled after it, inside its namespace.

#include <set>
#include <string>

namespace balm::emit::cuda {

/// The name of the prelude in compilers' logs; build errors do not list its lines.
inline constexpr const char* prelude_file = "balm_opencl_c.h";

/// The prelude for a text that uses these words, in a kernel of that many dimensions. Elementary functions
/// that the text does not name are left out. Ends inside the open namespace.
std::string prelude(const std::set<std::string>& words, int dimensions, bool has_offset);

}  // namespace balm::emit::cuda

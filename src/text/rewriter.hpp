#pragma once
// OpenCL C -> CUDA C++. In: the preprocessed tokens of a program. Out: the same program as text that compiles
// after the prelude, in its namespace. What cannot be translated faithfully is refused, with its line.

#include <set>
#include <string>
#include <string_view>

#include "text/outline.hpp"

namespace balm::opencl_c {

/// The namespace of the prelude and of every rewritten text: its float4 is not CUDA's.
inline constexpr const char* prelude_namespace = "balm_cl";

/// The text, with #line directives. Throws fault for what is refused.
std::string rewrite(const tokens&, const outline&);

/// The name of a function in the rewritten text: it changes if it is a C++ keyword.
std::string cuda_name(const std::string& name);

/// The `extern "C" __global__` entry point for a kernel of the text; it takes local memory as offsets, and
/// the start of the grid in the first `starts` dimensions.
std::string entry_point(const function& kernel, const std::string& entry_name, std::size_t starts);

/// Every word of the tokens, for the prelude.
std::set<std::string> all_words(const tokens&);

/// Throws fault if functions of the text are recursive.
void refuse_recursion(const tokens&, const outline&);

}  // namespace balm::opencl_c

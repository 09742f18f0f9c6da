#pragma once
// OpenCL C -> CUDA C++. In: the preprocessed tokens of a program. Out: the same program as text that compiles
// behind the prelude, in its namespace. What cannot be carried over faithfully is refused, with its line.

#include <set>
#include <string>
#include <string_view>

#include "text/outline.hpp"

namespace balm::opencl_c {

/// The namespace of the prelude and of every rewritten text: its float4 is not CUDA's.
inline constexpr const char* prelude_namespace = "balm_cl";

/// The text, with #line directives; throws fault for what is refused.
std::string rewrite(const tokens&, const outline&);

/// The name that a function of the text has in the rewritten one: another where C++ has a keyword.
std::string cuda_name(const std::string& name);

/// `extern "C" __global__` entry point for a kernel of the text; local memory comes as offsets, and, where
/// there are `starts`, where the grid begins in so many dimensions.
std::string entry_point(const function& kernel, const std::string& entry_name, std::size_t starts);

/// Every word of the tokens, for the prelude.
std::set<std::string> all_words(const tokens&);

/// Throws fault where functions of the text call each other in a circle.
void refuse_recursion(const tokens&, const outline&);

}  // namespace balm::opencl_c

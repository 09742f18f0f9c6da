#pragma once
// Whether the declaration in a text agrees with the C++ signature. One table of bindings decides for every
// parameter, when the kernel is defined and again when CUDA compiles it.

#include <string>

#include "ir/ir.hpp"
#include "text/outline.hpp"

namespace balm::opencl_c {

/// A sentence that shows both and says how they differ; empty if they agree. Only the first `count`
/// parameters are the user's.
std::string difference(const ir::function& expected, std::size_t count, const function& found);

/// "float4", "Ptr<int>": a type of a signature.
std::string type_words(ir::type);

}  // namespace balm::opencl_c

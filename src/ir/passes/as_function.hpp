#pragma once
// A kernel as a function that kernels of as many dimensions call: the same body for the same work-item.

#include <memory>

#include "ir/ir.hpp"

namespace balm::ir {

/// Throws trace_error where a barrier of its may not be reached by all work-items once arguments differ
/// between them. The kernel declares no local memory.
std::shared_ptr<const function> as_function(const function& kernel);

}  // namespace balm::ir

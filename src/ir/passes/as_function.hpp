#pragma once
// A kernel as a function that kernels with the same number of dimensions call: the same body for the same
// work-item.

#include <memory>

#include "ir/ir.hpp"

namespace balm::ir {

/// Throws trace_error if a barrier is in divergent control flow once arguments differ between work-items. The
/// kernel declares no local memory.
std::shared_ptr<const function> as_function(const function& kernel);

}  // namespace balm::ir

#pragma once
// A kernel as a function that kernels with the same number of dimensions call: the same body for the same
// work-item.

#include <memory>

#include "ir/ir.hpp"

namespace balm::ir {

/// Throws trace_error if a barrier is in divergent control flow once arguments differ between work-items.
/// Precondition: the kernel is not given as text and declares no local memory (the tracer refuses such
/// calls).
std::shared_ptr<const function> as_function(const function& kernel);

}  // namespace balm::ir

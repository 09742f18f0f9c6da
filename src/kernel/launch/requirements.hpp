#pragma once
// The features that a kernel needs beyond those that every device has, found in its IR: checked before
// compiling, so that the error is a sentence and not a compiler's log.

#include "balm/device_info.hpp"
#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// Throws usage_error if the device lacks a feature that the kernel, or a function it calls, needs: double
/// precision, images, 64-bit atomic operations; and if its local arrays are too large.
void check_requirements(const ir::function& kernel, const emit::dialect&, const device_info&);

}  // namespace balm::kernels

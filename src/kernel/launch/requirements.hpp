#pragma once
// What a kernel asks of a device beyond what every device has, known from its IR: asked before it is
// compiled, so that the answer is a sentence and not a compiler's log.

#include "balm/device_info.hpp"
#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// Throws usage_error where the device lacks what the kernel, or a function it calls, needs: double
/// precision, atomic operations on 64 bits.
void check_requirements(const ir::function& kernel, const emit::dialect&, const device_info&);

}  // namespace balm::kernels

#pragma once
// The constants of modules, whose contents are written at run time. In: a kernel that reads them like
// constants of the program. Out: the same with a hidden parameter for each, which it passes on to the
// functions that read it; the launch binds the memory (kernel/module/module_state.hpp).

#include "balm/device_info.hpp"
#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// The kernel with its given constants, in the order of function::given, as its last parameters: in OpenCL's
/// constant memory while the device has room there, otherwise in global memory. Throws usage_error if a
/// pointer into a constant in global memory is kept or passed on, because its type names constant memory.
ir::function write_out_constants(const ir::function& kernel, const emit::features&, const device_info&);

}  // namespace balm::kernels

#pragma once
// The constants of modules, whose contents are written at run time. In: a kernel that reads them as it reads
// constants of the program. Out: the same with a hidden parameter for each, which it hands on to the
// functions that read it; the launch brings the memory along (kernel/module/module_state.hpp).

#include "balm/device_info.hpp"
#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::kernels {

/// The kernel with its given constants, in the order of function::given, as its last parameters: in OpenCL's
/// constant memory as long as the device has room there, else in global memory. Throws usage_error where a
/// pointer into such a one is kept or passed on, as its type says constant memory.
ir::function write_out_constants(const ir::function& kernel, const emit::features&, const device_info&);

}  // namespace balm::kernels

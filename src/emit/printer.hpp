#pragma once
// IR -> text. In: a lowered kernel and the dialect of its device. Out: the source that the device's compiler
// takes, as a person would have written it. One walker serves both dialects; what differs is spelt by tables.

#include <string>

#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

/// The whole source of a kernel: a line of provenance, the helper functions it needs, the device functions
/// it calls, the kernel.
std::string print(const ir::function& kernel, runtime::dialect);

/// The name under which print() declares the kernel: its own, unless that is reserved in a dialect. A kernel
/// given as OpenCL C keeps its name there whatever it is.
std::string kernel_name(const ir::function& kernel, runtime::dialect = runtime::dialect::opencl_c);

}  // namespace balm::emit

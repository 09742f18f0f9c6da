#pragma once
// Where OpenCL's entry points and drivers come from.

#include "base/system.hpp"

namespace balm::runtime {

/// The program itself, with the libraries that are linked or preloaded, if it exports OpenCL: this lets
/// Oclgrind and others replace the loader. Else libOpenCL.so.1, or libOpenCL.so; if neither opens, the handle
/// is empty and failures() says why.
shared_library open_opencl_loader();

/// The directory that the loader searches for drivers, unless OCL_ICD_VENDORS names another one.
inline constexpr const char* usual_opencl_vendors = "/etc/OpenCL/vendors";

}  // namespace balm::runtime

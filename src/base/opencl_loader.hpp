#pragma once
// Where OpenCL's entry points and drivers come from.

#include "base/system.hpp"

namespace balm::runtime {

/// What the program is linked with or was started with, where that has OpenCL: so Oclgrind and others stand
/// in for the loader. Else libOpenCL.so.1; where it does not open, the handle is empty and failures() says
/// why.
shared_library open_opencl_loader();

/// Where the loader looks for drivers unless OCL_ICD_VENDORS names another place.
inline constexpr const char* usual_opencl_vendors = "/etc/OpenCL/vendors";

}  // namespace balm::runtime

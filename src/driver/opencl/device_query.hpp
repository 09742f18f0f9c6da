#pragma once
// Queries the properties of an OpenCL device, without initialising it.

#include <string>
#include <string_view>

#include "balm/device_info.hpp"
#include "driver/opencl/api.hpp"

namespace balm::opencl {

/// The name of PoCL's platform, whose limits and quirks are known.
inline constexpr std::string_view pocl_platform = "Portable Computing Language";

device_info query_device(cl_platform_id, cl_device_id);

/// CL_PLATFORM_NAME and the like, without surrounding spaces; empty if the query fails.
std::string platform_text(cl_platform_id, cl_platform_info);

}  // namespace balm::opencl

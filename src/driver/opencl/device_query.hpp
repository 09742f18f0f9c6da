#pragma once
// Takes a platform and a device id, gives what Balm knows of a device. Nothing is started on it.

#include <string>
#include <string_view>

#include "balm/device_info.hpp"
#include "driver/opencl/api.hpp"

namespace balm::opencl {

/// The platform of PoCL, whose limits and habits are known.
inline constexpr std::string_view pocl_platform = "Portable Computing Language";

device_info query_device(cl_platform_id, cl_device_id);

/// CL_PLATFORM_NAME and the like, without spaces around; empty where the driver does not answer.
std::string platform_text(cl_platform_id, cl_platform_info);

}  // namespace balm::opencl

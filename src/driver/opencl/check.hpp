#pragma once
// Checks the code that an OpenCL call returned: on failure throws an error that names the call, the code, the
// object and the device. Driver calls that must succeed are checked here.

#include <string_view>

#include "driver/opencl/api.hpp"

namespace balm::opencl {

/// "CL_INVALID_VALUE" for -30; "unknown error" for a code that no standard names.
const char* error_name(cl_int code) noexcept;

/// Throws out_of_memory_error for CL_MEM_OBJECT_ALLOCATION_FAILURE and CL_OUT_OF_HOST_MEMORY, else
/// device_error. `object` is a phrase such as "kernel 'saxpy'".
[[noreturn]] void fail(cl_int code, std::string_view call, std::string_view object, std::string_view device);

inline void check(cl_int code, std::string_view call, std::string_view object, std::string_view device) {
    if (code != CL_SUCCESS) [[unlikely]]
        fail(code, call, object, device);
}

}  // namespace balm::opencl

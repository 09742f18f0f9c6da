#pragma once
// Takes the code that an OpenCL call returned; returns, or throws an error that names the call, the code,
// the object and the device. Every driver call of this folder goes through here.

#include <string_view>

#include "driver/opencl/api.hpp"

namespace balm::opencl {

/// "CL_INVALID_VALUE" for -30; "unknown error" for a code that no standard names.
const char* error_name(cl_int code) noexcept;

/// Throws device_error, or out_of_memory_error where the code says so. `object` is a phrase such as
/// "kernel 'saxpy'".
[[noreturn]] void fail(cl_int code, std::string_view call, std::string_view object, std::string_view device);

inline void check(cl_int code, std::string_view call, std::string_view object, std::string_view device) {
    if (code != CL_SUCCESS) [[unlikely]]
        fail(code, call, object, device);
}

}  // namespace balm::opencl

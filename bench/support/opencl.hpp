#pragma once
// Shared by the peers in plain OpenCL.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdexcept>
#include <string>

namespace peer {

inline void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS)
        throw std::runtime_error("OpenCL peer: " + std::string(what) + ": " + std::to_string(code));
}

template <class Get, class Of>
std::string name_of(Get get, Of of, cl_uint what) {
    char name[256] = {};
    check(get(of, what, sizeof name - 1, name, nullptr), "a name");
    return name;
}

/// The first device of this name on the platform of this name. Throws std::runtime_error if there is none.
inline cl_device_id find_device(const std::string& platform, const std::string& device) {
    cl_platform_id platforms[16];
    cl_uint count = 0;
    check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < count && p < 16; ++p) {
        if (name_of(clGetPlatformInfo, platforms[p], CL_PLATFORM_NAME) != platform) continue;
        cl_device_id devices[16];
        cl_uint device_count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < device_count && d < 16; ++d)
            if (name_of(clGetDeviceInfo, devices[d], CL_DEVICE_NAME) == device) return devices[d];
    }
    throw std::runtime_error("OpenCL peer: there is no device " + device);
}

}  // namespace peer

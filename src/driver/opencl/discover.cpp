// Lists every platform and device of the ICD loader, with notes on failures. A driver that fails is a note,
// never an error: the other devices of the machine still work.

#include <fmt/format.h>

#include <exception>
#include <new>

#include "base/opencl_loader.hpp"
#include "base/system.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device.hpp"
#include "driver/opencl/device_query.hpp"

namespace balm::opencl {

namespace {

constexpr cl_int platform_not_found_khr = -1001;

std::vector<cl_platform_id> platforms(std::vector<std::string>& notes) {
    cl_uint count = 0;
    cl_int code = loader().clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> found(code == CL_SUCCESS ? count : 0);
    if (!found.empty()) code = loader().clGetPlatformIDs(count, found.data(), nullptr);
    if (code == platform_not_found_khr || (code == CL_SUCCESS && found.empty())) {
        const auto folder = runtime::environment_variable("OCL_ICD_VENDORS");
        notes.push_back(fmt::format("OpenCL: the loader found no driver (no usable .icd file in {}); {}.",
                                    folder.value_or(runtime::usual_opencl_vendors),
                                    folder ? "that path comes from OCL_ICD_VENDORS"
                                           : "the package pocl-opencl-icd provides one for CPUs"));
        return {};
    }
    if (code != CL_SUCCESS) {
        notes.push_back(fmt::format("OpenCL: clGetPlatformIDs failed with {} ({}).", error_name(code), code));
        return {};
    }
    return found;
}

runtime::discovered_platform described(cl_platform_id platform) {
    return {platform_text(platform, CL_PLATFORM_NAME),       platform_text(platform, CL_PLATFORM_VENDOR),
            platform_text(platform, CL_PLATFORM_VERSION),    platform_text(platform, CL_PLATFORM_PROFILE),
            platform_text(platform, CL_PLATFORM_EXTENSIONS), {}};
}

std::vector<cl_device_id> devices_of(cl_platform_id platform, std::vector<std::string>& notes) {
    cl_uint count = 0;
    cl_int code = loader().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    std::vector<cl_device_id> found(code == CL_SUCCESS ? count : 0);
    if (!found.empty())
        code = loader().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, found.data(), nullptr);
    if (code == CL_SUCCESS && !found.empty()) return found;
    const std::string name = platform_text(platform, CL_PLATFORM_NAME);
    if (code == CL_DEVICE_NOT_FOUND || code == CL_SUCCESS)
        notes.push_back(fmt::format("OpenCL: platform '{}' has no devices.", name));
    else
        notes.push_back(fmt::format("OpenCL: clGetDeviceIDs failed with {} ({}) for platform '{}'.",
                                    error_name(code), code, name));
    return {};
}

}  // namespace

}  // namespace balm::opencl

namespace balm::runtime {

discovery discover_opencl() {
    discovery found;
    try {
        if (!opencl::load_loader().is_ready) {
            found.notes = opencl::load_loader().notes;
            return found;
        }
        for (cl_platform_id platform : opencl::platforms(found.notes)) {
            found.platforms.push_back(opencl::described(platform));
            for (cl_device_id id : opencl::devices_of(platform, found.notes))
                found.platforms.back().devices.push_back(std::make_shared<opencl::device>(platform, id));
        }
    } catch (const std::bad_alloc&) {
        throw;  // the next call tries again
    } catch (const std::exception& fault) {
        found.notes.push_back(std::string("OpenCL: device discovery failed: ") + fault.what());
    }
    return found;
}

}  // namespace balm::runtime

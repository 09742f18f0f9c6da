// A CUDA driver without hardware: what a process asks while it looks for devices is answered as
// BALM_FAKE_CUDA says, and whatever else is called is told on stderr (forbidden.cpp). It is built as
// libcuda.so.1 in a folder of its own; a test puts that folder on LD_LIBRARY_PATH.
//
//     BALM_FAKE_CUDA=no_device    cuInit fails, as where the driver is there but no GPU
//     BALM_FAKE_CUDA=empty        the driver counts no devices
//     BALM_FAKE_CUDA=broken       counting fails
//     BALM_FAKE_CUDA=half         the first of two devices cannot be had
//     BALM_FAKE_CUDA=two          an integrated GPU, then a discrete one

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "backend/cuda/driver_api.hpp"

using namespace balm::cuda;

namespace {

constexpr auto unknown_error = static_cast<CUresult>(999);

bool is_mode(std::string_view mode) {
    const char* const set = std::getenv("BALM_FAKE_CUDA");
    return set != nullptr && set == mode;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return is_mode("no_device") ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int* version) {
    *version = 12040;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
    *name = code == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "a fault of the fake driver's";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
    *count = is_mode("two") || is_mode("half") ? 2 : 0;
    return is_mode("broken") ? unknown_error : CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int number) {
    *device = number;
    return is_mode("half") && number == 0 ? unknown_error : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
    std::snprintf(name, static_cast<std::size_t>(size), "Fake %s GPU",
                  device == 0 ? "integrated" : "discrete");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    std::memset(uuid->bytes, 0xa0 + device, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    *bytes = static_cast<std::size_t>(device + 1) << 33;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", 0x1a + device);
    return CUDA_SUCCESS;
}

// An attribute without a meaning here answers with its number, so that fields cannot be mixed up.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what, CUdevice device) {
    switch (what) {
        case CU_DEVICE_ATTRIBUTE_INTEGRATED: *value = device == 0; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: *value = 0; break;
        case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: *value = device == 1; break;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1'755'000; break;
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
        case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: *value = 0; break;
        default: *value = static_cast<int>(what);
    }
    return CUDA_SUCCESS;
}

}  // extern "C"

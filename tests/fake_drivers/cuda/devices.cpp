// The devices of the fake CUDA driver, and what may be asked while a process looks for devices.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fake_drivers/cuda/driver.hpp"

namespace balm::cuda {

struct CUctx_st {
    CUdevice device;
};

namespace {

std::string_view machine() {
    const char* const set = std::getenv("BALM_FAKE_CUDA");
    return set != nullptr ? set : "";
}

std::array<CUctx_st, 2> contexts{{{0}, {1}}};
thread_local CUcontext current = nullptr;

}  // namespace

bool is_forbidden(const char* call) {
    if (machine().empty()) return false;
    std::fprintf(stderr, "the fake CUDA driver was asked %s\n", call);
    return true;
}

extern "C" {

CUresult cuInit(unsigned) { return machine() == "no_device" ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int* version) {
    *version = 12040;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
    *name = code == CUDA_ERROR_NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
            : code == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                               : "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "a fault that a test asked for";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
    *count = machine() == "empty" ? 0 : static_cast<int>(contexts.size());
    return machine() == "broken" ? unknown_error : CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int number) {
    *device = number;
    return machine() == "half" && number == 0 ? unknown_error : CUDA_SUCCESS;
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
    // Little where devices work: bandwidths are measured with a share of it.
    *bytes = static_cast<std::size_t>(device + 1) << (machine().empty() ? 25 : 33);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", 0x1a + device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what, CUdevice device) {
    switch (what) {
        case CU_DEVICE_ATTRIBUTE_INTEGRATED: *value = device == 0; return CUDA_SUCCESS;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: *value = 0; return CUDA_SUCCESS;
        case CU_DEVICE_ATTRIBUTE_ECC_ENABLED: *value = device == 1; return CUDA_SUCCESS;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1'755'000; return CUDA_SUCCESS;
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: *value = machine().empty(); return CUDA_SUCCESS;
        case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: *value = 0; return CUDA_SUCCESS;
        default: break;
    }
    // What is only looked at answers with the attribute's number, so that fields cannot be mixed up.
    *value = static_cast<int>(what);
    if (!machine().empty()) return CUDA_SUCCESS;
    switch (what) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 1024; break;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 8; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
        case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: *value = 1; break;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 4; break;
        default: *value = 1 << 16;
    }
    return CUDA_SUCCESS;
}

// ---- contexts ----

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    return call(__func__, [&] { *context = &contexts[static_cast<std::size_t>(device)]; });
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return safe_call(__func__, [] {});
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* is_active) {
    return safe_call(__func__, [&] {
        *flags = 0;
        *is_active = 0;
    });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
    return safe_call(__func__, [&] { *context = current; });
}
CUresult cuCtxSetCurrent(CUcontext context) {
    return safe_call(__func__, [&] { current = context; });
}
CUresult cuCtxGetDevice(CUdevice* device) {
    return safe_call(__func__, [&] { *device = current->device; });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    return call(__func__, [&] { *can = 1; });
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
    return call(__func__, [] {});
}

}  // extern "C"

}  // namespace balm::cuda

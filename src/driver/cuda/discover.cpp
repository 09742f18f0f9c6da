// Opens the CUDA driver, if there is one, and lists its devices, with notes on failures. No context is
// created: a GPU in exclusive mode, or in use by others, is left alone.

#include <fmt/format.h>

#include <exception>
#include <new>

#include "driver/cuda/check.hpp"
#include "driver/cuda/device.hpp"

namespace balm::runtime {

namespace {

void list_devices(discovery& found) {
    const int version = cuda::load_driver().version;
    discovered_platform& platform = found.platforms.emplace_back();
    platform.name = "CUDA";
    platform.vendor = "NVIDIA Corporation";
    platform.version = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    int count = 0;
    const cuda::CUresult code = cuda::driver().cuDeviceGetCount(&count);
    if (code != cuda::CUDA_SUCCESS) {
        found.notes.push_back("CUDA: cuDeviceGetCount failed with " + cuda::error_text(cuda::driver(), code) +
                              '.');
        return;
    }
    if (count == 0) found.notes.emplace_back("CUDA: the driver was found but reports no devices.");
    for (int i = 0; i < count; ++i) {
        cuda::CUdevice device = 0;
        const cuda::CUresult got = cuda::driver().cuDeviceGet(&device, i);
        if (got == cuda::CUDA_SUCCESS)
            platform.devices.push_back(std::make_shared<cuda::device>(device));
        else
            found.notes.push_back(fmt::format("CUDA: cuDeviceGet failed with {} for device {}.",
                                              cuda::error_text(cuda::driver(), got), i));
    }
}

}  // namespace

discovery discover_cuda() {
    discovery found;
    try {
        found.notes = cuda::load_driver().notes;
        if (cuda::load_driver().is_ready) list_devices(found);
    } catch (const std::bad_alloc&) {
        throw;  // the next call tries again
    } catch (const std::exception& fault) {
        found.notes.push_back(std::string("CUDA: device discovery failed: ") + fault.what());
    }
    return found;
}

}  // namespace balm::runtime

#include "backend/cuda/device_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace balm::cuda {

namespace {

std::string name_of(CUdevice device) {
    std::array<char, 256> name{};
    driver().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
    return name.data();
}

std::string pci_address(CUdevice device) {
    std::array<char, 32> address{};
    if (driver().cuDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()) - 1, device) !=
        CUDA_SUCCESS)
        return {};
    for (char& letter : address)
        if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
    return address.data();
}

std::array<std::uint8_t, 16> uuid_of(CUdevice device) {
    CUuuid given{};
    std::array<std::uint8_t, 16> uuid{};
    if (driver().cuDeviceGetUuid(&given, device) == CUDA_SUCCESS)
        std::memcpy(uuid.data(), given.bytes, uuid.size());
    return uuid;
}

std::array<std::size_t, 3> three(CUdevice device, CUdevice_attribute x, CUdevice_attribute y,
                                 CUdevice_attribute z) {
    return {static_cast<std::size_t>(attribute_of(device, x)),
            static_cast<std::size_t>(attribute_of(device, y)),
            static_cast<std::size_t>(attribute_of(device, z))};
}

void query_texts(device_info& info, CUdevice device) {
    const int version = load_driver().version;
    info.name = name_of(device);
    info.vendor = "NVIDIA Corporation";
    info.platform = "CUDA";
    info.driver_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    info.platform_version = "CUDA " + info.driver_version;
    info.version = fmt::format("{}.{}", attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                               attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    info.language_version = "CUDA C++17";
}

void query_sizes(device_info& info, CUdevice device) {
    std::size_t memory = 0;
    driver().cuDeviceTotalMem(&memory, device);
    info.global_memory = memory;
    info.max_allocation = memory;
    info.local_memory = static_cast<std::uint64_t>(
        std::max(attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                 attribute_of(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)));
    const auto size = [&](CUdevice_attribute what) {
        return static_cast<std::uint32_t>(attribute_of(device, what));
    };
    info.constant_memory = size(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    info.global_cache = size(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info.global_cache_line = 128;
    info.compute_units = size(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info.max_clock = size(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;  // given in kHz
    info.address_bits = 64;
    info.memory_alignment = 256;      // CUDA programming guide: of any address that an allocation returns
    info.timer_resolution = 500;      // cuEventElapsedTime: "a resolution of around 0.5 microseconds"
    info.max_parameter_bytes = 4096;  // of every architecture; newer ones take 32,764
    info.max_work_group_size = size(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info.max_work_item_sizes =
        three(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
              CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    info.max_group_counts = three(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    info.sub_group_size = size(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
}

void query_abilities(device_info& info, CUdevice device) {
    info.error_correction = attribute_of(device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0;
    info.unified_memory = attribute_of(device, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    info.has_double = true;
    info.has_half = true;
    info.has_fma = true;
    info.has_correctly_rounded_divide = true;
    info.is_available = attribute_of(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) != CU_COMPUTEMODE_PROHIBITED;
}

}  // namespace

int attribute_of(CUdevice device, CUdevice_attribute what) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value, what, device) == CUDA_SUCCESS ? value : 0;
}

device_info query_device(CUdevice device) {
    device_info info;
    info.api = backend::cuda;
    info.type = device_type::gpu;
    query_texts(info, device);
    query_sizes(info, device);
    query_abilities(info, device);
    info.pci_address = pci_address(device);
    info.uuid = uuid_of(device);
    return info;
}

}  // namespace balm::cuda

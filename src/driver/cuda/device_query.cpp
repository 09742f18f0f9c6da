#include "driver/cuda/device_query.hpp"

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
    info.vendor_id = 0x10de;
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
    info.has_own_local_memory = true;
    info.constant_memory = size(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    info.global_cache = size(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info.global_cache_line = 128;
    info.global_cache_type = info.global_cache == 0 ? cache_type::none : cache_type::read_write;
    info.compute_units = size(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info.max_clock = size(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;  // given in kHz
    info.address_bits = 64;
    info.memory_alignment = 256;      // CUDA programming guide: of any address that an allocation returns
    info.timer_resolution = 500;      // cuEventElapsedTime: "a resolution of around 0.5 microseconds"
    info.max_parameter_bytes = 4096;  // on every architecture; newer ones accept 32,764
    info.max_dimensions = 3;
    info.max_work_group_size = size(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info.max_work_item_sizes =
        three(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
              CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    info.max_group_counts = three(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    info.sub_group_size = size(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
}

// Threads compute with scalars; only halves are computed in pairs.
void query_vectors(device_info& info) {
    info.preferred_vectors = info.native_vectors = {1, 1, 1, 1, 2, 1, 1};
}

// CUDA C++ Programming Guide, Floating-Point Standard: IEEE 754 on every device of compute capability 2 and
// later, with an intrinsic for each rounding; halves round to nearest only.
void query_arithmetic(device_info& info) {
    info.has_double = true;
    info.has_half = true;
    info.has_fma = true;
    info.has_correctly_rounded_divide = true;
    info.half_arithmetic = {true, true, true, false, false, true, false, false};
    info.double_arithmetic = {true, true, true, true, true, true, false, false};
    info.single_arithmetic = info.double_arithmetic;
    info.single_arithmetic.correctly_rounded_divide = true;
}

// Images are sampled and written: the smaller of the limits of textures and surfaces.
void query_images(device_info& info, CUdevice device) {
    const auto size = [&](CUdevice_attribute what) {
        return static_cast<std::size_t>(attribute_of(device, what));
    };
    const auto smaller = [&](CUdevice_attribute texture, CUdevice_attribute surface) {
        return std::min(size(texture), size(surface));
    };
    info.images.size_1d =
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
    info.images.size_2d = {
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH),
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT)};
    info.images.size_3d = {
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH),
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT),
        smaller(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH)};
    info.images.buffer_size = size(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    info.images.array_size = size(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
    info.has_images = info.images.size_2d[0] != 0;
}

void query_abilities(device_info& info, CUdevice device) {
    const auto has = [&](CUdevice_attribute what) { return attribute_of(device, what) != 0; };
    info.error_correction = has(CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
    info.unified_memory = has(CU_DEVICE_ATTRIBUTE_INTEGRATED);
    info.shared_virtual_memory.allocations = has(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    info.shared_virtual_memory.at_once = has(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    info.shared_virtual_memory.all_memory = has(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
    info.shared_virtual_memory.atomics = has(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    info.has_compiler = true;  // the driver's, for PTX
    info.has_linker = true;    // cuLinkCreate
    info.has_profiling = true;
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
    query_vectors(info);
    query_arithmetic(info);
    query_images(info, device);
    query_abilities(info, device);
    info.pci_address = pci_address(device);
    info.uuid = uuid_of(device);
    return info;
}

}  // namespace balm::cuda

#include "backend/opencl/device_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "backend/opencl/check.hpp"

namespace balm::opencl {

namespace {

// Of extensions; spelled out because headers of different ages know different ones.
constexpr cl_device_info device_uuid_khr = 0x106A;
constexpr cl_device_info warp_size_nv = 0x4003;
constexpr cl_device_info pci_bus_nv = 0x4008;
constexpr cl_device_info pci_slot_nv = 0x4009;
constexpr cl_device_info pci_domain_nv = 0x400A;
constexpr cl_device_info pci_bus_info_khr = 0x410F;

std::string trimmed(std::string text) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\0'; };
    while (!text.empty() && is_space(text.back())) text.pop_back();
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
    return text;
}

std::string text_of(cl_device_id id, cl_device_info what) {
    std::size_t size = 0;
    if (clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string text(size, '\0');
    if (clGetDeviceInfo(id, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    return trimmed(std::move(text));
}

// A value-initialised Value where the driver does not answer: device_info's promise.
template <class Value>
Value value_of(cl_device_id id, cl_device_info what) {
    Value value{};
    if (clGetDeviceInfo(id, what, sizeof value, &value, nullptr) != CL_SUCCESS) return Value{};
    return value;
}

std::array<std::size_t, 3> work_item_sizes(cl_device_id id) {
    std::vector<std::size_t> sizes(
        std::max<cl_uint>(3, value_of<cl_uint>(id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)));
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(std::size_t), sizes.data(),
                    nullptr);
    return {sizes[0], sizes[1], sizes[2]};
}

device_type type_of(cl_device_id id) {
    const auto type = value_of<cl_device_type>(id, CL_DEVICE_TYPE);
    if ((type & CL_DEVICE_TYPE_GPU) != 0) return device_type::gpu;
    if ((type & CL_DEVICE_TYPE_CPU) != 0) return device_type::cpu;
    if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return device_type::accelerator;
    return device_type::other;
}

bool has_word(std::string_view words, std::string_view word) {
    for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
    }
    return false;
}

std::string pci_address(cl_device_id id, std::string_view extensions) {
    struct bus_info {
        cl_uint domain, bus, device, function;
    };
    bus_info place{};
    if (has_word(extensions, "cl_khr_pci_bus_info")) {
        place = value_of<bus_info>(id, pci_bus_info_khr);
    } else if (has_word(extensions, "cl_nv_device_attribute_query")) {
        const auto slot = value_of<cl_uint>(id, pci_slot_nv);
        place = {value_of<cl_uint>(id, pci_domain_nv), value_of<cl_uint>(id, pci_bus_nv), slot >> 3,
                 slot & 7};
    } else {
        return {};
    }
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", place.domain, place.bus, place.device, place.function);
}

void query_texts(device_info& info, cl_platform_id platform, cl_device_id id) {
    info.name = text_of(id, CL_DEVICE_NAME);
    info.vendor = text_of(id, CL_DEVICE_VENDOR);
    info.platform = platform_text(platform, CL_PLATFORM_NAME);
    info.platform_version = platform_text(platform, CL_PLATFORM_VERSION);
    info.version = text_of(id, CL_DEVICE_VERSION);
    info.language_version = text_of(id, CL_DEVICE_OPENCL_C_VERSION);
    info.driver_version = text_of(id, CL_DRIVER_VERSION);
    info.extensions = text_of(id, CL_DEVICE_EXTENSIONS);
}

void query_sizes(device_info& info, cl_device_id id) {
    info.global_memory = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.local_memory = value_of<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
    // NVIDIA's driver keeps 16 bytes for itself: a launch that asks for all of it fails (580.159,
    // 2026-11-21).
    if (info.extensions.find("cl_nv_") != std::string::npos && info.local_memory > 16)
        info.local_memory -= 16;
    info.constant_memory = value_of<cl_ulong>(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info.max_allocation = value_of<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info.global_cache = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    info.global_cache_line = value_of<cl_uint>(id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    info.compute_units = value_of<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info.max_clock = value_of<cl_uint>(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info.address_bits = value_of<cl_uint>(id, CL_DEVICE_ADDRESS_BITS);
    info.memory_alignment = value_of<cl_uint>(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;  // given in bits
    info.timer_resolution =
        static_cast<std::uint32_t>(value_of<std::size_t>(id, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
    info.max_parameter_bytes =
        static_cast<std::uint32_t>(value_of<std::size_t>(id, CL_DEVICE_MAX_PARAMETER_SIZE));
    info.max_work_group_size = value_of<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info.max_work_item_sizes = work_item_sizes(id);
    info.max_group_counts.fill(std::numeric_limits<std::size_t>::max());
}

void query_abilities(device_info& info, cl_device_id id) {
    const auto single = value_of<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG);
    const auto twice = value_of<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG);
    info.has_double = twice != 0 || has_word(info.extensions, "cl_khr_fp64");
    info.has_half = has_word(info.extensions, "cl_khr_fp16");
    info.has_images = value_of<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) != 0;
    info.has_fma = (single & CL_FP_FMA) != 0 && (!info.has_double || (twice & CL_FP_FMA) != 0);
    info.has_correctly_rounded_divide = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info.little_endian = value_of<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) != 0;
    info.error_correction = value_of<cl_bool>(id, CL_DEVICE_ERROR_CORRECTION_SUPPORT) != 0;
    info.unified_memory = value_of<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info.is_available = value_of<cl_bool>(id, CL_DEVICE_AVAILABLE) != 0 &&
                        value_of<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) != 0;
    if (has_word(info.extensions, "cl_nv_device_attribute_query"))
        info.sub_group_size = value_of<cl_uint>(id, warp_size_nv);
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    if (clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string text(size, '\0');
    if (clGetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    return trimmed(std::move(text));
}

device_info query_device(cl_platform_id platform, cl_device_id id) {
    device_info info;
    info.api = backend::opencl;
    info.type = type_of(id);
    query_texts(info, platform, id);
    query_sizes(info, id);
    query_abilities(info, id);
    info.pci_address = pci_address(id, info.extensions);
    if (has_word(info.extensions, "cl_khr_device_uuid"))
        info.uuid = value_of<std::array<std::uint8_t, 16>>(id, device_uuid_khr);
    return info;
}

}  // namespace balm::opencl

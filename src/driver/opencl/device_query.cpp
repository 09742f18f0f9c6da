#include "driver/opencl/device_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "driver/opencl/check.hpp"

namespace balm::opencl {

namespace {

// From extensions and OpenCL 2.0; spelled out because headers of different ages have different ones.
constexpr cl_device_info half_fp_config = 0x1033;
constexpr cl_device_info svm_capabilities = 0x1053;
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
    if (loader().clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string text(size, '\0');
    if (loader().clGetDeviceInfo(id, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    return trimmed(std::move(text));
}

// A value-initialised Value if the query fails, as device_info promises.
template <class Value>
Value value_of(cl_device_id id, cl_device_info what) {
    Value value{};
    if (loader().clGetDeviceInfo(id, what, sizeof value, &value, nullptr) != CL_SUCCESS) return Value{};
    return value;
}

std::array<std::size_t, 3> work_item_sizes(cl_device_id id, cl_uint dimensions) {
    std::vector<std::size_t> sizes(std::max<cl_uint>(3, dimensions));
    loader().clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof(std::size_t),
                             sizes.data(), nullptr);
    return {sizes[0], sizes[1], sizes[2]};
}

device_type type_of(cl_device_id id) {
    const auto type = value_of<cl_device_type>(id, CL_DEVICE_TYPE);
    if ((type & CL_DEVICE_TYPE_GPU) != 0) return device_type::gpu;
    if ((type & CL_DEVICE_TYPE_CPU) != 0) return device_type::cpu;
    if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return device_type::accelerator;
    return device_type::other;
}

std::string pci_address(cl_device_id id, const device_info& info) {
    struct bus_info {
        cl_uint domain, bus, device, function;
    };
    bus_info place{};
    if (info.has_extension("cl_khr_pci_bus_info")) {
        place = value_of<bus_info>(id, pci_bus_info_khr);
    } else if (info.has_extension("cl_nv_device_attribute_query")) {
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
    info.profile = text_of(id, CL_DEVICE_PROFILE);
    info.extensions = text_of(id, CL_DEVICE_EXTENSIONS);
    info.built_in_kernels = text_of(id, CL_DEVICE_BUILT_IN_KERNELS);
    info.vendor_id = value_of<cl_uint>(id, CL_DEVICE_VENDOR_ID);
}

cache_type cache_type_of(cl_device_id id) {
    switch (value_of<cl_device_mem_cache_type>(id, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE)) {
        case CL_READ_ONLY_CACHE: return cache_type::read_only;
        case CL_READ_WRITE_CACHE: return cache_type::read_write;
        default: return cache_type::none;
    }
}

// The flags of OpenCL 2.0, by value, for the reason above.
shared_virtual_memory_support shared_virtual_memory_of(cl_device_id id) {
    const auto flags = value_of<cl_bitfield>(id, svm_capabilities);
    return {(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
}

void query_sizes(device_info& info, cl_device_id id) {
    info.global_memory = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info.local_memory = value_of<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
    // NVIDIA's driver reserves 16 bytes: a launch that uses all local memory fails (580.159, 2026-11-21).
    if (info.extensions.find("cl_nv_") != std::string::npos && info.local_memory > 16)
        info.local_memory -= 16;
    info.has_own_local_memory = value_of<cl_device_local_mem_type>(id, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
    info.constant_memory = value_of<cl_ulong>(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info.max_constant_arguments = value_of<cl_uint>(id, CL_DEVICE_MAX_CONSTANT_ARGS);
    info.max_allocation = value_of<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info.global_cache = value_of<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    info.global_cache_line = value_of<cl_uint>(id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    info.global_cache_type = cache_type_of(id);
    info.shared_virtual_memory = shared_virtual_memory_of(id);
    info.compute_units = value_of<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info.max_clock = value_of<cl_uint>(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info.address_bits = value_of<cl_uint>(id, CL_DEVICE_ADDRESS_BITS);
    info.memory_alignment = value_of<cl_uint>(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;  // given in bits
    info.type_alignment = value_of<cl_uint>(id, CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE);
    info.printf_buffer = value_of<std::size_t>(id, CL_DEVICE_PRINTF_BUFFER_SIZE);
    info.timer_resolution =
        static_cast<std::uint32_t>(value_of<std::size_t>(id, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
    info.max_parameter_bytes =
        static_cast<std::uint32_t>(value_of<std::size_t>(id, CL_DEVICE_MAX_PARAMETER_SIZE));
    info.max_work_group_size = value_of<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info.max_dimensions = value_of<cl_uint>(id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    info.max_work_item_sizes = work_item_sizes(id, info.max_dimensions);
    info.max_group_counts.fill(std::numeric_limits<std::size_t>::max());
    // PoCL counts the groups of a launch in 32 bits, all dimensions together: for 2^32 of them, or 2^16 x
    // 2^16, it ends the process with SIGILL, and for 2^32 + 5 it computes the first 5 repeatedly (3.1,
    // 2026-11-23; kernel_run_command's counters are unsigned). 2^31 work, and leave room for the chunks that
    // its threads count beyond the end.
    if (info.platform == pocl_platform) info.max_groups = std::size_t{1} << 31;
}

float_support float_support_of(cl_device_fp_config flags) {
    const auto has = [flags](cl_device_fp_config flag) { return (flags & flag) != 0; };
    return {has(CL_FP_DENORM),
            has(CL_FP_INF_NAN),
            has(CL_FP_ROUND_TO_NEAREST),
            has(CL_FP_ROUND_TO_ZERO),
            has(CL_FP_ROUND_TO_INF),
            has(CL_FP_FMA),
            has(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT),
            has(CL_FP_SOFT_FLOAT)};
}

vector_widths widths_of(cl_device_id id, const std::array<cl_device_info, 7>& of_each_type) {
    const auto width = [&](std::size_t k) { return value_of<cl_uint>(id, of_each_type[k]); };
    return {width(0), width(1), width(2), width(3), width(4), width(5), width(6)};
}

void query_vectors(device_info& info, cl_device_id id) {
    info.preferred_vectors =
        widths_of(id, {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
                       CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
                       CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT,
                       CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE});
    info.native_vectors =
        widths_of(id, {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
                       CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
                       CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                       CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE});
}

void query_images(device_info& info, cl_device_id id) {
    info.has_images = value_of<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) != 0;
    if (!info.has_images) return;  // the rest is then undefined
    const auto size = [&](cl_device_info what) { return value_of<std::size_t>(id, what); };
    info.images.size_1d = size(CL_DEVICE_IMAGE2D_MAX_WIDTH);  // OpenCL 1.2, section 5.3.1
    info.images.size_2d = {size(CL_DEVICE_IMAGE2D_MAX_WIDTH), size(CL_DEVICE_IMAGE2D_MAX_HEIGHT)};
    info.images.size_3d = {size(CL_DEVICE_IMAGE3D_MAX_WIDTH), size(CL_DEVICE_IMAGE3D_MAX_HEIGHT),
                           size(CL_DEVICE_IMAGE3D_MAX_DEPTH)};
    info.images.buffer_size = size(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    info.images.array_size = size(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    info.images.read_images = value_of<cl_uint>(id, CL_DEVICE_MAX_READ_IMAGE_ARGS);
    info.images.write_images = value_of<cl_uint>(id, CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
    info.images.samplers = value_of<cl_uint>(id, CL_DEVICE_MAX_SAMPLERS);
}

void query_partition(device_info& info, cl_device_id id) {
    info.partition.max_sub_devices = value_of<cl_uint>(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES);
    std::size_t bytes = 0;
    loader().clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, 0, nullptr, &bytes);
    std::vector<cl_device_partition_property> kinds(bytes / sizeof(cl_device_partition_property));
    if (loader().clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, bytes, kinds.data(), nullptr) !=
        CL_SUCCESS)
        kinds.clear();
    const auto has = [&](cl_device_partition_property kind) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    info.partition.equally = has(CL_DEVICE_PARTITION_EQUALLY);
    info.partition.by_counts = has(CL_DEVICE_PARTITION_BY_COUNTS);
    if (!has(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN)) return;
    const auto domains = value_of<cl_device_affinity_domain>(id, CL_DEVICE_PARTITION_AFFINITY_DOMAIN);
    info.partition.by_numa = (domains & CL_DEVICE_AFFINITY_DOMAIN_NUMA) != 0;
    info.partition.by_l4_cache = (domains & CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE) != 0;
    info.partition.by_l3_cache = (domains & CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE) != 0;
    info.partition.by_l2_cache = (domains & CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE) != 0;
    info.partition.by_l1_cache = (domains & CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE) != 0;
}

void query_arithmetic(device_info& info, cl_device_id id) {
    const auto single = value_of<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG);
    const auto twice = value_of<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG);
    info.has_double = twice != 0 || info.has_extension("cl_khr_fp64");
    info.has_half = info.has_extension("cl_khr_fp16");
    info.single_arithmetic = float_support_of(single);
    info.double_arithmetic = float_support_of(twice);
    if (info.has_half)
        info.half_arithmetic = float_support_of(value_of<cl_device_fp_config>(id, half_fp_config));
    info.has_fma = (single & CL_FP_FMA) != 0 && (!info.has_double || (twice & CL_FP_FMA) != 0);
    info.has_correctly_rounded_divide = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

void query_abilities(device_info& info, cl_device_id id) {
    info.little_endian = value_of<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) != 0;
    info.error_correction = value_of<cl_bool>(id, CL_DEVICE_ERROR_CORRECTION_SUPPORT) != 0;
    info.unified_memory = value_of<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info.has_compiler = value_of<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) != 0;
    info.has_linker = value_of<cl_bool>(id, CL_DEVICE_LINKER_AVAILABLE) != 0;
    info.is_available = value_of<cl_bool>(id, CL_DEVICE_AVAILABLE) != 0 && info.has_compiler;
    const auto executes = value_of<cl_device_exec_capabilities>(id, CL_DEVICE_EXECUTION_CAPABILITIES);
    info.runs_native_kernels = (executes & CL_EXEC_NATIVE_KERNEL) != 0;
    const auto queues = value_of<cl_command_queue_properties>(id, CL_DEVICE_QUEUE_PROPERTIES);
    info.has_out_of_order_queues = (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    info.has_profiling = (queues & CL_QUEUE_PROFILING_ENABLE) != 0;
    if (info.has_extension("cl_nv_device_attribute_query"))
        info.sub_group_size = value_of<cl_uint>(id, warp_size_nv);
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    if (loader().clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::string text(size, '\0');
    if (loader().clGetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
    return trimmed(std::move(text));
}

device_info query_device(cl_platform_id platform, cl_device_id id) {
    device_info info;
    info.api = backend::opencl;
    info.type = type_of(id);
    query_texts(info, platform, id);
    query_sizes(info, id);
    query_vectors(info, id);
    query_arithmetic(info, id);
    query_images(info, id);
    query_abilities(info, id);
    query_partition(info, id);
    info.pci_address = pci_address(id, info);
    if (info.has_extension("cl_khr_device_uuid"))
        info.uuid = value_of<std::array<std::uint8_t, 16>>(id, device_uuid_khr);
    return info;
}

}  // namespace balm::opencl

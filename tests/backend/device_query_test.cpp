// What is told of a device, field by field against the driver's own calls, made here a second time.

#include "devices.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/opencl/api.hpp"

namespace balm::test {

namespace {

cl_device_id id_of(runtime::driver_device& device) {
    return static_cast<cl_device_id>(device.native_device());
}

template <class Value>
Value opencl_value(cl_device_id id, cl_device_info what) {
    Value value{};
    EXPECT_EQ(clGetDeviceInfo(id, what, sizeof value, &value, nullptr), CL_SUCCESS) << "query " << what;
    return value;
}

std::string opencl_text(cl_device_id id, cl_device_info what) {
    char text[8192] = {};
    EXPECT_EQ(clGetDeviceInfo(id, what, sizeof text, text, nullptr), CL_SUCCESS) << "query " << what;
    std::string words = text;
    words.erase(0, words.find_first_not_of(' '));
    words.erase(words.find_last_not_of(' ') + 1);
    return words;
}

/// Runs the body on the devices of one backend.
template <class Body>
void on_each(backend api, Body&& body) {
    std::size_t count = 0;
    for (const auto& device : driver_devices()) {
        if (device->info().api != api) continue;
        SCOPED_TRACE(device->info().name);
        body(*device, device->info());
        ++count;
    }
    if (count == 0) GTEST_SKIP() << "no device of " << to_string(api);
}

void expect_arithmetic(const float_support& told, cl_device_fp_config flags) {
    EXPECT_EQ(told.denormals, (flags & CL_FP_DENORM) != 0);
    EXPECT_EQ(told.infinities_and_nans, (flags & CL_FP_INF_NAN) != 0);
    EXPECT_EQ(told.rounds_to_nearest, (flags & CL_FP_ROUND_TO_NEAREST) != 0);
    EXPECT_EQ(told.rounds_to_zero, (flags & CL_FP_ROUND_TO_ZERO) != 0);
    EXPECT_EQ(told.rounds_to_infinity, (flags & CL_FP_ROUND_TO_INF) != 0);
    EXPECT_EQ(told.fma, (flags & CL_FP_FMA) != 0);
    EXPECT_EQ(told.correctly_rounded_divide, (flags & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0);
    EXPECT_EQ(told.in_software, (flags & CL_FP_SOFT_FLOAT) != 0);
}

}  // namespace

TEST(C1_discovery, opencl_texts_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        EXPECT_EQ(told.name, opencl_text(id, CL_DEVICE_NAME));
        EXPECT_EQ(told.vendor, opencl_text(id, CL_DEVICE_VENDOR));
        EXPECT_EQ(told.version, opencl_text(id, CL_DEVICE_VERSION));
        EXPECT_EQ(told.language_version, opencl_text(id, CL_DEVICE_OPENCL_C_VERSION));
        EXPECT_EQ(told.driver_version, opencl_text(id, CL_DRIVER_VERSION));
        EXPECT_EQ(told.profile, opencl_text(id, CL_DEVICE_PROFILE));
        EXPECT_EQ(told.extensions, opencl_text(id, CL_DEVICE_EXTENSIONS));
        EXPECT_EQ(told.built_in_kernels, opencl_text(id, CL_DEVICE_BUILT_IN_KERNELS));
        EXPECT_EQ(told.vendor_id, opencl_value<cl_uint>(id, CL_DEVICE_VENDOR_ID));
    });
}

TEST(C1_discovery, opencl_memory_is_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        EXPECT_EQ(told.global_memory, opencl_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE));
        EXPECT_EQ(told.max_allocation, opencl_value<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
        const auto local = opencl_value<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
        EXPECT_EQ(told.local_memory, told.platform == "NVIDIA CUDA" ? local - 16 : local);
        EXPECT_EQ(told.has_own_local_memory,
                  opencl_value<cl_device_local_mem_type>(id, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL);
        EXPECT_EQ(told.constant_memory, opencl_value<cl_ulong>(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE));
        EXPECT_EQ(told.max_constant_arguments, opencl_value<cl_uint>(id, CL_DEVICE_MAX_CONSTANT_ARGS));
        EXPECT_EQ(told.max_parameter_bytes, opencl_value<std::size_t>(id, CL_DEVICE_MAX_PARAMETER_SIZE));
        EXPECT_EQ(told.global_cache, opencl_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
        EXPECT_EQ(told.global_cache_line, opencl_value<cl_uint>(id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE));
        const auto cache = opencl_value<cl_device_mem_cache_type>(id, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE);
        EXPECT_EQ(told.global_cache_type, cache == CL_NONE              ? cache_type::none
                                          : cache == CL_READ_ONLY_CACHE ? cache_type::read_only
                                                                        : cache_type::read_write);
        EXPECT_EQ(told.memory_alignment * 8, opencl_value<cl_uint>(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN));
        EXPECT_EQ(told.type_alignment, opencl_value<cl_uint>(id, CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE));
        EXPECT_EQ(told.printf_buffer, opencl_value<std::size_t>(id, CL_DEVICE_PRINTF_BUFFER_SIZE));
        EXPECT_EQ(told.unified_memory, opencl_value<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0);
        EXPECT_EQ(told.error_correction, opencl_value<cl_bool>(id, CL_DEVICE_ERROR_CORRECTION_SUPPORT) != 0);
    });
}

TEST(C18_discovery, opencl_limits_of_the_index_space_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        EXPECT_EQ(told.compute_units, opencl_value<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS));
        EXPECT_GT(told.max_clock, 0u);  // may change between two queries
        EXPECT_EQ(told.address_bits, opencl_value<cl_uint>(id, CL_DEVICE_ADDRESS_BITS));
        EXPECT_EQ(told.little_endian, opencl_value<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) != 0);
        EXPECT_EQ(told.timer_resolution, opencl_value<std::size_t>(id, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
        EXPECT_EQ(told.max_dimensions, opencl_value<cl_uint>(id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS));
        EXPECT_EQ(told.max_work_group_size, opencl_value<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
        std::vector<std::size_t> sizes(told.max_dimensions);
        ASSERT_EQ(clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizes.size() * sizeof sizes[0],
                                  sizes.data(), nullptr),
                  CL_SUCCESS);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(told.max_work_item_sizes[k], sizes[k]);
    });
}

TEST(C1_discovery, opencl_vectors_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        const auto width = [&](cl_device_info what) { return opencl_value<cl_uint>(id, what); };
        EXPECT_EQ(told.preferred_vectors.int8, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR));
        EXPECT_EQ(told.preferred_vectors.int16, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT));
        EXPECT_EQ(told.preferred_vectors.int32, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT));
        EXPECT_EQ(told.preferred_vectors.int64, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG));
        EXPECT_EQ(told.preferred_vectors.float16, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF));
        EXPECT_EQ(told.preferred_vectors.float32, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
        EXPECT_EQ(told.preferred_vectors.float64, width(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE));
        EXPECT_EQ(told.native_vectors.int8, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR));
        EXPECT_EQ(told.native_vectors.int16, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT));
        EXPECT_EQ(told.native_vectors.int32, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT));
        EXPECT_EQ(told.native_vectors.int64, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG));
        EXPECT_EQ(told.native_vectors.float16, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF));
        EXPECT_EQ(told.native_vectors.float32, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
        EXPECT_EQ(told.native_vectors.float64, width(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE));
    });
}

TEST(C1_discovery, opencl_images_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        ASSERT_EQ(told.has_images, opencl_value<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) != 0);
        if (!told.has_images) {
            EXPECT_EQ(told.images, image_limits{});
            return;
        }
        const auto size = [&](cl_device_info what) { return opencl_value<std::size_t>(id, what); };
        EXPECT_EQ(told.images.size_1d, size(CL_DEVICE_IMAGE2D_MAX_WIDTH));
        EXPECT_EQ(told.images.size_2d[0], size(CL_DEVICE_IMAGE2D_MAX_WIDTH));
        EXPECT_EQ(told.images.size_2d[1], size(CL_DEVICE_IMAGE2D_MAX_HEIGHT));
        EXPECT_EQ(told.images.size_3d[0], size(CL_DEVICE_IMAGE3D_MAX_WIDTH));
        EXPECT_EQ(told.images.size_3d[1], size(CL_DEVICE_IMAGE3D_MAX_HEIGHT));
        EXPECT_EQ(told.images.size_3d[2], size(CL_DEVICE_IMAGE3D_MAX_DEPTH));
        EXPECT_EQ(told.images.buffer_size, size(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE));
        EXPECT_EQ(told.images.array_size, size(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE));
        EXPECT_EQ(told.images.read_images, opencl_value<cl_uint>(id, CL_DEVICE_MAX_READ_IMAGE_ARGS));
        EXPECT_EQ(told.images.write_images, opencl_value<cl_uint>(id, CL_DEVICE_MAX_WRITE_IMAGE_ARGS));
        EXPECT_EQ(told.images.samplers, opencl_value<cl_uint>(id, CL_DEVICE_MAX_SAMPLERS));
    });
}

TEST(C1_discovery, opencl_abilities_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        expect_arithmetic(told.single_arithmetic,
                          opencl_value<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG));
        expect_arithmetic(told.double_arithmetic,
                          opencl_value<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG));
        EXPECT_EQ(told.has_double, told.double_arithmetic.rounds_to_nearest);
        EXPECT_EQ(told.has_half, told.half_arithmetic != float_support{});
        EXPECT_EQ(told.has_half, (" " + told.extensions + " ").find(" cl_khr_fp16 ") != std::string::npos);
        EXPECT_EQ(told.has_compiler, opencl_value<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) != 0);
        EXPECT_EQ(told.has_linker, opencl_value<cl_bool>(id, CL_DEVICE_LINKER_AVAILABLE) != 0);
        const auto runs = opencl_value<cl_device_exec_capabilities>(id, CL_DEVICE_EXECUTION_CAPABILITIES);
        EXPECT_EQ(told.runs_native_kernels, (runs & CL_EXEC_NATIVE_KERNEL) != 0);
        const auto queues = opencl_value<cl_command_queue_properties>(id, CL_DEVICE_QUEUE_PROPERTIES);
        EXPECT_EQ(told.has_out_of_order_queues, (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0);
        EXPECT_EQ(told.has_profiling, (queues & CL_QUEUE_PROFILING_ENABLE) != 0);
        if (told.version.find("OpenCL 1.") == 0) {
            EXPECT_EQ(told.shared_virtual_memory, shared_virtual_memory_support{});
        } else {
            const auto svm = opencl_value<cl_bitfield>(id, 0x1053 /* CL_DEVICE_SVM_CAPABILITIES */);
            EXPECT_EQ(told.shared_virtual_memory,
                      (shared_virtual_memory_support{(svm & 1) != 0, (svm & 2) != 0, (svm & 4) != 0,
                                                     (svm & 8) != 0}));
        }
    });
}

TEST(C1_discovery, opencl_partitions_are_the_drivers) {
    on_each(backend::opencl, [](runtime::driver_device& device, const device_info& told) {
        cl_device_id const id = id_of(device);
        EXPECT_EQ(told.partition.max_sub_devices,
                  opencl_value<cl_uint>(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES));
        std::array<cl_device_partition_property, 16> kinds{};
        ASSERT_EQ(clGetDeviceInfo(id, CL_DEVICE_PARTITION_PROPERTIES, sizeof kinds, kinds.data(), nullptr),
                  CL_SUCCESS);
        const auto has = [&](cl_device_partition_property kind) {
            for (cl_device_partition_property each : kinds)
                if (each == kind) return true;
            return false;
        };
        EXPECT_EQ(told.partition.equally, has(CL_DEVICE_PARTITION_EQUALLY));
        EXPECT_EQ(told.partition.by_counts, has(CL_DEVICE_PARTITION_BY_COUNTS));
        const partition_support& p = told.partition;
        const bool by_affinity =
            p.by_numa || p.by_l4_cache || p.by_l3_cache || p.by_l2_cache || p.by_l1_cache;
        EXPECT_TRUE(!by_affinity || has(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN));
        // The driver does as it says: it cuts the device in single compute units, or refuses.
        if (told.compute_units < 2) return;
        const cl_device_partition_property each_unit[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
        cl_uint made = 0;
        EXPECT_EQ(clCreateSubDevices(id, each_unit, 0, nullptr, &made) == CL_SUCCESS, p.equally);
        EXPECT_LE(made, p.max_sub_devices);
    });
}

TEST(C1_discovery, cuda_fields_are_the_drivers) {
    on_each(backend::cuda, [](runtime::driver_device& device, const device_info& told) {
        using namespace cuda;
        const auto id = static_cast<CUdevice>(reinterpret_cast<std::intptr_t>(device.native_device()));
        const auto value = [&](CUdevice_attribute what) {
            int answer = -1;
            EXPECT_EQ(driver().cuDeviceGetAttribute(&answer, what, id), CUDA_SUCCESS) << what;
            return static_cast<std::size_t>(answer);
        };
        std::size_t memory = 0;
        EXPECT_EQ(driver().cuDeviceTotalMem(&memory, id), CUDA_SUCCESS);
        EXPECT_EQ(told.global_memory, memory);
        EXPECT_EQ(told.compute_units, value(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
        EXPECT_EQ(told.max_work_group_size, value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
        EXPECT_EQ(told.max_work_item_sizes[2], value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z));
        EXPECT_EQ(told.max_group_counts[0], value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X));
        EXPECT_EQ(told.local_memory, value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
        EXPECT_EQ(told.constant_memory, value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
        EXPECT_EQ(told.global_cache, value(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
        EXPECT_EQ(told.error_correction, value(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0);
        EXPECT_EQ(told.images.size_1d, std::min(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH),
                                                value(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH)));
        EXPECT_EQ(told.images.size_2d[0], std::min(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH),
                                                   value(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH)));
        EXPECT_EQ(told.images.size_2d[1], std::min(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT),
                                                   value(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT)));
        EXPECT_EQ(told.images.size_3d[2], std::min(value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH),
                                                   value(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH)));
        EXPECT_EQ(told.images.buffer_size, value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
        EXPECT_EQ(told.images.array_size, value(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS));
        EXPECT_EQ(told.shared_virtual_memory.allocations, value(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0);
        EXPECT_EQ(told.shared_virtual_memory.all_memory,
                  value(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0);
        EXPECT_TRUE(told.has_images && told.has_double && told.has_half && told.has_profiling);
    });
}

TEST(C1_discovery, a_card_is_the_same_through_both_backends) {
    for (const auto& a : driver_devices())
        for (const auto& b : driver_devices()) {
            const device_info &cuda = a->info(), &opencl = b->info();
            if (cuda.api != backend::cuda || opencl.api != backend::opencl || cuda.uuid != opencl.uuid)
                continue;
            SCOPED_TRACE(cuda.name);
            EXPECT_EQ(cuda.vendor_id, opencl.vendor_id);
            EXPECT_EQ(cuda.pci_address, opencl.pci_address);
            EXPECT_EQ(cuda.compute_units, opencl.compute_units);
            EXPECT_EQ(cuda.address_bits, opencl.address_bits);
            EXPECT_EQ(cuda.little_endian, opencl.little_endian);
            EXPECT_EQ(cuda.sub_group_size, opencl.sub_group_size);
            EXPECT_EQ(cuda.has_own_local_memory, opencl.has_own_local_memory);
            EXPECT_EQ(cuda.global_cache_type, opencl.global_cache_type);
        }
}

TEST(C1_discovery, platforms_have_the_devices_that_their_driver_gives) {
    cl_uint count = 0;
    std::array<cl_platform_id, 64> ids{};
    if (clGetPlatformIDs(64, ids.data(), &count) != CL_SUCCESS) GTEST_SKIP() << "no OpenCL platform";
    const runtime::discovery found = runtime::discover_opencl();
    ASSERT_EQ(found.platforms.size(), count);
    for (cl_uint k = 0; k < count; ++k) {
        char name[1024] = {}, profile[1024] = {};
        EXPECT_EQ(clGetPlatformInfo(ids[k], CL_PLATFORM_NAME, sizeof name, name, nullptr), CL_SUCCESS);
        EXPECT_EQ(clGetPlatformInfo(ids[k], CL_PLATFORM_PROFILE, sizeof profile, profile, nullptr),
                  CL_SUCCESS);
        EXPECT_EQ(found.platforms[k].name, name);
        EXPECT_EQ(found.platforms[k].profile, profile);
        cl_uint devices = 0;
        clGetDeviceIDs(ids[k], CL_DEVICE_TYPE_ALL, 0, nullptr, &devices);
        EXPECT_EQ(found.platforms[k].devices.size(), devices);
        for (const auto& each : found.platforms[k].devices) EXPECT_EQ(each->info().platform, name);
    }
}

}  // namespace balm::test

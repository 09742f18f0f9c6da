// Platforms, devices and contexts of the fake OpenCL.

#include "fake_drivers/opencl/objects.hpp"

namespace {

using namespace balm::test;

_cl_platform_id plain{"Fake OpenCL"}, pocl{"Portable Computing Language"};
std::array<_cl_device_id, 4> devices{{{&plain, "Fake OpenCL GPU 0", CL_DEVICE_TYPE_GPU, false},
                                      {&plain, "Fake OpenCL GPU 1", CL_DEVICE_TYPE_GPU, false},
                                      {&pocl, "pthread-fake", CL_DEVICE_TYPE_CPU, false},
                                      {&pocl, "basic-fake", CL_DEVICE_TYPE_CPU, true}}};

template <class Handle>
cl_int list(const std::vector<Handle>& all, cl_uint count, Handle* found, cl_uint* total) {
    if (total != nullptr) *total = static_cast<cl_uint>(all.size());
    for (cl_uint k = 0; found != nullptr && k < count && k < all.size(); ++k) found[k] = all[k];
    return CL_SUCCESS;
}

}  // namespace

extern "C" {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id* found, cl_uint* total) {
    return list<cl_platform_id>({&plain, &pocl}, count, found, total);
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id of, cl_platform_info what, size_t size, void* to,
                                     size_t* needed) {
    switch (what) {
        case CL_PLATFORM_NAME: return answer_text(of->name, size, to, needed);
        case CL_PLATFORM_VERSION: return answer_text("OpenCL 1.2 fake", size, to, needed);
        case CL_PLATFORM_PROFILE: return answer_text("FULL_PROFILE", size, to, needed);
        default: return answer_text("", size, to, needed);
    }
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id of, cl_device_type, cl_uint count, cl_device_id* found,
                                  cl_uint* total) {
    std::vector<cl_device_id> own;
    for (_cl_device_id& each : devices)
        if (each.platform == of) own.push_back(&each);
    return list(own, count, found, total);
}

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id of, cl_device_info what, size_t size, void* to,
                                   size_t* needed) {
    constexpr cl_device_info svm_capabilities = 0x1053;
    const auto tell = [&](const auto& value) { return answer(value, size, to, needed); };
    switch (what) {
        case CL_DEVICE_PLATFORM: return tell(of->platform);
        case CL_DEVICE_NAME: return answer_text(of->name, size, to, needed);
        case CL_DRIVER_VERSION: return answer_text("3.1", size, to, needed);
        case CL_DEVICE_VERSION: return answer_text("OpenCL 1.2 fake", size, to, needed);
        case CL_DEVICE_OPENCL_C_VERSION: return answer_text("OpenCL C 1.2", size, to, needed);
        case CL_DEVICE_TYPE: return tell(of->type);
        case CL_DEVICE_GLOBAL_MEM_SIZE:
        case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return tell(cl_ulong{1} << 26);
        case CL_DEVICE_LOCAL_MEM_SIZE:
        case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: return tell(cl_ulong{1} << 16);
        case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        case CL_DEVICE_MAX_PARAMETER_SIZE: return tell(std::size_t{1024});
        case CL_DEVICE_MAX_WORK_ITEM_SIZES: return tell(std::array<std::size_t, 3>{1024, 1024, 1024});
        case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS: return tell(cl_uint{3});
        case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return tell(cl_uint{1024});
        case CL_DEVICE_ADDRESS_BITS: return tell(cl_uint{64});
        case CL_DEVICE_MAX_COMPUTE_UNITS: return tell(cl_uint{4});
        case CL_DEVICE_MAX_CONSTANT_ARGS:
        case CL_DEVICE_MAX_READ_IMAGE_ARGS:
        case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
        case CL_DEVICE_MAX_SAMPLERS: return tell(cl_uint{8});
        case CL_DEVICE_IMAGE2D_MAX_WIDTH:
        case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
        case CL_DEVICE_IMAGE3D_MAX_WIDTH:
        case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
        case CL_DEVICE_IMAGE3D_MAX_DEPTH: return tell(std::size_t{4096});
        case CL_DEVICE_IMAGE_SUPPORT:
        case CL_DEVICE_AVAILABLE:
        case CL_DEVICE_COMPILER_AVAILABLE:
        case CL_DEVICE_LINKER_AVAILABLE:
        case CL_DEVICE_ENDIAN_LITTLE: return tell(cl_bool{CL_TRUE});
        case CL_DEVICE_SINGLE_FP_CONFIG:
        case CL_DEVICE_DOUBLE_FP_CONFIG:
            return tell(cl_device_fp_config{CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN});
        case CL_DEVICE_QUEUE_PROPERTIES: return tell(cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE});
        case svm_capabilities: return tell(cl_bitfield{1});  // whole allocations
        default: return CL_INVALID_VALUE;
    }
}

cl_context CL_API_CALL clCreateContext(const cl_context_properties*, cl_uint, const cl_device_id* of,
                                       void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*,
                                       cl_int* code) {
    return making_call(__func__, code, [&](cl_int&) {
        auto* const made = new _cl_context;
        made->device = *of;
        return made;
    });
}
cl_int CL_API_CALL clRetainContext(cl_context of) {
    return call(__func__, [&] { ++of->references; });
}
cl_int CL_API_CALL clReleaseContext(cl_context of) { return release(of); }
cl_int CL_API_CALL clGetContextInfo(cl_context of, cl_context_info what, size_t size, void* to,
                                    size_t* needed) {
    return what == CL_CONTEXT_DEVICES ? answer(of->device, size, to, needed) : CL_INVALID_VALUE;
}

}  // extern "C"

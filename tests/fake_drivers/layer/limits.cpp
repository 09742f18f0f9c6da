// An OpenCL layer (OPENCL_LAYERS names it): the devices below it are other ones. With BALM_TEST_AS_GPU they
// say that they are GPUs, and Balm computes on PoCL as on a GPU whose language has no sub-groups. They run,
// and admit, work-groups of up to BALM_TEST_GROUP_LIMIT work-items, and kernels that were not compiled for
// one size those of up to BALM_TEST_KERNEL_LIMIT. Larger ones are refused.

#include <CL/cl_layer.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

const _cl_icd_dispatch* below = nullptr;
_cl_icd_dispatch own;

std::size_t limit_in(const char* variable) {
    const char* const given = std::getenv(variable);
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::numeric_limits<std::size_t>::max();
}
const std::size_t group_limit = limit_in("BALM_TEST_GROUP_LIMIT"),
                  kernel_limit = limit_in("BALM_TEST_KERNEL_LIMIT");
const bool as_gpu = std::getenv("BALM_TEST_AS_GPU") != nullptr;

/// Changes each of the values of a type that a query answered.
template <class T, class Change>
void change(void* answered, std::size_t bytes, const Change& how) {
    if (answered == nullptr) return;
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T value;
        std::memcpy(&value, static_cast<std::byte*>(answered) + at, sizeof value);
        value = how(value);
        std::memcpy(static_cast<std::byte*>(answered) + at, &value, sizeof value);
    }
}

/// The work-items of the groups that a kernel may have.
std::size_t limit_of(cl_kernel kernel, cl_device_id device) {
    std::array<std::size_t, 3> compiled_for{};
    below->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof compiled_for,
                                    compiled_for.data(), nullptr);
    return compiled_for[0] != 0 ? group_limit : std::min(group_limit, kernel_limit);
}

cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size, void* to,
                               size_t* needed) {
    std::size_t bytes = 0;
    const cl_int status = below->clGetDeviceInfo(device, what, size, to, &bytes);
    if (needed != nullptr) *needed = bytes;
    if (status != CL_SUCCESS) return status;
    const auto limited = [](std::size_t n) { return std::min(n, group_limit); };
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE || what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        change<std::size_t>(to, bytes, limited);
    if (what == CL_DEVICE_TYPE && as_gpu)
        change<cl_device_type>(to, bytes, [](cl_device_type) { return cl_device_type{CL_DEVICE_TYPE_GPU}; });
    return status;
}

cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                               size_t size, void* to, size_t* needed) {
    std::size_t bytes = 0;
    const cl_int status = below->clGetKernelWorkGroupInfo(kernel, device, what, size, to, &bytes);
    if (needed != nullptr) *needed = bytes;
    if (status == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE)
        change<std::size_t>(to, bytes, [&](std::size_t n) { return std::min(n, limit_of(kernel, device)); });
    return status;
}

cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint count,
                              cl_device_id* found, cl_uint* total) {
    return below->clGetDeviceIDs(platform, as_gpu ? cl_device_type{CL_DEVICE_TYPE_ALL} : type, count, found,
                                 total);
}

cl_int CL_API_CALL enqueue_range(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t* offset, const size_t* global, const size_t* local,
                                 cl_uint count, const cl_event* waits, cl_event* done) {
    cl_device_id device = nullptr;
    below->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr);
    std::size_t items = 1;
    for (cl_uint d = 0; local != nullptr && d < dimensions; ++d) items *= local[d];
    if (items > limit_of(kernel, device)) return CL_INVALID_WORK_GROUP_SIZE;
    return below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, waits,
                                         done);
}

}  // namespace

extern "C" {

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* to, size_t* needed) {
    if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (needed != nullptr) *needed = sizeof version;
    if (to == nullptr) return CL_SUCCESS;
    if (size < sizeof version) return CL_INVALID_VALUE;
    std::memcpy(to, &version, sizeof version);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const _cl_icd_dispatch* next,
                                            cl_uint* own_entries, const _cl_icd_dispatch** result) {
    if (next == nullptr || own_entries == nullptr || result == nullptr) return CL_INVALID_VALUE;
    below = next;
    std::memcpy(&own, next, std::min(sizeof own, entries * sizeof(void*)));
    own.clGetDeviceInfo = device_info;
    own.clGetKernelWorkGroupInfo = kernel_info;
    own.clGetDeviceIDs = device_ids;
    own.clEnqueueNDRangeKernel = enqueue_range;
    *own_entries = static_cast<cl_uint>(sizeof own / sizeof(void*));
    *result = &own;
    return CL_SUCCESS;
}

}  // extern "C"

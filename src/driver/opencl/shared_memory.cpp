// Shared virtual memory of OpenCL 2.0: an allocation that the host can access, with a buffer over it, so that
// commands and kernels use it like any other buffer (OpenCL 2.0, 5.2.1: a buffer with CL_MEM_USE_HOST_PTR
// shares memory from clSVMAlloc). The functions are looked up on first use: loaders of OpenCL 1.2 lack them.

#include <fmt/format.h>

#include <bit>
#include <string>

#include "balm/error.hpp"
#include "base/system.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device.hpp"

namespace balm::opencl {

namespace {

struct functions {
    void*(CL_API_CALL* allocate)(cl_context, cl_bitfield, size_t, cl_uint) = nullptr;
    void(CL_API_CALL* free)(cl_context, void*) = nullptr;
};

const functions& svm() {
    static const functions found = [] {
        const runtime::shared_library& library = load_loader().library;
        functions made;
        made.allocate = library.function<void*(cl_context, cl_bitfield, size_t, cl_uint)>("clSVMAlloc");
        made.free = library.function<void(cl_context, void*)>("clSVMFree");
        return made;
    }();
    return found;
}

}  // namespace

runtime::managed_memory device::allocate_managed(std::size_t bytes) {
    if (svm().allocate == nullptr || svm().free == nullptr)
        throw usage_error(fmt::format(
            "Managed memory was requested on device '{}', but this machine's OpenCL loader lacks clSVMAlloc; "
            "install a loader for OpenCL 2.0 or later (ocl-icd-libopencl1), or use a buffer and map it.",
            name()));
    cl_context owner = context();
    const bool is_beyond = info_.global_memory != 0 && bytes > info_.global_memory;
    void* const address = is_beyond ? nullptr : svm().allocate(owner, CL_MEM_READ_WRITE, bytes, 0);
    if (address == nullptr)
        throw out_of_memory_error(
            fmt::format("clSVMAlloc returned null for {} bytes on device '{}', which has {} bytes of memory "
                        "and allows at most {} per allocation.",
                        bytes, name(), info_.global_memory, info_.max_allocation));
    cl_int code = CL_SUCCESS;
    cl_mem buffer =
        loader().clCreateBuffer(owner, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, address, &code);
    if (code != CL_SUCCESS) {
        svm().free(owner, address);
        fail(code, "clCreateBuffer", fmt::format("a buffer over {} bytes of shared virtual memory", bytes),
             name());
    }
    return {{std::bit_cast<std::uintptr_t>(buffer)}, address};
}

void device::free_managed(runtime::managed_memory gone) noexcept {
    free(gone.native);
    svm().free(context_.get(), gone.address);
}

}  // namespace balm::opencl

// Adopts contexts, streams and memory made by others, and checks that they belong to a device. CUDA counts no
// references, so an adopted object must outlive its adopters.

#include <fmt/format.h>

#include <bit>

#include "balm/error.hpp"
#include "driver/cuda/check.hpp"
#include "driver/cuda/device.hpp"
#include "driver/cuda/queue.hpp"

namespace balm::cuda {

bool device::is_native(void* given_context, void*) {
    if (has_context_.load(std::memory_order_acquire)) return context_->get() == given_context;
    // It may be the primary context, which the program may have initialised before Balm.
    unsigned flags = 0;
    int is_active = 0;
    CUcontext primary = nullptr;
    if (driver().cuDevicePrimaryCtxGetState(device_, &flags, &is_active) != CUDA_SUCCESS || is_active == 0 ||
        driver().cuDevicePrimaryCtxRetain(&primary, device_) != CUDA_SUCCESS)
        return false;
    driver().cuDevicePrimaryCtxRelease(device_);
    return primary == given_context;
}

std::unique_ptr<runtime::driver_queue> device::adopt_queue(void* native, runtime::queue_options& options) {
    const auto given = static_cast<CUstream>(native);
    // The meaning of these streams depends on the thread, and Balm enqueues commands from several.
    const auto per_thread = std::bit_cast<CUstream>(std::uintptr_t{2});  // CU_STREAM_PER_THREAD
    if (given == nullptr || given == per_thread)
        throw usage_error(fmt::format(
            "{} was passed to device '{}'; create a stream with cuStreamCreate or cudaStreamCreate, or pass "
            "CU_STREAM_LEGACY for the legacy default stream.",
            given == nullptr ? "A null CUstream"
                             : "CU_STREAM_PER_THREAD, which is a different stream in each thread,",
            info_.name));
    const current_context current(*own_context());
    CUcontext owner = nullptr;
    const CUresult code = driver().cuStreamGetCtx(given, &owner);
    if (code != CUDA_SUCCESS)
        throw usage_error(fmt::format("cuStreamGetCtx failed with {} for the CUstream passed to device '{}'.",
                                      error_text(driver(), code), info_.name));
    if (owner != context_->get())
        throw usage_error(
            fmt::format("The CUstream passed to device '{}' belongs to another CUcontext or device; use it "
                        "with the device that balm::adopt_cuda(context) returns for its context.",
                        info_.name));
    return std::make_unique<queue>(own_context(), options, given);
}

runtime::foreign_memory device::adopt_memory(std::uintptr_t handle) {
    if (handle == 0)
        throw usage_error(fmt::format(
            "A null CUdeviceptr was passed to device '{}'; allocate memory with cuMemAlloc or cudaMalloc.",
            info_.name));
    const current_context current(*own_context());
    const CUdeviceptr given = handle;
    const auto ask = [&](CUpointer_attribute what, auto value) {
        const CUresult code = driver().cuPointerGetAttribute(&value, what, given);
        if (code != CUDA_SUCCESS)
            throw usage_error(fmt::format(
                "The address {:#x} passed to device '{}' is unknown to CUDA (cuPointerGetAttribute failed "
                "with {}); pass a pointer from cuMemAlloc or cudaMalloc that has not been freed.",
                handle, info_.name, error_text(driver(), code)));
        return value;
    };
    const bool is_managed = ask(CU_POINTER_ATTRIBUTE_IS_MANAGED, 0u) != 0;
    if (!is_managed && ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0u) != CU_MEMORYTYPE_DEVICE)
        throw usage_error(fmt::format(
            "The address {:#x} passed to device '{}' is host memory; use a std::span for host memory.",
            handle, info_.name));
    const auto owner = ask(CU_POINTER_ATTRIBUTE_CONTEXT, CUcontext{});
    const int ordinal = ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0);
    // Memory of a driver's pool belongs to no context, managed memory to every one.
    if (!is_managed && (ordinal != device_ || (owner != nullptr && owner != context_->get())))
        throw usage_error(
            fmt::format("The address {:#x} passed to device '{}' belongs to another {}; use it with the "
                        "device that balm::adopt_cuda(context) returns for its context.",
                        handle, info_.name, ordinal != device_ ? "device" : "CUcontext"));
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    check(driver().cuMemGetAddressRange(&base, &bytes, given), "cuMemGetAddressRange", "adopted memory",
          info_.name);
    runtime::foreign_memory found;
    found.native = {static_cast<std::uintptr_t>(base)};
    found.bytes = bytes;
    found.offset = given - base;
    found.given_bytes = bytes - found.offset;
    found.address = base;
    return found;
}

}  // namespace balm::cuda

namespace balm::runtime {

std::shared_ptr<driver_device> adopt_cuda_context(void* context) {
    if (context == nullptr)
        throw usage_error("A null CUcontext was passed to balm::adopt_cuda; create one with cuCtxCreate.");
    if (!cuda::load_driver().is_ready)
        throw usage_error(
            "A CUcontext was passed to balm::adopt_cuda, but this machine has no usable CUDA driver.");
    const auto given = static_cast<cuda::CUcontext>(context);
    cuda::CUcontext before = nullptr;
    cuda::driver().cuCtxGetCurrent(&before);
    cuda::CUdevice device = 0;
    cuda::CUresult code = cuda::driver().cuCtxSetCurrent(given);
    if (code == cuda::CUDA_SUCCESS) code = cuda::driver().cuCtxGetDevice(&device);
    cuda::driver().cuCtxSetCurrent(before);
    if (code != cuda::CUDA_SUCCESS)
        throw usage_error(
            fmt::format("cuCtxGetDevice failed with {} for the CUcontext passed to balm::adopt_cuda.",
                        cuda::error_text(cuda::driver(), code)));
    return std::make_shared<cuda::device>(device, given);
}

}  // namespace balm::runtime

#include "driver/cuda/device.hpp"

#include <fmt/format.h>

#include <bit>

#include "balm/error.hpp"
#include "driver/cuda/check.hpp"
#include "driver/cuda/device_query.hpp"
#include "driver/cuda/graph.hpp"
#include "driver/cuda/image.hpp"
#include "driver/cuda/nvrtc.hpp"
#include "driver/cuda/queue.hpp"

namespace balm::cuda {

device::device(CUdevice which) : device_(which), info_(query_device(which)) {
    capability_ = 10 * attribute_of(which, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                  attribute_of(which, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    local_limits_.plain =
        static_cast<std::uint32_t>(attribute_of(which, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
    local_limits_.opt_in = static_cast<std::uint32_t>(info_.local_memory);
}

device::device(CUdevice which, CUcontext adopted) : device(which) {
    context_ = std::make_shared<context>(which, info_.name, adopted);
    has_context_.store(true, std::memory_order_release);
}

device::~device() = default;

const std::shared_ptr<context>& device::own_context() {
    if (has_context_.load(std::memory_order_acquire)) return context_;
    const std::lock_guard lock(context_mutex_);
    if (context_ == nullptr) {
        context_ = std::make_shared<context>(device_, info_.name);
        has_context_.store(true, std::memory_order_release);
    }
    return context_;
}

copy_path device::path_from(runtime::driver_device& other) {
    if (other.info().api != backend::cuda) return copy_path::through_host;
    auto& from = static_cast<device&>(other);
    if (from.device_ == device_) return copy_path::within_device;
    return own_context()->can_reach(*from.own_context()) ? copy_path::peer_to_peer : copy_path::by_driver;
}

void* device::native_device() { return std::bit_cast<void*>(static_cast<std::intptr_t>(device_)); }

// Without the architecture, which depends on the NVRTC found: cached binaries must load without one.
std::string device::compile_options() const { return nvrtc_options; }

std::string device::words_for(const balm::compile_options& wanted) const { return nvrtc_words_for(wanted); }

std::string device::compiler() const { return describe_nvrtc(); }

std::unique_ptr<runtime::driver_queue> device::make_queue(const runtime::queue_options& options) {
    return std::make_unique<queue>(own_context(), options);
}

std::unique_ptr<runtime::driver_batch> device::make_batch(
    const std::function<void(runtime::driver_queue&)>& enqueue) {
    return graph::of(own_context(), enqueue);
}

std::unique_ptr<runtime::driver_batch> device::make_loop(
    const std::function<void(runtime::driver_queue&)>& enqueue, runtime::memory stop, std::size_t offset,
    runtime::memory turns) {
    return graph::loop_of(own_context(), enqueue, stop.handle + offset, turns.handle);
}

runtime::memory device::allocate(std::size_t bytes) {
    const current_context current(*own_context());
    CUdeviceptr pointer = 0;
    const CUresult code = driver().cuMemAlloc(&pointer, bytes);
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        throw out_of_memory_error(fmt::format(
            "cuMemAlloc failed with {} for {} bytes on device '{}', which has {} bytes of memory.",
            error_text(driver(), code), bytes, info_.name, info_.global_memory));
    if (code != CUDA_SUCCESS) fail(code, "cuMemAlloc", fmt::format("{} bytes", bytes), info_.name);
    return {static_cast<std::uintptr_t>(pointer)};
}

void device::free(runtime::memory pointer) noexcept {
    if (pointer.handle == 0 || !has_context_.load(std::memory_order_acquire)) return;
    const current_context current(*context_);
    driver().cuMemFree(pointer.handle);
}

runtime::managed_memory device::allocate_managed(std::size_t bytes) {
    const current_context current(*own_context());
    CUdeviceptr pointer = 0;
    const CUresult code = driver().cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL);
    if (code != CUDA_SUCCESS)
        fail(code, "cuMemAllocManaged", fmt::format("{} bytes of managed memory", bytes), info_.name);
    const auto address = static_cast<std::uintptr_t>(pointer);
    return {{address}, std::bit_cast<void*>(address)};
}

runtime::memory device::allocate_image(const runtime::image_description& wanted) {
    return {std::bit_cast<std::uintptr_t>(new image(own_context(), wanted))};
}

void device::free_image(runtime::memory freed) noexcept { delete &image::of(freed); }

// Portable: pinned for every context of the process, whichever device it is written to or read from.
runtime::pinned_memory device::allocate_pinned(std::size_t bytes) {
    const current_context current(*own_context());
    void* address = nullptr;
    const CUresult code = driver().cuMemHostAlloc(&address, bytes, portable_host_memory);
    // The driver reports a size beyond all memory as an invalid value.
    if (code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_INVALID_VALUE)
        throw out_of_memory_error(
            fmt::format("cuMemHostAlloc failed with {} for {} bytes of pinned host memory for device '{}'; "
                        "allocate less, or use pageable memory.",
                        error_text(driver(), code), bytes, info_.name));
    if (code != CUDA_SUCCESS)
        fail(code, "cuMemHostAlloc", fmt::format("{} bytes of pinned host memory", bytes), info_.name);
    return {address, 0};
}

void device::free_pinned(runtime::pinned_memory pinned) noexcept {
    if (pinned.address == nullptr || !has_context_.load(std::memory_order_acquire)) return;
    const current_context current(*context_);
    driver().cuMemFreeHost(pinned.address);
}

std::unique_ptr<runtime::driver_program> device::compile(const std::string& source,
                                                         const std::string& options) {
    std::string log;
    auto image = compile_with_nvrtc(source, nvrtc_options_with(options),
                                    nvrtc_architecture(capability_, info_.name), log, info_.name);
    return std::make_unique<program>(own_context(), std::move(image), local_limits_);
}

std::unique_ptr<runtime::driver_program> device::load(std::span<const std::byte> binary) {
    return std::make_unique<program>(own_context(), std::vector<std::byte>(binary.begin(), binary.end()),
                                     local_limits_);
}

}  // namespace balm::cuda

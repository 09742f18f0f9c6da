#include "driver/opencl/device.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "balm/error.hpp"
#include "base/compiler_use.hpp"
#include "base/system.hpp"
#include "driver/opencl/check.hpp"
#include "driver/opencl/device_query.hpp"
#include "driver/opencl/program.hpp"
#include "driver/opencl/queue.hpp"

namespace balm::opencl {

namespace {

void CL_CALLBACK free_pages(cl_mem, void* pages) { std::free(pages); }

/// A CPU's memory is the host's: PoCL would use small pages, whose address translation slows kernels down.
cl_mem make_buffer_in_large_pages(cl_context context, std::size_t bytes, cl_int& code) {
    code = CL_OUT_OF_HOST_MEMORY;
    void* const pages = runtime::allocate_in_large_pages(bytes);
    if (pages == nullptr) return nullptr;
    owned_memory buffer(
        loader().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, pages, &code));
    // The driver keeps the memory for as long as a command may need it.
    if (code == CL_SUCCESS) code = loader().clSetMemObjectDestructorCallback(buffer.get(), free_pages, pages);
    if (code == CL_SUCCESS) return buffer.release();
    buffer = {};
    std::free(pages);
    return nullptr;
}

}  // namespace

device::device(cl_platform_id platform, cl_device_id id)
    : platform_(platform),
      id_(id),
      info_(query_device(platform, id)),
      // "basic-..." until PoCL 3, "cpu-minimal-..." from 4 on
      runs_in_the_call_(is_pocl() &&
                        (info_.name.starts_with("basic") || info_.name.starts_with("cpu-minimal"))) {}

device::device(cl_platform_id platform, cl_device_id id, owned_context adopted) : device(platform, id) {
    context_ = std::move(adopted);
    ready_context_.store(context_.get(), std::memory_order_release);
}

bool device::is_pocl() const { return info_.platform == pocl_platform; }

std::string_view device::source_head() const {
    // PoCL 5.0 has no wait_group_events for events in private memory: linking the program ends the process.
    // Its copies are complete when they return, for the share of the calling work-item.
    if (is_pocl())
        return "#undef wait_group_events\n"
               "#define wait_group_events(count, events) barrier(CLK_LOCAL_MEM_FENCE | "
               "CLK_GLOBAL_MEM_FENCE)\n"
               "#line 1\n";
    return "";
}

bool device::launches_in_turn() const {
    return is_pocl() && std::strtol(info_.driver_version.c_str(), nullptr, 10) < 7;
}

std::unique_lock<std::mutex> device::enqueuing() {
    return runs_in_the_call_ ? std::unique_lock(enqueuing_) : std::unique_lock<std::mutex>();
}

bool device::is_nvidia() const { return info_.extensions.find("cl_nv_") != std::string::npos; }

std::string device::compile_options() const {
    std::string options = "-cl-std=CL1.2 -cl-kernel-arg-info";
    if (info_.has_correctly_rounded_divide) options += " -cl-fp32-correctly-rounded-divide-sqrt";
    // PoCL prints the number of warnings to standard error: on CPUs without AVX-512 there is one for each
    // built-in function of float16, whose calling convention depends on AVX-512.
    if (is_pocl()) options += " -w";
    return options;
}

std::string device::words_for(const balm::compile_options& wanted) const {
    std::string words;
    if (wanted.fast_math) words += "-cl-fast-relaxed-math ";
    if (wanted.flush_denormals) words += "-cl-denorms-are-zero ";
    if (!wanted.optimise) words += "-cl-opt-disable ";
    if (wanted.max_registers > 0 && is_nvidia())
        words += fmt::format("-cl-nv-maxrregcount={} ", wanted.max_registers);
    return words + wanted.opencl;
}

cl_context device::context() {
    if (cl_context ready = ready_context_.load(std::memory_order_acquire)) return ready;
    const runtime::compiler_use initialising("first context of a device", "created");
    const std::lock_guard lock(context_mutex_);
    if (context_.get() == nullptr) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    reinterpret_cast<cl_context_properties>(platform_), 0};
        cl_int code = CL_SUCCESS;
        owned_context made(loader().clCreateContext(properties, 1, &id_, nullptr, nullptr, &code));
        check(code, "clCreateContext", "a context of this device", name());
        context_ = std::move(made);
        ready_context_.store(context_.get(), std::memory_order_release);
    }
    return context_.get();
}

std::unique_ptr<runtime::driver_queue> device::make_queue(const runtime::queue_options& options) {
    return std::make_unique<queue>(shared_from_this(), options);
}

cl_mem device::make_buffer(std::size_t bytes, cl_mem_flags where, cl_int& code) {
    constexpr std::size_t worth_large_pages = std::size_t{2} << 20;
    return info_.type == device_type::cpu && bytes >= worth_large_pages
               ? make_buffer_in_large_pages(context(), bytes, code)
               : loader().clCreateBuffer(context(), CL_MEM_READ_WRITE | where, bytes, nullptr, &code);
}

runtime::memory device::allocate(std::size_t bytes) {
    // NVIDIA's driver allocates on first use, and would accept any size here.
    const bool is_beyond = info_.global_memory != 0 && bytes > info_.global_memory;
    cl_int code = CL_INVALID_BUFFER_SIZE;
    cl_mem buffer = is_beyond ? nullptr : make_buffer(bytes, 0, code);
    switch (code) {
        case CL_SUCCESS: return {reinterpret_cast<std::uintptr_t>(buffer)};
        case CL_INVALID_BUFFER_SIZE:
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        case CL_OUT_OF_RESOURCES:
        case CL_OUT_OF_HOST_MEMORY:
            throw out_of_memory_error(fmt::format(
                "clCreateBuffer failed with {} ({}) for {} bytes on device '{}', which has {} bytes of "
                "memory and allows at most {} per allocation.",
                error_name(code), code, bytes, name(), info_.global_memory, info_.max_allocation));
        default: fail(code, "clCreateBuffer", fmt::format("a buffer of {} bytes", bytes), name());
    }
}

void device::free(runtime::memory buffer) noexcept {
    if (buffer.handle != 0) loader().clReleaseMemObject(std::bit_cast<cl_mem>(buffer.handle));
}

cl_command_queue device::mapping_queue() {
    cl_context owner = context();
    const std::lock_guard lock(context_mutex_);
    if (mapping_queue_.get() == nullptr) {
        cl_int code = CL_SUCCESS;
        owned_queue made(loader().clCreateCommandQueue(owner, id_, 0, &code));
        check(code, "clCreateCommandQueue", "a queue that maps pinned memory", name());
        mapping_queue_ = std::move(made);
    }
    return mapping_queue_.get();
}

// OpenCL pins the memory that a buffer in host memory is mapped to; the mapping lasts as long as the memory.
runtime::pinned_memory device::allocate_pinned(std::size_t bytes) {
    cl_command_queue queue = mapping_queue();
    cl_int code = CL_SUCCESS;
    const char* call = "clCreateBuffer";
    owned_memory buffer(make_buffer(bytes, CL_MEM_ALLOC_HOST_PTR, code));
    void* address = nullptr;
    if (code == CL_SUCCESS) {
        call = "clEnqueueMapBuffer";
        const auto turn = enqueuing();
        address = loader().clEnqueueMapBuffer(queue, buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                              bytes, 0, nullptr, nullptr, &code);
    }
    if (code != CL_SUCCESS)
        throw out_of_memory_error(
            fmt::format("{} failed with {} ({}) for {} bytes of pinned host memory for device '{}', which "
                        "allows at most {} per allocation; allocate less, or use pageable memory.",
                        call, error_name(code), code, bytes, name(), info_.max_allocation));
    return {address, std::bit_cast<std::uintptr_t>(buffer.release())};
}

void device::free_pinned(runtime::pinned_memory pinned) noexcept {
    if (pinned.handle == 0) return;
    const owned_memory buffer(std::bit_cast<cl_mem>(pinned.handle));
    cl_command_queue queue = mapping_queue_.get();  // made by allocate_pinned
    const auto turn = enqueuing();
    loader().clEnqueueUnmapMemObject(queue, buffer.get(), pinned.address, 0, nullptr, nullptr);
    loader().clFinish(queue);  // so that nothing is in flight when the process ends
}

std::unique_ptr<runtime::driver_program> device::compile(const std::string& source,
                                                         const std::string& options) {
    return program::from_source(shared_from_this(), source, options);
}

std::unique_ptr<runtime::driver_program> device::load(std::span<const std::byte> binary) {
    return program::from_binary(shared_from_this(), binary);
}

}  // namespace balm::opencl

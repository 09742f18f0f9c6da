#pragma once
// The OpenCL 1.2 C interface, as every file of this folder sees it, and owners of its reference-counted
// objects. No other header includes the driver's.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <utility>

#include "base/forked.hpp"

namespace balm::opencl {

/// Owns one reference to an OpenCL object; the release's error is ignored, as destructors must.
template <class Handle, cl_int(CL_API_CALL* Release)(Handle)>
class owned {
public:
    owned() = default;
    explicit owned(Handle handle) : handle_(handle) {}
    owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    owned& operator=(owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    owned(const owned&) = delete;
    owned& operator=(const owned&) = delete;
    ~owned() {
        if (handle_ != nullptr && !runtime::is_forked()) Release(handle_);
    }

    Handle get() const { return handle_; }
    /// Gives the reference away.
    Handle release() { return std::exchange(handle_, nullptr); }

private:
    Handle handle_ = nullptr;
};

using owned_context = owned<cl_context, clReleaseContext>;
using owned_memory = owned<cl_mem, clReleaseMemObject>;
using owned_queue = owned<cl_command_queue, clReleaseCommandQueue>;
using owned_program = owned<cl_program, clReleaseProgram>;
using owned_kernel = owned<cl_kernel, clReleaseKernel>;
using owned_sampler = owned<cl_sampler, clReleaseSampler>;
using owned_event = owned<cl_event, clReleaseEvent>;

}  // namespace balm::opencl

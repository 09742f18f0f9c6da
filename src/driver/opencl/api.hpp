#pragma once
// The OpenCL 1.2 C interface for the files of this folder: a table of its entry points, filled from the
// machine's ICD loader at run time, so that programs start on machines without one; and owners of its
// reference-counted objects. No other header includes the driver's.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

#include "base/forked.hpp"
#include "base/system.hpp"

namespace balm::opencl {

#define BALM_OPENCL_TABLE(ROW)            \
    ROW(clBuildProgram)                   \
    ROW(clCreateBuffer)                   \
    ROW(clCreateCommandQueue)             \
    ROW(clCreateContext)                  \
    ROW(clCreateImage)                    \
    ROW(clCreateKernel)                   \
    ROW(clCreateProgramWithBinary)        \
    ROW(clCreateProgramWithSource)        \
    ROW(clCreateSampler)                  \
    ROW(clCreateSubBuffer)                \
    ROW(clEnqueueCopyBuffer)              \
    ROW(clEnqueueCopyBufferRect)          \
    ROW(clEnqueueCopyBufferToImage)       \
    ROW(clEnqueueCopyImage)               \
    ROW(clEnqueueCopyImageToBuffer)       \
    ROW(clEnqueueFillBuffer)              \
    ROW(clEnqueueMapBuffer)               \
    ROW(clEnqueueMarkerWithWaitList)      \
    ROW(clEnqueueNDRangeKernel)           \
    ROW(clEnqueueReadBuffer)              \
    ROW(clEnqueueReadBufferRect)          \
    ROW(clEnqueueReadImage)               \
    ROW(clEnqueueUnmapMemObject)          \
    ROW(clEnqueueWriteBuffer)             \
    ROW(clEnqueueWriteBufferRect)         \
    ROW(clEnqueueWriteImage)              \
    ROW(clFinish)                         \
    ROW(clFlush)                          \
    ROW(clGetCommandQueueInfo)            \
    ROW(clGetContextInfo)                 \
    ROW(clGetDeviceIDs)                   \
    ROW(clGetDeviceInfo)                  \
    ROW(clGetEventInfo)                   \
    ROW(clGetEventProfilingInfo)          \
    ROW(clGetKernelArgInfo)               \
    ROW(clGetKernelInfo)                  \
    ROW(clGetKernelWorkGroupInfo)         \
    ROW(clGetMemObjectInfo)               \
    ROW(clGetPlatformIDs)                 \
    ROW(clGetPlatformInfo)                \
    ROW(clGetProgramBuildInfo)            \
    ROW(clGetProgramInfo)                 \
    ROW(clGetSupportedImageFormats)       \
    ROW(clReleaseCommandQueue)            \
    ROW(clReleaseContext)                 \
    ROW(clReleaseEvent)                   \
    ROW(clReleaseKernel)                  \
    ROW(clReleaseMemObject)               \
    ROW(clReleaseProgram)                 \
    ROW(clReleaseSampler)                 \
    ROW(clRetainCommandQueue)             \
    ROW(clRetainContext)                  \
    ROW(clRetainMemObject)                \
    ROW(clSetKernelArg)                   \
    ROW(clSetMemObjectDestructorCallback) \
    ROW(clWaitForEvents)

/// The entry points, each under its own name.
struct loader_api {
#define BALM_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
    BALM_OPENCL_TABLE(BALM_OPENCL_MEMBER)
#undef BALM_OPENCL_MEMBER
};

/// The ICD loader as found on this machine.
struct loader_library {
    loader_api api;
    bool is_ready = false;            ///< opened and complete
    runtime::shared_library library;  ///< for entry points of newer OpenCL versions
    std::vector<std::string> notes;   ///< why it is not ready
};

/// Opens the loader, once per process. Never unloaded: its drivers' threads and exit handlers outlive static
/// objects.
const loader_library& load_loader();

/// The entry points; to be called only if load_loader() is ready.
inline const loader_api& loader() { return load_loader().api; }

/// Owns one reference to an OpenCL object; errors of its release are ignored, as destructors must.
template <class Handle, auto Release>
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
        if (handle_ != nullptr && !runtime::is_forked()) (loader().*Release)(handle_);
    }

    Handle get() const { return handle_; }
    /// Gives up ownership of the reference.
    Handle release() { return std::exchange(handle_, nullptr); }

private:
    Handle handle_ = nullptr;
};

using owned_context = owned<cl_context, &loader_api::clReleaseContext>;
using owned_memory = owned<cl_mem, &loader_api::clReleaseMemObject>;
using owned_queue = owned<cl_command_queue, &loader_api::clReleaseCommandQueue>;
using owned_program = owned<cl_program, &loader_api::clReleaseProgram>;
using owned_kernel = owned<cl_kernel, &loader_api::clReleaseKernel>;
using owned_sampler = owned<cl_sampler, &loader_api::clReleaseSampler>;
using owned_event = owned<cl_event, &loader_api::clReleaseEvent>;

}  // namespace balm::opencl

#pragma once
// What the OpenCL programs of the trail share: which device, and kernels from a file. Environment variables
// and a file's name come in, OpenCL objects go out. Here so that a program shows its buffers and its loop
// alone.

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <string>

#include "stage.hpp"

namespace heat_trail {

/// The device that HPCE_SELECT_PLATFORM and HPCE_SELECT_DEVICE choose by number; 0 where they are not set.
/// Lists the platforms, the platform's devices, and both choices on stderr. Throws std::runtime_error, in one
/// sentence, when there is no platform or device, or none of this number.
cl::Device choose_device();

/// A kernel of a file of OpenCL C, built for a device. The file lies in the folder HPCE_CL_SRC_DIR, or beside
/// the program where that is not set. Throws std::runtime_error, with the file's path, when it cannot be
/// read, does not compile (the compiler's log is on stderr then), or has no such kernel.
cl::Kernel load_kernel(const cl::Context& context, const cl::Device& device, const std::string& file_name,
                       const std::string& kernel_name);

/// Runs a program as heat::run_stage does; an OpenCL call that fails is named in one sentence.
int run_opencl_stage(CLI::App& app, int argc, char** argv, const heat::step_function& step);

}  // namespace heat_trail

#pragma once
// Shared by the OpenCL programs of the trail: choosing a device, and kernels from a file. Environment
// variables and a file name come in, OpenCL objects go out, so that each program shows only its buffers and
// its loop.

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <string>

#include "stage.hpp"

namespace heat_trail {

/// The device that HPCE_SELECT_PLATFORM and HPCE_SELECT_DEVICE choose by number; 0 if they are not set. Lists
/// the platforms, the platform's devices, and both choices on stderr. Throws std::runtime_error, with a
/// message of one sentence, if there is no platform or device, or none with this number.
cl::Device choose_device();

/// A kernel from a file of OpenCL C, built for a device. The file is in the folder HPCE_CL_SRC_DIR, or beside
/// the program if that is not set. Throws std::runtime_error, with the file's path, if the file cannot be
/// read, does not compile (the compiler's log is then on stderr), or has no such kernel.
cl::Kernel load_kernel(const cl::Context& context, const cl::Device& device, const std::string& file_name,
                       const std::string& kernel_name);

/// Runs a program as heat::run_stage does; reports a failed OpenCL call in one sentence.
int run_opencl_stage(CLI::App& app, int argc, char** argv, const heat::step_function& step);

}  // namespace heat_trail

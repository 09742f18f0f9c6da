#pragma once
// The languages of programs for devices.

#include <cstdint>

namespace balm::runtime {

/// The language of a backend's programs; opencl_ptx is the OpenCL C of NVIDIA's driver, whose compiler
/// accepts PTX in asm statements.
enum class dialect : std::uint8_t { opencl_c, cuda_cpp, opencl_ptx };

}  // namespace balm::runtime

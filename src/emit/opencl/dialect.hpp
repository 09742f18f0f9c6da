#pragma once
// OpenCL C 1.2, plain and with inline PTX, which NVIDIA's driver accepts.

#include "emit/dialect.hpp"

namespace balm::emit::opencl {

const dialect& opencl_c() noexcept;
const dialect& opencl_ptx() noexcept;

}  // namespace balm::emit::opencl

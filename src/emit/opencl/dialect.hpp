#pragma once
// OpenCL C 1.2, and with PTX in it, as NVIDIA's driver takes it.

#include "emit/dialect.hpp"

namespace balm::emit::opencl {

const dialect& opencl_c() noexcept;
const dialect& opencl_ptx() noexcept;

}  // namespace balm::emit::opencl

#pragma once
// CUDA C++ as NVRTC accepts it, without headers.

#include "emit/dialect.hpp"

namespace balm::emit::cuda {

const dialect& cuda_cpp() noexcept;

}  // namespace balm::emit::cuda

#pragma once
// CLBlast, opened on first use: matrix products in a command queue.

#include <string>

#include "driver/opencl/api.hpp"
#include "runtime/backend.hpp"

namespace balm::opencl {

/// The CLBlast of this machine. The first call searches for it.
runtime::matrix_library clblast_library();

/// Enqueues the products; the first of each element type compiles CLBlast's kernels. Requires
/// clblast_library().is_found. If it throws, some kernels may have been enqueued.
void multiply_with_clblast(const runtime::matrix_product&, cl_command_queue, const std::string& device_name);

}  // namespace balm::opencl

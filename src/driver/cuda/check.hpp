#pragma once
// Checks the code that a CUDA driver call returned: on failure throws an error that names the call, the code,
// the object and the device. Driver calls that must succeed are checked here.

#include <string>
#include <string_view>

#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

/// "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)".
std::string error_text(const driver_api&, CUresult code);

/// Throws out_of_memory_error for CUDA_ERROR_OUT_OF_MEMORY, else device_error. `object` is a phrase such as
/// "kernel 'saxpy'".
[[noreturn]] void fail(CUresult code, std::string_view call, std::string_view object,
                       std::string_view device);

inline void check(CUresult code, std::string_view call, std::string_view object, std::string_view device) {
    if (code != CUDA_SUCCESS) [[unlikely]]
        fail(code, call, object, device);
}

}  // namespace balm::cuda

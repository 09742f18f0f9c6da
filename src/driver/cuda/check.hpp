#pragma once
// Takes the code that a CUDA driver call returned; returns, or throws an error that names the call, the
// code, the object and the device. Every driver call of this folder goes through here.

#include <string>
#include <string_view>

#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

/// "CUDA_ERROR_OUT_OF_MEMORY (2: out of memory)".
std::string error_text(const driver_api&, CUresult code);

/// Throws device_error, or out_of_memory_error where the code says so. `object` is a phrase such as
/// "kernel 'saxpy'".
[[noreturn]] void fail(CUresult code, std::string_view call, std::string_view object,
                       std::string_view device);

inline void check(CUresult code, std::string_view call, std::string_view object, std::string_view device) {
    if (code != CUDA_SUCCESS) [[unlikely]]
        fail(code, call, object, device);
}

}  // namespace balm::cuda

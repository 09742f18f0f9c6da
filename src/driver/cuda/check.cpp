#include "driver/cuda/check.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "base/exit_gate.hpp"

namespace balm::cuda {

std::string error_text(const driver_api& api, CUresult code) {
    // The driver cannot name this code: it has shut down.
    constexpr auto deinitialized = static_cast<CUresult>(4);
    if (code == deinitialized)
        return "CUDA_ERROR_DEINITIALIZED (4: the process is exiting and the driver has shut down)";
    const char* name = nullptr;
    const char* meaning = nullptr;
    if (api.cuGetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown error";
    if (api.cuGetErrorString(code, &meaning) != CUDA_SUCCESS || meaning == nullptr) meaning = "not described";
    return fmt::format("{} ({}: {})", name, static_cast<unsigned>(code), meaning);
}

void fail(CUresult code, std::string_view call, std::string_view object, std::string_view device) {
    runtime::stay_out_of_exit();  // the driver may have shut down
    const std::string text = fmt::format("{} failed with {} for {} on device '{}'.", call,
                                         error_text(driver(), code), object, device);
    if (code == CUDA_ERROR_OUT_OF_MEMORY) throw out_of_memory_error(text);
    throw device_error(text);
}

}  // namespace balm::cuda

// The words for what a device is.

#include "balm/device_info.hpp"

namespace balm {

const char* to_string(backend api) noexcept {
    switch (api) {
        case backend::opencl: return "opencl";
        case backend::cuda: return "cuda";
        case backend::null: return "null";
    }
    return "unknown";
}

const char* to_string(device_type type) noexcept {
    switch (type) {
        case device_type::cpu: return "cpu";
        case device_type::gpu: return "gpu";
        case device_type::accelerator: return "accelerator";
        case device_type::other: return "other";
    }
    return "unknown";
}

}  // namespace balm

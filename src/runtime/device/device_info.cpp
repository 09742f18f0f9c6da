// The properties of a device as text.

#include "balm/device_info.hpp"

#include <fmt/format.h>

#include "balm/copy_path.hpp"

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

bool device_info::has_extension(std::string_view wanted) const noexcept {
    if (wanted.empty()) return false;
    const std::string_view all = extensions;
    for (std::size_t at = all.find(wanted); at != all.npos; at = all.find(wanted, at + 1)) {
        const std::size_t end = at + wanted.size();
        if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' ')) return true;
    }
    return false;
}

std::string device_info::uuid_text() const {
    if (uuid == decltype(uuid){}) return {};
    std::string digits;
    for (std::size_t k = 0; k < uuid.size(); ++k)
        digits += fmt::format("{}{:02x}", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", uuid[k]);
    return digits;
}

const char* to_string(copy_path path) noexcept {
    switch (path) {
        case copy_path::through_host: return "through the host";
        case copy_path::by_driver: return "by the driver";
        case copy_path::peer_to_peer: return "peer to peer";
        case copy_path::within_device: return "within the device";
    }
    return "unknown";
}

const char* to_string(cache_type type) noexcept {
    switch (type) {
        case cache_type::none: return "none";
        case cache_type::read_only: return "read only";
        case cache_type::read_write: return "read and write";
    }
    return "unknown";
}

}  // namespace balm

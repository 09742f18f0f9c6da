#pragma once
// Every device of the machine, discovered once: from drivers to the runtime's devices, best first.

#include <memory>
#include <string>
#include <vector>

#include "balm/platform.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

struct platform_list {
    std::vector<platform_info> platforms;
    std::vector<std::shared_ptr<device_state>> devices;  ///< of all platforms
    std::vector<std::string> notes;                      ///< libraries and platforms without devices, and why
};

/// The machine's devices, discovered by the first call. Never destroyed: static objects and exit handlers may
/// use it to the end.
const platform_list& platforms();

/// The device itself or, if it was freed explicitly, the device that has replaced it for the same hardware.
std::shared_ptr<device_state> open_again(const std::shared_ptr<device_state>&);

}  // namespace balm::runtime

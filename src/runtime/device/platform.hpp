#pragma once
// Every device of the machine, found once: the drivers in, the runtime's devices out, best first.

#include <memory>
#include <string>
#include <vector>

#include "balm/platform.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::runtime {

struct platform_list {
    std::vector<platform_info> platforms;
    std::vector<std::shared_ptr<device_state>> devices;  ///< of all platforms
    std::vector<std::string> notes;  ///< libraries and platforms that gave no device, and why
};

/// The machine's devices; looked for at the first call. Never destroyed: static objects and exit handlers
/// may use it to the end.
const platform_list& platforms();

/// The device itself, or where it was freed by hand, the one that stands for the same hardware now.
std::shared_ptr<device_state> open_again(const std::shared_ptr<device_state>&);

}  // namespace balm::runtime

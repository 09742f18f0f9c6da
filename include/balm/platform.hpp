#pragma once
// Platforms: the drivers of the machine, each with its devices.

#include <string>
#include <vector>

#include "balm/device.hpp"

namespace balm {

/// A driver of the machine and the devices that it exposes. A GPU that two drivers expose is in both.
struct platform_info {
    std::string name;  ///< OpenCL's platform name, or "CUDA"
    std::string vendor;
    std::string version;     ///< "OpenCL 3.0 …", "CUDA 13.0"
    std::string profile;     ///< "FULL_PROFILE" or "EMBEDDED_PROFILE"; OpenCL only
    std::string extensions;  ///< separated by spaces; OpenCL only
    backend api = backend::null;
    std::vector<device> devices;  ///< best first

    /// Its GPUs, best first.
    std::vector<device> gpus() const;
    /// Its CPUs, best first.
    std::vector<device> cpus() const;
};

/// All platforms of the machine: CUDA, then those of OpenCL in the loader's order, including platforms
/// without devices. Does not start any device.
///
///     for (const balm::platform_info& p : balm::all_platforms())
///         if (!p.gpus().empty()) balm::context ctx(p.gpus());
std::vector<platform_info> all_platforms();

}  // namespace balm

#pragma once
// Platforms: the drivers of the machine, each with its devices.

#include <string>
#include <vector>

#include "balm/device.hpp"

namespace balm {

/// A driver of the machine and the devices that it gives. A GPU that two drivers give is in both.
struct platform_info {
    std::string name;  ///< OpenCL's platform name, or "CUDA"
    std::string vendor;
    std::string version;     ///< "OpenCL 3.0 …", "CUDA 13.0"
    std::string profile;     ///< "FULL_PROFILE" or "EMBEDDED_PROFILE"; OpenCL only
    std::string extensions;  ///< separated by spaces; OpenCL only
    backend api = backend::null;
    std::vector<device> devices;  ///< best first

    /// Those of its devices that are GPUs, best first.
    std::vector<device> gpus() const;
    /// Those of its devices that are CPUs, best first.
    std::vector<device> cpus() const;
};

/// Every platform of the machine: CUDA, then OpenCL's in the loader's order. One without devices is listed
/// too. Starts nothing on any device.
///
///     for (const balm::platform_info& p : balm::all_platforms())
///         if (!p.gpus().empty()) balm::context ctx(p.gpus());
std::vector<platform_info> all_platforms();

}  // namespace balm

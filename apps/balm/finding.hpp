#pragma once
// The findings of `balm doctor` about a machine: one fact each, with how to fix what is wrong.

#include <cstdint>
#include <string>
#include <vector>

namespace balm::tool {

enum class severity : std::uint8_t {
    ok,      ///< as it should be
    note,    ///< works, but worth knowing
    problem  ///< something does not work, or not as requested
};

struct finding {
    severity how = severity::ok;
    std::string subject;
    std::string words;
    std::string mend = {};  ///< how to fix it; empty if there is nothing to do
};
using findings = std::vector<finding>;

/// Environment variables that affect Balm or its drivers, and unknown ones that begin with BALM_.
/// `environment` has lines NAME=value.
findings look_at_environment(const std::vector<std::string>& environment);
/// The OpenCL loader, and the drivers named by the files *.icd of `folder`, or by `folder` if it is a file:
/// whether they can be opened.
findings look_at_opencl(const std::string& folder);
/// Whether /dev has the device file of NVIDIA's driver. Without it CUDA's driver is normally absent.
bool has_nvidia_gpu();
/// CUDA's driver, if this machine has its device files, and the permission to use them.
findings look_at_cuda();
/// The folder of compiled kernels: its path, whether it is used and writable, its size, file system and free
/// space.
findings look_at_cache();
/// Computes a vector on every device, with the times of a first and a later statement. Then the devices that
/// a default context takes.
findings look_at_devices();

}  // namespace balm::tool

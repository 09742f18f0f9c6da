#pragma once
// What `balm doctor` finds out about a machine: one finding a fact, with how to mend what is wrong.

#include <cstdint>
#include <string>
#include <vector>

namespace balm::tool {

enum class severity : std::uint8_t {
    ok,      ///< as it should be
    note,    ///< works, but worth knowing
    problem  ///< something does not work, or not as it was asked for
};

struct finding {
    severity how = severity::ok;
    std::string subject;
    std::string words;
    std::string mend = {};  ///< what to do about it; empty where nothing is to be done
};
using findings = std::vector<finding>;

/// The variables of the environment that change what Balm or its drivers do; those of Balm's prefix that it
/// does not know. `environment` has lines NAME=value.
findings look_at_environment(const std::vector<std::string>& environment);
/// The OpenCL loader, each driver that a file *.icd of `folder` names, or the file `folder` itself, and
/// whether it can be opened.
findings look_at_opencl(const std::string& folder);
/// Whether the kernel has the device files of an NVIDIA GPU. Without them CUDA's driver is normally absent.
bool has_nvidia_gpu();
/// NVIDIA's driver, where this machine has its device files, and the right to use them.
findings look_at_cuda();
/// The folder of compiled kernels: where, whether it is used and can be written, on what, how full.
findings look_at_cache();
/// Every device computes a vector; how long the first and a later launch took. Then the one that a context
/// chooses.
findings look_at_devices();

}  // namespace balm::tool

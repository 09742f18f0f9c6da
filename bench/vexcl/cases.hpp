#pragma once
// VexCL programs as units of work. One source, cases.cpp, is compiled into two modules: over Balm's headers,
// and over VexCL's if CMake finds them (VEXCL_INCLUDE_DIR). Each module has its own definitions in namespace
// vex, so the modules are opened at run time and share nothing but this interface.

#include <memory>

namespace peer {

/// A unit of work with its arrays on a device. Failures throw std::exception.
class vexcl_work {
public:
    vexcl_work() = default;
    vexcl_work(const vexcl_work&) = delete;
    vexcl_work& operator=(const vexcl_work&) = delete;
    virtual ~vexcl_work() = default;

    /// Sets what run() overwrites, and waits.
    virtual void prepare() {}
    /// Does the work once, and waits.
    virtual void run() = 0;
    /// A number that is equal for equal results, up to rounding.
    virtual double check() = 0;
};

/// A device, given by platform and name.
struct vexcl_device {
    const char *platform, *name;
};

/// What a module exports as `vexcl_cases`.
struct vexcl_library {
    /// The work of this name on a device; null if the name is unknown.
    std::unique_ptr<vexcl_work> (*make)(const char* name, vexcl_device);
};
using vexcl_cases_function = const vexcl_library*();

/// A case, and whether the libraries must agree on check(): random streams differ.
struct vexcl_case {
    const char* name;
    bool agrees = true;
};
inline constexpr vexcl_case all_vexcl_cases[] = {
    {"saxpy"}, {"vector arithmetic"},  {"reductor"},         {"stencil"}, {"SpMV"}, {"sort"}, {"scan"},
    {"FFT"},   {"Monte Carlo", false}, {"first expression"},
};

}  // namespace peer

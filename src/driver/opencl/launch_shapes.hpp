#pragma once
// Which work-group functions of a program PoCL has compiled; it compiles them when a kernel is launched.

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace balm::opencl {

/// The shapes of a program's launches. PoCL compiles a work-group function for a local size, for zero or
/// nonzero offsets, and for grids up to a width (PoCL 3.1, lib/CL/pocl_llvm_wg.cc); it compiles again for
/// others. Thread-safe.
class launch_shapes {
public:
    /// Whether such a launch has already been compiled.
    bool has(const std::string& kernel, const runtime::grid&);
    void add(const std::string& kernel, const runtime::grid&);

private:
    struct shape {
        explicit shape(const runtime::grid&);
        bool covers(const shape& other) const;

        std::array<std::size_t, 3> local;
        bool has_offset;
        std::size_t width;
    };
    struct launch {
        std::string kernel;
        shape of;
    };
    std::mutex mutex_;
    std::vector<launch> launched_;
};

}  // namespace balm::opencl

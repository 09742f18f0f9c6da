#pragma once
// Options for compiling and linking programs: a few that every backend honours, and text for each backend's
// compiler.

#include <cstdint>
#include <string>

namespace balm {

/// The argument of a module's `m.options(…)`. Options are part of the cache key, in memory and on disk: the
/// same kernel with other options is another program.
///
///     m.options({.fast_math = true, .max_registers = 64, .cuda = "--ptxas-options=--warn-on-spills"});
struct compile_options {
    /// The compiler may reorder and contract arithmetic, approximate functions and divisions, and assume that
    /// NaN and infinities do not occur. Results then differ between devices. (-cl-fast-relaxed-math,
    /// --use_fast_math)
    bool fast_math = false;
    /// Subnormal single-precision numbers may be flushed to zero. (-cl-denorms-are-zero, --ftz=true)
    bool flush_denormals = false;
    /// False: the least optimisation that the compiler offers, to find compiler bugs or to compile faster.
    /// (-cl-opt-disable, --ptxas-options=-O0)
    bool optimise = true;
    /// The most registers per work-item, to raise occupancy; 0: the compiler's choice. Honoured by the
    /// compilers of NVIDIA GPUs, through OpenCL, and through CUDA if NVRTC supports the device; others have
    /// no such limit. (-cl-nv-maxrregcount, --maxrregcount)
    std::uint32_t max_registers = 0;
    /// Options for OpenCL's clBuildProgram, which compiles and links: "-cl-finite-math-only". Used on OpenCL
    /// devices. If the compiler refuses them, a build_error quotes its message.
    std::string opencl = {};
    /// The same for CUDA's NVRTC; --ptxas-options=… passes options to the linking assembler.
    std::string cuda = {};

    friend bool operator==(const compile_options&, const compile_options&) = default;
};

}  // namespace balm

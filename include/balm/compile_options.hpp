#pragma once
// How programs are compiled and linked: a few options that every backend honours, and words for each one's
// compiler.

#include <cstdint>
#include <string>

namespace balm {

/// What `m.options(…)` of a module takes. Options are part of a kernel's key, in memory and on disk: the same
/// kernel with other options is another program.
///
///     m.options({.fast_math = true, .max_registers = 64, .cuda = "--ptxas-options=--warn-on-spills"});
struct compile_options {
    /// Arithmetic may be reordered and contracted, functions and divisions approximated, and NaN and
    /// infinities taken not to occur. Results then differ between devices. (-cl-fast-relaxed-math,
    /// --use_fast_math)
    bool fast_math = false;
    /// Single-precision numbers below the smallest normal one may be taken for zero. (-cl-denorms-are-zero,
    /// --ftz=true)
    bool flush_denormals = false;
    /// False: as little optimisation as the compiler offers, to look for its faults or to compile sooner.
    /// (-cl-opt-disable, --ptxas-options=-O0)
    bool optimise = true;
    /// Registers of a work-item at most, so that more of them run at once; 0: the compiler's choice. Binds
    /// the compilers of NVIDIA GPUs, through OpenCL and through CUDA where NVRTC knows the device; others
    /// have no such limit. (-cl-nv-maxrregcount, --maxrregcount)
    std::uint32_t max_registers = 0;
    /// Options in the words of OpenCL's clBuildProgram, which compiles and links: "-cl-finite-math-only".
    /// Used on OpenCL devices. A compiler that refuses them makes a build_error with its words.
    std::string opencl = {};
    /// The same for CUDA's NVRTC; options of the linking assembler go to it by --ptxas-options=…
    std::string cuda = {};

    friend bool operator==(const compile_options&, const compile_options&) = default;
};

}  // namespace balm

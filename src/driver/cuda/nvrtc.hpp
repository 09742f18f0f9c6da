#pragma once
// NVRTC, NVIDIA's run-time compiler, opened when first needed (10 ms warm, 220 ms from disk: more than a
// whole start from cached binaries may take). CUDA C++ comes in, a cubin or PTX goes out; needs no GPU.

#include <cstddef>
#include <string>
#include <vector>

#include "balm/compile_options.hpp"

namespace balm::cuda {

/// Options of every compilation: the same rounding everywhere, no contraction (design.md, floating point).
inline constexpr const char* nvrtc_options =
    "--std=c++17 --fmad=false --ftz=false --prec-div=true --prec-sqrt=true "
    "--device-as-default-execution-space";

/// The user's options in NVRTC's words; nothing for the usual ones.
std::string nvrtc_words_for(const compile_options&);
/// nvrtc_options, and the user's where they differ.
std::string nvrtc_options_with(const std::string& users);

/// Whether a usable NVRTC was found. The first call looks for it.
bool nvrtc_available();

/// "NVRTC 13.0 (/usr/local/cuda/lib64/libnvrtc.so.13)", or each library tried and why it failed.
std::string describe_nvrtc();

/// What to compile for a device of this compute capability (10 major + minor): "sm_90", for a cubin, where
/// NVRTC knows it, else the newest "compute_86" before it, for PTX that the driver finishes. Asked of
/// NVRTC, never a table. Throws build_error where there is no NVRTC, or it no longer knows such old devices.
std::string nvrtc_architecture(int capability, const std::string& device_name);

/// Compiles to a cubin for an "sm_…" architecture and to PTX, with its final zero, for a "compute_…". The log
/// holds warnings after a success. Throws build_error with the log and the numbered source.
std::vector<std::byte> compile_with_nvrtc(const std::string& source, const std::string& options,
                                          const std::string& architecture, std::string& log,
                                          const std::string& device_name = {});

}  // namespace balm::cuda

#pragma once
// NVRTC, NVIDIA's run-time compiler, opened on first use (10 ms warm, 220 ms from disk: more than a whole
// start from cached binaries may take). CUDA C++ comes in, a cubin or PTX goes out; needs no GPU.

#include <cstddef>
#include <string>
#include <vector>

#include "balm/compile_options.hpp"

namespace balm::cuda {

/// Options of every compilation: the same rounding everywhere, no contraction by the compiler.
inline constexpr const char* nvrtc_options =
    "--std=c++17 --fmad=false --ftz=false --prec-div=true --prec-sqrt=true "
    "--device-as-default-execution-space";

/// The user's options in NVRTC's spelling; empty for the defaults.
std::string nvrtc_words_for(const compile_options&);
/// nvrtc_options, overridden by the user's options.
std::string nvrtc_options_with(const std::string& users);

/// Whether a usable NVRTC was found. The first call searches for it.
bool nvrtc_available();

/// "NVRTC 13.0 (/usr/local/cuda/lib64/libnvrtc.so.13)", or each library tried and why it failed.
std::string describe_nvrtc();

/// The architecture to compile for, for a device of this compute capability (10 major + minor): "sm_90", for
/// a cubin, if NVRTC supports it, else the newest earlier one, such as "compute_86", for PTX that the driver
/// compiles. NVRTC is queried; there is no table. Throws build_error if there is no NVRTC, or if it no longer
/// supports such old devices.
std::string nvrtc_architecture(int capability, const std::string& device_name);

/// Compiles to a cubin for an "sm_…" architecture, and to zero-terminated PTX for a "compute_…" one. On
/// success the log holds warnings. Throws build_error with the log and the numbered source.
std::vector<std::byte> compile_with_nvrtc(const std::string& source, const std::string& options,
                                          const std::string& architecture, std::string& log,
                                          const std::string& device_name = {});

}  // namespace balm::cuda

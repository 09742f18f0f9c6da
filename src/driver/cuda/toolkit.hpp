#pragma once
// Where libraries of the CUDA toolkit may be.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace balm::cuda {

/// The paths to try, in order: these names in lib64 of $CUDA_HOME and $CUDA_PATH, on the system's search
/// path, and in /usr/local/cuda/lib64.
std::vector<std::string> toolkit_paths(std::span<const std::string_view> names);

}  // namespace balm::cuda

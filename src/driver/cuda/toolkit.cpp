#include "driver/cuda/toolkit.hpp"

#include "base/system.hpp"

namespace balm::cuda {

std::vector<std::string> toolkit_paths(std::span<const std::string_view> names) {
    std::vector<std::string> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const auto folder = runtime::environment_variable(variable); folder && !folder->empty())
            folders.push_back(*folder + "/lib64/");
    folders.emplace_back();  // the system's search path
    folders.emplace_back("/usr/local/cuda/lib64/");
    std::vector<std::string> paths;
    for (const std::string& folder : folders)
        for (const std::string_view name : names) paths.push_back(folder + std::string(name));
    return paths;
}

}  // namespace balm::cuda

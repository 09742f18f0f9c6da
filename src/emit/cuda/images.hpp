#pragma once
// Images in CUDA C++: a structure of Balm and PTX, because NVRTC has no headers.

#include "emit/dialect.hpp"

namespace balm::emit::cuda {

std::string image_parameter(program_parts&, const ir::parameter&, const std::string& name);
text read_image(program_parts&, ir::type image, bool by_position, const std::string& name,
                const std::string& sampler, const std::vector<std::string>& at);
std::string image_writer(program_parts&, ir::type image);
std::string image_size(const std::string& name, std::uint64_t dimension);

}  // namespace balm::emit::cuda

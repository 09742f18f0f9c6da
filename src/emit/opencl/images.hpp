#pragma once
// Images in OpenCL C, by its image types and functions.

#include "emit/dialect.hpp"

namespace balm::emit::opencl {

/// The extension that the parameter requires; empty: none.
std::string image_extension(const ir::parameter&);
std::string image_parameter(program_parts&, const ir::parameter&, const std::string& name);
text read_image(program_parts&, ir::type image, bool by_position, const std::string& name,
                const std::string& sampler, const std::vector<std::string>& at);
std::string image_writer(program_parts&, ir::type image);
std::string image_size(const std::string& name, std::uint64_t dimension);

}  // namespace balm::emit::opencl

#pragma once
// How images are spelt: OpenCL C has types and functions for them; for CUDA, whose compiler at run time has
// no headers, a structure of ours and PTX.

#include <string>
#include <vector>

#include "emit/program_parts.hpp"
#include "emit/text.hpp"

namespace balm::emit {

/// The declaration of a parameter that is an image.
std::string image_parameter(program_parts&, const ir::parameter&, const std::string& name);
/// Whether a sampler is a parameter of its own, behind the image's.
bool has_own_sampler(const program_parts&, const ir::parameter&);

/// An element at a position (integers), or at coordinates through the image's sampler; x first.
text spell_read_image(program_parts&, ir::type image, bool by_position, const std::string& name,
                      const std::string& sampler, const std::vector<std::string>& at);
/// A call that writes an element, and nothing beyond the edges.
std::string spell_write_image(program_parts&, ir::type image, const std::string& name,
                              const std::vector<std::string>& position, const std::string& value);
/// The width (0), height (1) or depth (2).
std::string spell_image_size(program_parts&, ir::type image, const std::string& name,
                             std::uint64_t dimension);

}  // namespace balm::emit

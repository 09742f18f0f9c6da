#pragma once
// Texts of the user's as they are compiled: read, checked to be text, with what they include in place.

#include <memory>
#include <string>
#include <string_view>

#include "ir/text_body.hpp"

namespace balm::kernels {

/// A text that the program holds; what it includes is looked for in the working directory. Throws usage_error
/// for what is no text.
std::shared_ptr<const ir::named_text> make_text(std::string_view words, const std::string& name);

/// The same for a file, which is read now.
std::shared_ptr<const ir::named_text> read_text(const std::string& path);

}  // namespace balm::kernels

#pragma once
// The user's texts, ready to compile: read, checked to be text, with included files inserted.

#include <memory>
#include <string>
#include <string_view>

#include "ir/text_body.hpp"

namespace balm::kernels {

/// A text in the program's memory; files that it includes are searched in the working directory. Throws
/// usage_error if it is not text.
std::shared_ptr<const ir::named_text> make_text(std::string_view words, const std::string& name);

/// The same for a file, which is read now.
std::shared_ptr<const ir::named_text> read_text(const std::string& path);

}  // namespace balm::kernels

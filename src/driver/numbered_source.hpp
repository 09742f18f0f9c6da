#pragma once
// Adds line numbers to the source of a program: build errors of every backend show it, so that the lines in
// the compiler's log can be found.

#include <string>

namespace balm::backend_support {

/// The source with "   1 | " before each line; #line directives are obeyed.
std::string numbered_source(const std::string& source);

}  // namespace balm::backend_support

#pragma once
// Turns a compiler's refusal of a program into the one error that every backend throws. The message is
// bounded: a compiler may report 10^4 errors, and a source may contain a table of megabytes.

#include <string>

namespace balm::backend_support {

/// Throws build_error: `what` (a sentence), then the beginning and the end of log and source.
[[noreturn]] void fail_build(const std::string& what, std::string log, std::string source = {});

}  // namespace balm::backend_support

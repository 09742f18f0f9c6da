#pragma once
// Files that users name.

#include <cstddef>
#include <string>

namespace balm::runtime {

/// Reads a file, up to `most_bytes`. Returns why it cannot be read, in words that follow the file's name;
/// empty if it was.
std::string read_file(const std::string& path, std::size_t most_bytes, std::string& into);

}  // namespace balm::runtime

#pragma once
// Reads files that users name.

#include <cstddef>
#include <string>

namespace balm::runtime {

/// Appends a file to `into`, up to a total of `most_bytes`. Returns why it cannot be read, in words that
/// follow the file's name; empty on success.
std::string read_file(const std::string& path, std::size_t most_bytes, std::string& into);

}  // namespace balm::runtime

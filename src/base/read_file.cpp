#include "base/read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace balm::runtime {

std::string read_file(const std::string& path, std::size_t most_bytes, std::string& into) {
    const auto reason = [](int code) { return std::string("cannot be read: ") + std::strerror(code); };
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr && errno == ENOENT)
        return "does not exist; paths are absolute or relative to the working directory";
    if (file == nullptr) return reason(errno);
    char part[1 << 14];
    std::size_t got = 1;
    while (got > 0 && into.size() < most_bytes) {
        got = std::fread(part, 1, std::min(std::size(part), most_bytes - into.size()), file);
        into.append(part, got);
    }
    const int fault = std::ferror(file) != 0 ? errno : 0;
    std::fclose(file);
    return fault != 0 ? reason(fault) : std::string();
}

}  // namespace balm::runtime

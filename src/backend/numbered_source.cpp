#include "backend/numbered_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace balm::backend_support {

std::string numbered_source(const std::string& source) {
    std::string listing;
    listing.reserve(source.size() + source.size() / 4);
    std::string_view rest = source;
    for (std::size_t line = 1; !rest.empty(); ++line) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        fmt::format_to(std::back_inserter(listing), "{:4} | {}\n", line, rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return listing;
}

}  // namespace balm::backend_support

#include "driver/numbered_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

namespace balm::backend_support {

namespace {

/// `#line 7 "scale.cl"` sets the number of the next line, as in the compiler's log. Lines of Balm's own
/// headers are not listed.
bool line_directive(std::string_view words, std::size_t& next, bool& is_listed) {
    constexpr std::string_view start = "#line ";
    if (words.substr(0, start.size()) != start) return false;
    words.remove_prefix(start.size());
    is_listed = words.find("\"balm_") == std::string_view::npos;
    return std::from_chars(words.data(), words.data() + words.size(), next).ec == std::errc();
}

}  // namespace

std::string numbered_source(const std::string& source) {
    std::string listing;
    listing.reserve(source.size() + source.size() / 4);
    std::string_view rest = source;
    bool is_listed = true;
    for (std::size_t line = 1; !rest.empty(); ++line) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        std::size_t next = 0;
        if (line_directive(rest.substr(0, length), next, is_listed)) {
            fmt::format_to(std::back_inserter(listing), "       {}\n", rest.substr(0, length));
            line = next - 1;
        } else if (is_listed) {
            fmt::format_to(std::back_inserter(listing), "{:4} | {}\n", line, rest.substr(0, length));
        }
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return listing;
}

}  // namespace balm::backend_support

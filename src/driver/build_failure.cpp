#include "driver/build_failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "balm/error.hpp"
#include "driver/numbered_source.hpp"

namespace balm::backend_support {

namespace {

/// How many bytes of a text a message contains. The first errors explain most; the last lines of a log count
/// them.
struct extent {
    std::size_t first, last;
};
constexpr extent of_log{8192, 2048};
constexpr extent of_source{32768, 4096};

/// How many bytes a cut may move back or forth to fall between two lines.
constexpr std::size_t longest_line = 1024;

/// The whole text, or its first and last lines with a line between them that counts what is left out.
std::string excerpt(std::string_view text, extent most, std::string_view accessor) {
    if (text.size() <= most.first + most.last) return std::string(text);
    std::size_t end = most.first, begin = text.size() - most.last;
    if (const std::size_t line = text.rfind('\n', end); line != text.npos && end - line < longest_line)
        end = line + 1;
    if (const std::size_t line = text.find('\n', begin); line != text.npos && line - begin < longest_line)
        begin = line + 1;
    const auto inside_character = [&](std::size_t at) { return (text[at] & 0xc0) == 0x80; };  // of UTF-8
    while (end > 0 && inside_character(end)) --end;
    while (begin + 1 < text.size() && inside_character(begin)) ++begin;
    const std::string_view missing = text.substr(end, begin - end);
    return fmt::format("{}{}… {} bytes in {} lines are left out; build_error::{}() has all of them …\n{}",
                       text.substr(0, end), text.substr(0, end).ends_with('\n') ? "" : "\n", missing.size(),
                       std::count(missing.begin(), missing.end(), '\n'), accessor, text.substr(begin));
}

}  // namespace

void fail_build(const std::string& what, std::string log, std::string source) {
    const std::string_view log_or_none = log.empty() ? "(the compiler gave no log)" : std::string_view(log);
    std::string message =
        fmt::format("{} The compiler's log:\n{}", what, excerpt(log_or_none, of_log, "log"));
    if (!source.empty())
        message += fmt::format("\nThe source:\n{}", excerpt(numbered_source(source), of_source, "source"));
    throw build_error(message, std::move(log), std::move(source));
}

}  // namespace balm::backend_support

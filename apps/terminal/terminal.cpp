// Terminals by POSIX, colours by {fmt}. In: streams, the environment. Out: styled words.

#include "terminal/terminal.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace balm::terminal {

namespace {

/// Whether standard output has colours.
bool& stdout_has_colors() {
    static bool decided =
        has_colors(colors::automatic, is_terminal(stdout), std::getenv("NO_COLOR"), std::getenv("TERM"));
    return decided;
}

std::string styled(std::string_view words, const fmt::text_style& style) {
    return stdout_has_colors() ? fmt::format(style, "{}", words) : std::string(words);
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept { return ::isatty(::fileno(stream)) == 1; }

std::size_t columns_of(std::FILE* stream) noexcept {
    winsize size{};
    const bool is_known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    return is_known ? size.ws_col : 80;
}

bool has_colors(colors wanted, bool is_on_terminal, const char* no_color, const char* term) noexcept {
    if (wanted != colors::automatic) return wanted == colors::always;
    if (no_color != nullptr && *no_color != '\0') return false;
    return is_on_terminal && term != nullptr && std::string_view(term) != "dumb";
}

void choose_colors(colors wanted) {
    stdout_has_colors() =
        has_colors(wanted, is_terminal(stdout), std::getenv("NO_COLOR"), std::getenv("TERM"));
}

std::string heading(std::string_view words) { return styled(words, fmt::emphasis::bold); }
std::string good(std::string_view words) { return styled(words, fmt::fg(fmt::terminal_color::green)); }
std::string bad(std::string_view words) {
    return styled(words, fmt::emphasis::bold | fmt::fg(fmt::terminal_color::red));
}
std::string warning(std::string_view words) { return styled(words, fmt::fg(fmt::terminal_color::yellow)); }

}  // namespace balm::terminal

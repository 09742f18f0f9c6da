#pragma once
// The terminal that a program writes to, and the colours that it shows there. In: streams. Out: whether they
// are terminals, and styled words. Code that is specific to a system is in one file, and every program
// follows the same conventions.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace balm::terminal {

/// Whether the stream is a terminal.
bool is_terminal(std::FILE* stream) noexcept;

/// The columns of the stream's terminal; 80 if they are unknown.
std::size_t columns_of(std::FILE* stream) noexcept;

enum class colors : std::uint8_t { automatic, always, never };

/// Whether output to a stream has colours. `automatic`: on terminals, unless NO_COLOR has a value
/// (https://no-color.org), or TERM is "dumb" or not set. A variable that is not set is null.
bool has_colors(colors, bool is_on_terminal, const char* no_color, const char* term) noexcept;

/// Sets the choice for standard output. The default is `automatic`.
void choose_colors(colors);

/// Words for standard output, styled if it has colours. Pad them before styling: escape sequences have no
/// width on a terminal, but count as characters in a format string.
std::string heading(std::string_view words);
std::string good(std::string_view words);     ///< what passed
std::string bad(std::string_view words);      ///< what failed
std::string warning(std::string_view words);  ///< what works, but deserves a look

}  // namespace balm::terminal

#pragma once
// What a program knows of the terminal that it writes to, and the colours that it shows there. Streams come
// in, whether a person looks at them and styled words go out. Here so that what is particular to a system is
// in one file, and every program follows the same conventions.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace balm::terminal {

/// Whether what is written to the stream is seen at once on a terminal.
bool is_terminal(std::FILE* stream) noexcept;

/// The columns of the stream's terminal; 80 if it does not say.
std::size_t columns_of(std::FILE* stream) noexcept;

enum class colors : std::uint8_t { automatic, always, never };

/// Whether output to a stream has colours. `automatic`: on terminals, unless NO_COLOR has a value
/// (https://no-color.org), or TERM is "dumb" or not set. A variable that is not set is null.
bool has_colors(colors, bool is_on_terminal, const char* no_color, const char* term) noexcept;

/// Decides for standard output, from now on. Programs begin with `automatic`.
void choose_colors(colors);

/// Words for standard output, styled if it has colours. They are padded before they are styled: escape
/// sequences have no width on a terminal, but have one in a format string.
std::string heading(std::string_view words);
std::string good(std::string_view words);     ///< what passed
std::string bad(std::string_view words);      ///< what failed
std::string warning(std::string_view words);  ///< what works, but deserves a look

}  // namespace balm::terminal

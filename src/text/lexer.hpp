#pragma once
// OpenCL C as tokens. In: a source text. Out: its tokens, each with its line, without comments and line
// splices. Everything that reads the user's source text starts here.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace balm::opencl_c {

/// Something in a text that Balm does not accept; the message names the text and the line.
class fault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A text that exceeds a limit below: it is passed to no compiler.
class excess : public fault {
public:
    using fault::fault;
};

/// The limits of this front end, which runs in the user's process: every text is processed in bounded time
/// and memory. Real programs stay orders of magnitude below.
namespace limits {
inline constexpr std::size_t tokens = std::size_t{1} << 21;    ///< of one text, and of a preprocessed program
inline constexpr std::size_t expanded = std::size_t{1} << 21;  ///< tokens that macros produce and consume
inline constexpr std::size_t brackets = 256;                   ///< nested; clang accepts as many
inline constexpr int prefixes = 256;                           ///< of one operand
inline constexpr int choices = 1024;                           ///< ?: and = of one expression
inline constexpr int statements = 1024;      ///< nested if, else if, for, while and do without braces
inline constexpr int condition_depth = 256;  ///< of an #if: brackets count twice (C99 requires 63)
inline constexpr int macro_depth = 128;      ///< macros called in arguments of macros
inline constexpr std::size_t macro_parameters = 256;
inline constexpr std::uint64_t last_line = 2147483647;  ///< of a #line (C99, 6.10.4)
}  // namespace limits

/// A line of a text.
struct place {
    std::shared_ptr<const std::string> file;
    std::uint32_t line = 0;
};
/// "scale.cl, line 12"
std::string words(const place&);
[[noreturn]] void refuse(const place&, const std::string& why);
[[noreturn]] void refuse_excess(const place&, const std::string& why);
/// The text as messages quote it: truncated if it is long.
std::string shortened(std::string_view, std::size_t most = 200);

enum class kind : std::uint8_t { identifier, number, string, character, punctuation, other, end };

struct token {
    kind what = kind::end;
    std::string words;
    place where;
    bool spaced = false;       ///< white space precedes it
    bool starts_line = false;  ///< it is the first of its line
    bool is_final = false;     ///< names a macro inside that macro's expansion: it is never expanded
    std::uint32_t offset = 0;  ///< of its first byte in the text

    bool is(std::string_view text) const { return words == text && what != kind::string; }
    bool is_word() const { return what == kind::identifier; }
    bool is_attribute() const { return is("__attribute__") || is("__attribute"); }
};
using tokens = std::vector<token>;

/// Throws fault for what is not C (a NUL byte, an unterminated comment or string, a stray character), excess
/// for more than limits::tokens.
tokens split(std::string_view words, const std::string& file);

/// "abc" of the token "\"abc\"", without resolving escapes.
std::string_view without_quotes(const token& string);

/// The value of an integer literal, with its suffix; false if it is floating-point or malformed.
bool integer_value(const std::string& literal, std::uint64_t& value, bool& is_unsigned);

}  // namespace balm::opencl_c

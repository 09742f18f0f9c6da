#pragma once
// OpenCL C as tokens. In: the words of a text. Out: its tokens, each with its line; comments and line splices
// are gone. Everything that reads a text of the user's starts here.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace balm::emit::opencl_c {

/// Something in a text that Balm cannot take; the message names the text and the line.
class fault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A line of a text.
struct place {
    std::shared_ptr<const std::string> file;
    std::uint32_t line = 0;
};
/// "scale.cl, line 12"
std::string words(const place&);
[[noreturn]] void refuse(const place&, const std::string& why);

enum class kind : std::uint8_t { identifier, number, string, character, punctuation, other, end };

struct token {
    kind what = kind::end;
    std::string words;
    place where;
    bool spaced = false;       ///< white space stands before it
    bool starts_line = false;  ///< it is the first of its line
    /// The macros whose expansion it comes from, which do not expand again in it.
    std::shared_ptr<const std::vector<std::string>> hidden;

    bool is(std::string_view text) const { return words == text && what != kind::string; }
    bool is_word() const { return what == kind::identifier; }
};
using tokens = std::vector<token>;

/// Throws fault for what is no C: a NUL byte, a comment or string without an end, a stray character.
tokens split(std::string_view words, const std::string& file);

/// "abc" of the token "\"abc\"", without resolving escapes.
std::string_view without_quotes(const token& string);

/// The value of an integer literal, with its suffix; false for one that is floating or damaged.
bool integer_value(const std::string& literal, std::uint64_t& value, bool& is_unsigned);

}  // namespace balm::emit::opencl_c

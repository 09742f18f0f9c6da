// Splits text into tokens as in C99 (ISO/IEC 9899:1999, 5.1.1.2 and 6.4), without trigraphs.

#include "text/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace balm::opencl_c {

namespace {

constexpr std::size_t longest_name = 4096;  // e.g. of a file
constexpr std::size_t longest_reason = 2048;

}  // namespace

std::string words(const place& where) {
    return fmt::format("{}, line {}", where.file ? shortened(*where.file, longest_name) : "text", where.line);
}

void refuse(const place& where, const std::string& why) {
    throw fault(fmt::format("{}: {}", words(where), shortened(why, longest_reason)));
}

void refuse_excess(const place& where, const std::string& why) {
    throw excess(fmt::format("{}: {}", words(where), shortened(why, longest_reason)));
}

std::string shortened(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    while (most > 0 && (text[most] & 0xc0) == 0x80) --most;  // not inside a UTF-8 character
    return std::string(text.substr(0, most)) + "…";
}

namespace {

bool starts_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) { return starts_word(c) || is_digit(c); }

/// Longest first.
constexpr std::array<std::string_view, 24> long_punctuation = {
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",  "||",  "*=",  "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "::"};
constexpr std::string_view short_punctuation = "[](){}.&*+-~!/%<>^|?:;=,#";

class splitter {
public:
    splitter(std::string_view text, const std::string& file)
        : text_(text), file_(std::make_shared<const std::string>(file)) {
        if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;  // a byte order mark
    }

    tokens run() {
        refuse_nul_bytes();
        tokens list;
        while (true) {
            skip_space();
            token t;
            t.where = {file_, line_};
            t.offset = static_cast<std::uint32_t>(at_);
            t.spaced = spaced_;
            t.starts_line = std::exchange(starts_line_, false);
            spaced_ = false;
            if (at_ >= text_.size()) {
                t.starts_line = true;
                list.push_back(std::move(t));
                return list;
            }
            if (list.size() == limits::tokens)
                refuse_excess(t.where, fmt::format("the text has more than {} tokens", limits::tokens));
            read(t);
            list.push_back(std::move(t));
        }
    }

private:
    /// Compilers read a text up to its first NUL byte, even in a comment.
    void refuse_nul_bytes() const {
        const std::size_t at = text_.find('\0');
        if (at == std::string_view::npos) return;
        const auto line =
            1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        refuse({file_, static_cast<std::uint32_t>(line)}, "a NUL byte: this is a binary file, or damaged");
    }
    /// The character k positions ahead, with spliced lines joined; 0 at the end.
    char look(std::size_t k = 0) {
        skip_splices();
        std::size_t p = at_;
        while (k > 0 && p < text_.size()) {
            ++p;
            --k;
            while (const std::size_t n = splice_at(p)) p += n;
        }
        return p < text_.size() ? text_[p] : '\0';
    }
    std::size_t splice_at(std::size_t p) const {
        if (p >= text_.size() || text_[p] != '\\') return 0;
        if (text_.substr(p + 1, 1) == "\n") return 2;
        return text_.substr(p + 1, 2) == "\r\n" ? 3 : 0;
    }
    void skip_splices() {
        while (const std::size_t n = splice_at(at_)) {
            at_ += n;
            ++line_;
        }
    }
    /// 0 at the end.
    char take() {
        skip_splices();
        if (at_ >= text_.size()) return '\0';
        const char c = text_[at_++];
        if (c == '\n') ++line_;
        return c;
    }

    void skip_space() {
        while (at_ < text_.size()) {
            const char c = look();
            if (at_ >= text_.size()) return;
            if (c == '\n') {
                starts_line_ = true;
                spaced_ = true;
                take();
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                spaced_ = true;
                take();
            } else if (c == '/' && look(1) == '/') {
                while (at_ < text_.size() && look() != '\n') take();
                spaced_ = true;
            } else if (c == '/' && look(1) == '*') {
                comment();
            } else {
                return;
            }
        }
    }
    void comment() {
        const place start{file_, line_};
        take();
        take();
        spaced_ = true;
        while (true) {
            if (at_ >= text_.size()) refuse(start, "unterminated comment");
            if (take() == '*' && look() == '/') break;
        }
        take();
    }

    void read(token& t) {
        const char c = look();
        if (starts_word(c)) {
            t.what = kind::identifier;
            while (in_word(look())) t.words += take();
        } else if (is_digit(c) || (c == '.' && is_digit(look(1)))) {
            t.what = kind::number;
            while (in_word(look()) || look() == '.') {
                const char digit = take();
                t.words += digit;
                const bool is_hex = t.words.size() > 1 && (t.words[1] == 'x' || t.words[1] == 'X');
                const bool exponent = is_hex ? digit == 'p' || digit == 'P' : digit == 'e' || digit == 'E';
                if (exponent && (look() == '+' || look() == '-')) t.words += take();
            }
        } else if (c == '"' || c == '\'') {
            t.what = c == '"' ? kind::string : kind::character;
            quoted(t, c);
        } else {
            punctuation(t, c);
        }
    }
    void quoted(token& t, char quote) {
        t.words += take();
        while (true) {
            const char c = look();
            if (at_ >= text_.size() || c == '\n')
                refuse(t.where,
                       quote == '"' ? "unterminated string literal" : "unterminated character constant");
            t.words += take();
            if (c == '\\' && at_ < text_.size())
                t.words += take();
            else if (c == quote)
                return;
        }
    }
    void punctuation(token& t, char c) {
        t.what = kind::punctuation;
        for (std::string_view candidate : long_punctuation) {
            bool fits = true;
            for (std::size_t k = 0; fits && k < candidate.size(); ++k) fits = look(k) == candidate[k];
            if (!fits) continue;
            for (std::size_t k = 0; k < candidate.size(); ++k) t.words += take();
            return;
        }
        if (short_punctuation.find(c) == std::string_view::npos) {
            // A directive that is never reached may contain any printable character, as in C.
            if (c == '@' || c == '$' || c == '`' || c == '\\') {
                t.what = kind::other;
                t.words += take();
                return;
            }
            stray(t, c);
        }
        t.words += take();
    }
    [[noreturn]] void stray(const token& t, char c) const {
        const auto code = static_cast<unsigned>(static_cast<unsigned char>(c));
        refuse({t.where.file, line_},
               fmt::format("the byte 0x{:02x} is not valid in OpenCL C; is this a text file?", code));
    }

    std::string_view text_;
    std::shared_ptr<const std::string> file_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    bool spaced_ = false;
    bool starts_line_ = true;
};

}  // namespace

tokens split(std::string_view words, const std::string& file) { return splitter(words, file).run(); }

std::string_view without_quotes(const token& string) {
    return std::string_view(string.words).substr(1, string.words.size() - 2);
}

bool integer_value(const std::string& literal, std::uint64_t& value, bool& is_unsigned) {
    const bool is_hex = literal.size() > 2 && literal[0] == '0' && (literal[1] | 0x20) == 'x';
    const bool is_octal = !is_hex && literal.size() > 1 && literal[0] == '0';
    const char* first = literal.data() + (is_hex ? 2 : 0);
    const char* last = literal.data() + literal.size();
    const auto [end, code] = std::from_chars(first, last, value, is_hex ? 16 : is_octal ? 8 : 10);
    if (code != std::errc() || end == first) return false;
    std::string suffix(end, last);
    for (char& c : suffix) c = static_cast<char>(c | 0x20);
    is_unsigned = suffix.find('u') != std::string::npos;
    return suffix.empty() || suffix == "u" || suffix == "l" || suffix == "ul" || suffix == "lu";
}

}  // namespace balm::opencl_c

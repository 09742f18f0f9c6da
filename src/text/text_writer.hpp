#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "text/lexer.hpp"

namespace balm::opencl_c {

/// Writes tokens as text: they stay on their lines, and no two tokens run together.
class text_writer {
public:
    void put(const token& t) { put(t.words, t); }
    void put(const std::string& words, const token& from) {
        if (words == "}") --depth_;
        move_to(from);
        if (words == "{") ++depth_;
        const bool is_spaced = from.spaced && !std::exchange(joins_next_, false);
        if (!text_.empty() && text_.back() != '\n' && text_.back() != ' ' &&
            (is_spaced || run_together(text_.back(), words[0])))
            text_ += ' ';
        text_ += words;
        if (text_.size() > longest)
            refuse_excess(from.where, fmt::format("the program for CUDA is longer than {} bytes", longest));
    }
    /// Omits a token; the next one joins the previous token if this one did.
    void drop(const token& t) { joins_next_ = !t.spaced; }
    std::string take() { return std::move(text_) + "\n"; }

private:
    static bool in_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '"' || c == '\'' || c == '.';
    }
    static bool run_together(char last, char first) {
        if (in_word(last) && in_word(first)) return last != '.' && first != '.';
        constexpr auto symbols = std::string_view("+-*/%<>=!&|^#:?.~");
        return symbols.find(last) != std::string_view::npos && symbols.find(first) != std::string_view::npos;
    }
    void move_to(const token& t) {
        if (!t.where.file) return;
        const bool same_file = file_ && *file_ == *t.where.file;
        if (same_file && t.where.line == line_) return;
        const bool breaks = t.starts_line || !same_file;
        // A token from a macro's argument may be from an earlier line: it stays on this one.
        if (same_file && t.where.line < line_ && !t.starts_line) return;
        if (same_file && t.where.line > line_ && t.where.line - line_ <= 3) {
            text_.append(t.where.line - line_, '\n');
        } else {
            if (!text_.empty() && text_.back() != '\n') text_ += '\n';
            text_ += fmt::format("#line {} \"{}\"\n", t.where.line, *t.where.file);
        }
        file_ = t.where.file;
        line_ = t.where.line;
        text_.append(static_cast<std::size_t>(std::max(depth_ + (breaks ? 0 : 1), 0)) * 4, ' ');
    }

    /// Each line may name its file, at any length.
    static constexpr std::size_t longest = std::size_t{1} << 28;

    std::string text_;
    std::shared_ptr<const std::string> file_;
    std::uint32_t line_ = 0;
    int depth_ = 0;
    bool joins_next_ = false;
};

}  // namespace balm::opencl_c

#include "interop/npy_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "balm/shape.hpp"

namespace balm::interop {

std::string shown(std::string_view word) {
    std::string made = "'";
    for (const char c : word.substr(0, 40)) made += c >= ' ' && c <= '~' ? c : '?';
    return made + (word.size() > 40 ? "…'" : "'");
}

std::string tuple_text(const std::vector<std::size_t>& sizes) {
    std::string made = "(";
    for (std::size_t k = 0; k < sizes.size(); ++k)
        made += fmt::format("{}{}{}", k == 0 ? "" : " ", sizes[k], k + 1 == sizes.size() && k > 0 ? "" : ",");
    return made + ")";
}

void literal_reader::refuse(std::string_view why) const { from_.refuse(fmt::format("its header {}", why)); }

void literal_reader::skip_space() {
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(std::min(first, text_.size()));
}
bool literal_reader::begins_with(char c) {
    skip_space();
    return text_.starts_with(c);
}
bool literal_reader::takes(char c) {
    if (!begins_with(c)) return false;
    text_.remove_prefix(1);
    return true;
}
void literal_reader::take(char c) {
    if (!takes(c)) refuse(fmt::format("has {} instead of '{}'", next_words(), c));
}
std::string literal_reader::next_words() const {
    return text_.empty() ? "its end" : shown(text_.substr(0, 20));
}

std::string_view literal_reader::take_string(std::string_view what) {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse(fmt::format("has {} instead of {}", next_words(), what));
    const std::string_view word = text_.substr(1, end - 1);
    if (word.find('\\') != std::string_view::npos) refuse("has a string with a backslash");
    text_.remove_prefix(end + 1);
    return word;
}
bool literal_reader::take_bool() {
    skip_space();
    for (const auto& [word, value] : {std::pair(std::string_view("True"), true), {"False", false}})
        if (text_.starts_with(word)) {
            text_.remove_prefix(word.size());
            return value;
        }
    refuse(fmt::format("has {} instead of True or False", next_words()));
}
std::vector<std::size_t> literal_reader::take_sizes() {
    std::vector<std::size_t> sizes;
    std::size_t product = 1;
    take('(');
    while (!takes(')')) {
        skip_space();
        std::size_t size = 0;
        const auto [end, fault] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
        if (fault == std::errc::result_out_of_range || size > shape::max_elements)
            refuse("has a size above 2^62, more than any memory holds");
        if (fault != std::errc()) refuse(fmt::format("has {} instead of a size", next_words()));
        text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
        if (text_.starts_with('L')) text_.remove_prefix(1);  // a Python 2 long
        if (size != 0 && (__builtin_mul_overflow(product, size, &product) || product > shape::max_elements))
            refuse("has sizes whose product is above 2^62, more than any memory holds");
        sizes.push_back(size);
        if (!takes(',') && !begins_with(')')) refuse("has no comma or parenthesis after a size");
    }
    return sizes;
}

}  // namespace balm::interop

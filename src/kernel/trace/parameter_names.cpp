// Parses the head of a lambda: "[captures](parameters)". Anything else yields no names, never an error: the
// text may be that of any expression.

#include "balm/kernel/parameter_names.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace balm::detail {

namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Removes a bracketed list from the beginning of the text and returns its parts, without the brackets.
/// Returns nothing, and removes everything, if the text does not begin with such a list.
std::vector<std::string_view> take_list(std::string_view& text, char opening, char closing) {
    text = trimmed(text);
    std::vector<std::string_view> parts;
    std::size_t depth = 0, begin = 1;
    for (std::size_t k = 0; k < text.size() && (k > 0 || text[0] == opening); ++k) {
        const char c = text[k];
        const bool is_arrow = c == '>' && text[k - 1] == '-';
        if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
        if (std::string_view(")]}>").find(c) != std::string_view::npos && !is_arrow) --depth;
        if (depth == 0 || (depth == 1 && c == ',')) {
            parts.push_back(trimmed(text.substr(begin, k - begin)));
            begin = k + 1;
        }
        if (depth > 0) continue;
        text.remove_prefix(c == closing ? k + 1 : text.size());
        return parts;
    }
    text = {};
    return {};
}

/// The name that a parameter's declaration ends with; empty if it has none.
std::string_view name_in(std::string_view declaration) {
    std::size_t begin = declaration.size();
    while (begin > 0 && is_of_word(declaration[begin - 1])) --begin;
    const std::string_view type = trimmed(declaration.substr(0, begin));
    const bool is_name = !type.empty() && type != "const" && !type.ends_with("::");
    return is_name ? declaration.substr(begin) : std::string_view();
}

bool is_grid(std::string_view declaration) {
    return declaration.starts_with("Grid<") || declaration.find("::Grid<") != std::string_view::npos;
}

}  // namespace

std::string with_parameter_names(std::string_view name, std::string_view lambda) {
    take_list(lambda, '[', ']');
    std::vector<std::string_view> parameters = take_list(lambda, '(', ')');
    if (!parameters.empty() && is_grid(parameters.front())) parameters.erase(parameters.begin());
    std::string list;
    for (const std::string_view each : parameters) {
        const std::string_view own = name_in(each);
        if (own.empty()) return std::string(name);
        list += (list.empty() ? "" : ", ") + std::string(own);
    }
    return list.empty() ? std::string(name) : std::string(name) + "(" + list + ")";
}

}  // namespace balm::detail

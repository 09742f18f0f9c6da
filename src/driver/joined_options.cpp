#include "driver/joined_options.hpp"

#include <algorithm>
#include <vector>

namespace balm::backend_support {

namespace {

std::vector<std::string_view> words_of(std::string_view options) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = options.find_first_not_of(" \t\n", at)) != std::string_view::npos;) {
        const std::size_t end = std::min(options.find_first_of(" \t\n", at), options.size());
        words.push_back(options.substr(at, end - at));
        at = end;
    }
    return words;
}

/// "--fmad=false" -> "fmad"
std::string_view name_of(std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word.substr(0, word.find('='));
}

}  // namespace

std::string joined_options(std::string_view usual, std::string_view users,
                           std::span<const replacement> replacements) {
    const std::vector<std::string_view> given = words_of(users);
    const auto is_given = [&](std::string_view name) {
        return std::any_of(given.begin(), given.end(),
                           [&](std::string_view word) { return name_of(word) == name; });
    };
    std::string all;
    for (const std::string_view word : words_of(usual)) {
        const std::string_view name = name_of(word);
        const bool is_replaced =
            is_given(name) || std::any_of(replacements.begin(), replacements.end(), [&](const auto& each) {
                return each.replaced == name && is_given(each.by);
            });
        if (!is_replaced) (all += all.empty() ? "" : " ") += word;
    }
    if (given.empty()) return all;
    const char* const first = given.front().data();  // unchanged: spaces may be quoted
    const char* const last = given.back().data() + given.back().size();
    return (all += all.empty() ? "" : " ").append(first, last);
}

}  // namespace balm::backend_support

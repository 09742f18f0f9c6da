// The table of `balm selftest --ulp`. In: the outcomes of floating-point rows. Out: one line per function,
// with the worst and the allowed error for each operand type.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "check.hpp"

namespace balm::tool {

namespace {

std::string cell(const check& each) {
    if (!each.fault.empty()) return "failed";
    const std::string worst =
        !std::isfinite(each.worst_ulp) ? "wrong" : fmt::format("{:.4g}", each.worst_ulp);
    return each.bound < 0 ? fmt::format("{} (any)", worst) : fmt::format("{} ({})", worst, each.bound);
}

}  // namespace

std::string ulp_table(const std::vector<check>& checks) {
    std::vector<std::string> functions, types;
    const auto note = [](std::vector<std::string>& list, const std::string& word) {
        if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
    };
    std::size_t width = 8;
    for (const check& each : checks) {
        note(types, each.type);
        width = std::max(width, each.name.size());
    }
    for (const check& each : checks) note(functions, each.name);
    std::sort(functions.begin(), functions.end());
    std::string text = fmt::format("{:{}}", "function", width);
    for (const std::string& type : types) text += fmt::format("  {:>14}", type);
    text += '\n';
    for (const std::string& function : functions) {
        text += fmt::format("{:{}}", function, width);
        for (const std::string& type : types) {
            const auto found = std::find_if(checks.begin(), checks.end(), [&](const check& each) {
                return each.name == function && each.type == type;
            });
            text += fmt::format("  {:>14}", found == checks.end() ? std::string("-") : cell(*found));
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

}  // namespace balm::tool

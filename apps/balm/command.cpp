// Units and JSON for every subcommand of `balm`: numbers in, the words that a reader or a program wants out.

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

namespace balm::tool {

void add_json_flag(CLI::App& line, bool& json) {
    line.add_flag("--json", json, "Print one JSON value, for other programs");
}

void print_json(const nlohmann::ordered_json& value) {
    // Names come from drivers, which promise no encoding.
    const auto mend = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}\n", value.dump(2, ' ', false, mend));
}

std::string in_bytes(unsigned long long bytes) {
    constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
    if (unit == 0) return counted(bytes, "byte");
    return fmt::format("{:.4g} {} ({} bytes)", amount, units[unit], bytes);
}

std::string counted(unsigned long long n, const std::string& what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace balm::tool

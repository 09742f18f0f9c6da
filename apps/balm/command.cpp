// Shared by the subcommands of `balm`: units, JSON, tables, and the devices that a command line names.

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>

#include "balm/error.hpp"
#include "runtime/device/platform.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

void add_device_option(CLI::App& line, std::string& part) {
    line.add_option("--device", part,
                    "Only devices with this text in their name, platform or backend (default: all)")
        ->type_name("TEXT");
}

void add_json_flag(CLI::App& line, bool& json) {
    line.add_flag("--json", json, "Print JSON, for other programs");
}

void print_json(const nlohmann::ordered_json& value) {
    // Names come from drivers, which guarantee no encoding.
    const auto mend = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}\n", value.dump(2, ' ', false, mend));
}

void print_table(const std::vector<std::vector<std::string>>& rows, const std::string& alignment) {
    std::vector<std::size_t> widths(alignment.size());
    for (const auto& row : rows)
        for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < widths.size(); ++c) {
            if (c != 0) line += "  ";
            line += alignment[c] == '>' ? fmt::format("{:>{}}", row[c], widths[c])
                                        : fmt::format("{:<{}}", row[c], widths[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        fmt::print("{}\n", &row == &rows.front() ? terminal::heading(line) : line);
    }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

std::vector<device> devices_named(const std::string& part) {
    std::vector<device> found;
    for (const auto& each : runtime::platforms().devices) {
        const device_info& info = each->info();
        const std::string words = info.name + '\n' + info.platform + '\n' + to_string(info.api);
        if (lower(words).find(lower(part)) != std::string::npos) found.emplace_back(each);
    }
    if (found.empty() && runtime::platforms().devices.empty())
        throw no_device_error(
            "there is no device on this machine (balm devices shows which drivers were tried)");
    if (found.empty())
        throw no_device_error(fmt::format(
            "no device has '{}' in its name, platform or backend (balm devices lists them)", part));
    return found;
}

std::size_t position_of(const device& wanted) {
    const auto& all = runtime::platforms().devices;
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), wanted.state()) - all.begin());
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

#pragma once
// What the subcommands of `balm` share. In: command lines. Out: text or JSON on stdout, an exit code; here so
// that every subcommand looks alike and main.cpp is a list of them.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "balm/device.hpp"

namespace CLI {
class App;
}

namespace balm::tool {

/// A subcommand: how its line is parsed, and what it then does. `run` gives the exit code.
struct command {
    const CLI::App* line;
    std::function<int()> run;
};

command add_devices(CLI::App& balm);
command add_selftest(CLI::App& balm);
command add_bandwidth(CLI::App& balm);
command add_cache(CLI::App& balm);
command add_doctor(CLI::App& balm);

/// Adds `--device`, for the subcommands that use some devices only.
void add_device_option(CLI::App&, std::string& part);

/// Adds `--json`, for the subcommands that machines read too.
void add_json_flag(CLI::App&, bool& json);

/// Writes to stdout, one value indented by two; text that is no UTF-8 is mended.
void print_json(const nlohmann::ordered_json&);

/// Writes rows to stdout in columns as wide as their widest cells; the first row has the headings.
/// `alignment` has '<' or '>' for each column, as format strings have.
void print_table(const std::vector<std::vector<std::string>>& rows, const std::string& alignment);

/// A message's first line: what follows is a compiler's log or a list of devices.
std::string first_line(const std::string& text);

/// Devices whose name, platform or backend contains the text, in upper or lower case; all for an empty one.
/// Throws no_device_error.
std::vector<device> devices_named(const std::string& part);

/// A device's place in the list that `balm devices` shows.
std::size_t position_of(const device&);

/// "4 GiB (4294967296 bytes)"; "48 bytes".
std::string in_bytes(unsigned long long bytes);

/// "1 device", "2 devices".
std::string counted(unsigned long long n, const std::string& what);

}  // namespace balm::tool

#pragma once
// Shared by the subcommands of `balm`, so that they look alike and command_line.cpp is a list of them. In:
// command lines. Out: text or JSON on stdout, and an exit code.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "balm/device.hpp"

namespace CLI {
class App;
}

namespace balm::tool {

/// Runs the subcommand that the arguments name; returns the exit code.
int run(int argc, char** argv);

/// A subcommand: the parser of its command line, and its action. `run` returns the exit code.
struct command {
    const CLI::App* line;
    std::function<int()> run;
};

command add_devices(CLI::App& balm);
command add_selftest(CLI::App& balm);
command add_bandwidth(CLI::App& balm);
command add_cache(CLI::App& balm);
command add_doctor(CLI::App& balm);

/// Adds `--device`, for subcommands that can be limited to some devices.
void add_device_option(CLI::App&, std::string& part);

/// Adds `--json`, for subcommands with machine-readable output.
void add_json_flag(CLI::App&, bool& json);

/// Writes a value to stdout, indented by two; invalid UTF-8 is replaced.
void print_json(const nlohmann::ordered_json&);

/// Writes rows to stdout in columns as wide as their widest cells; the first row has the headings.
/// `alignment` has '<' or '>' for each column, as in format strings.
void print_table(const std::vector<std::vector<std::string>>& rows, const std::string& alignment);

/// The first line of a message; the rest is a compiler's log or a list of devices.
std::string first_line(const std::string& text);

/// Devices whose name, platform or backend contains the text, ignoring case; all if the text is empty. Throws
/// no_device_error if there are none.
std::vector<device> devices_named(const std::string& part);

/// A device's position in the list of `balm devices`.
std::size_t position_of(const device&);

/// "4 GiB (4294967296 bytes)"; "48 bytes".
std::string in_bytes(unsigned long long bytes);

/// "1 device", "2 devices".
std::string counted(unsigned long long n, const std::string& what);

}  // namespace balm::tool

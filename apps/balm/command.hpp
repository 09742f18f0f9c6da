#pragma once
// What the subcommands of `balm` share. In: command lines. Out: text or JSON on stdout, an exit code; here so
// that every subcommand looks alike and main.cpp is a list of them.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

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
command add_cache(CLI::App& balm);

/// Adds `--json`, for the subcommands that machines read too.
void add_json_flag(CLI::App&, bool& json);

/// Writes to stdout, one value indented by two; text that is no UTF-8 is mended.
void print_json(const nlohmann::ordered_json&);

/// "4 GiB (4294967296 bytes)"; "48 bytes".
std::string in_bytes(unsigned long long bytes);

/// "1 device", "2 devices".
std::string counted(unsigned long long n, const std::string& what);

}  // namespace balm::tool

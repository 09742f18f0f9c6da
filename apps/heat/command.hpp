#pragma once
// Shared by the command lines of the heat programs, so that all report errors alike: one line on stderr, exit
// code 1. In: arguments. Out: numbers and exit codes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace heat {

/// A command line without arguments yet. CLI11 takes seconds to compile: programs leave it to command.cpp.
std::shared_ptr<CLI::App> command_line(const std::string& description, const std::string& name);

/// Adds an argument that must be there, or an option, of any text. `value` holds the default.
void add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& description);

/// Adds an option without a value.
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& description);

/// Whether the parsed arguments have this one.
bool is_given(const CLI::App& app, const std::string& name);

/// Adds an argument (or an option, if the name starts with dashes) that must be one whole number from
/// `lowest` to `highest`. `value` holds the default, which --help shows.
void add_number(CLI::App& app, const std::string& name, unsigned& value, unsigned lowest, unsigned highest,
                const std::string& description);

/// Adds an argument that must be one finite number of at least 0.
void add_number(CLI::App& app, const std::string& name, float& value, const std::string& description);

/// Adds an option that must be a number of bytes of at least 1: a whole number, optionally followed by K, M,
/// G or T for KiB, MiB, GiB or TiB.
void add_bytes(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& value,
               const std::string& description);

/// Adds an option that must be a whole number of at least 1, or "all", for which `value` becomes 0.
void add_number_or_all(CLI::App& app, const std::string& name, std::optional<unsigned>& value,
                       const std::string& description);

/// Parses the arguments and runs the body. Returns the exit code: the body's, 0 after --help, 1 with one line
/// on stderr, `program: what is wrong`, if an argument is wrong or the body throws. Writing to a closed pipe
/// is an error like any other and does not end the program.
int run_command(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// The folder of the running program.
std::filesystem::path program_directory();

}  // namespace heat

// The command line of `balm`. In: arguments. Out: the exit code of the subcommand; 1 and one line on stderr
// for any error.

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "nearest.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

int complain(const std::string& what) {
    fmt::print(stderr, "balm: {}\n", first_line(what));
    return 1;
}

/// Adds `--color` to a command and its subcommands.
void add_color_option(CLI::App& line) {
    using terminal::colors;
    const std::map<std::string, colors> words{
        {"auto", colors::automatic}, {"always", colors::always}, {"never", colors::never}};
    line.add_option_function<std::string>(
            "--color", [words](const std::string& word) { terminal::choose_colors(words.at(word)); },
            "Use colours: auto (on terminals, unless NO_COLOR is set), always or never")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    for (CLI::App* each : line.get_subcommands({})) add_color_option(*each);
}

/// The outermost of the parsed commands that has unrecognised arguments.
const CLI::App& command_with_extras(const CLI::App& balm) {
    const CLI::App* line = &balm;
    while (line->remaining_size() == 0 && !line->get_subcommands().empty())
        line = line->get_subcommands().front();
    return *line;
}

/// A message that names the unrecognised word and the nearest known one.
std::string unknown_word(const CLI::App& balm) {
    const CLI::App& line = command_with_extras(balm);
    const std::string argument = line.remaining().front();
    const bool is_option = argument.starts_with("-");
    std::vector<std::string> known;
    if (is_option)
        for (const CLI::Option* each : line.get_options())
            for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
    else
        for (const CLI::App* each : line.get_subcommands({})) known.push_back(each->get_name());
    const std::string word = is_option ? argument.substr(0, argument.find('=')) : argument;
    const char* const kind = is_option ? "option" : known.empty() ? "argument" : "command";
    const auto nearest = nearest_word(word, known);
    const std::string guess = nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
    const bool is_balm = line.get_parent() == nullptr;
    return fmt::format("unknown {} '{}'{} (see {}{} --help)", kind, word, guess, is_balm ? "" : "balm ",
                       line.get_name());
}

int run_command(CLI::App& app, int argc, char** argv) {
    const std::vector<command> commands{add_devices(app), add_selftest(app), add_bandwidth(app),
                                        add_cache(app), add_doctor(app)};
    app.require_subcommand(0, 1);  // with 1, a misspelt subcommand would only be reported as missing
    add_color_option(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        return app.exit(asked);
    } catch (const CLI::ExtrasError&) {
        return complain(unknown_word(app));
    } catch (const CLI::ParseError& fault) {
        return complain(fmt::format("{} (see balm --help)", first_line(fault.what())));
    }
    for (const command& each : commands)
        if (each.line->parsed()) return each.run();
    fmt::print("{}", app.help());
    return 0;
}

}  // namespace

int run(int argc, char** argv) {
    try {
        CLI::App app("Shows, checks and measures the devices that Balm computes on.", "balm");
        app.set_version_flag("--version", "balm " BALM_VERSION, "Print the version");
        const int code = run_command(app, argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            return complain("the output cannot be written");
        return code;
    } catch (const std::exception& fault) {
        return complain(fault.what());
    }
}

}  // namespace balm::tool

// balm, the command-line tool: shows the devices, proves that they compute rightly, measures them, tends the
// kernel cache, looks for what is wrong.
// In: a subcommand. Out: its exit code; 1 with one line on stderr for whatever goes wrong.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "balm/version.hpp"
#include "command.hpp"

namespace {

int complain(const std::string& what) {
    fmt::print(stderr, "balm: {}\n", balm::tool::first_line(what));
    return 1;
}

int run(CLI::App& app, int argc, char** argv) {
    const std::vector<balm::tool::command> commands{
        balm::tool::add_devices(app), balm::tool::add_selftest(app), balm::tool::add_bandwidth(app),
        balm::tool::add_cache(app), balm::tool::add_doctor(app)};
    app.require_subcommand(0, 1);  // with 1, a misspelt subcommand would only be called missing
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        return app.exit(asked);
    } catch (const CLI::ParseError& fault) {
        return complain(fmt::format("{} (see balm --help)", balm::tool::first_line(fault.what())));
    }
    for (const balm::tool::command& each : commands)
        if (each.line->parsed()) return each.run();
    return complain(
        "a subcommand is missing: devices, selftest, bandwidth, cache or doctor (see balm --help)");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        CLI::App app("Balm's command-line tool.", "balm");
        app.set_version_flag("--version", "balm " BALM_VERSION);
        const int code = run(app, argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            return complain("the output cannot be written");
        return code;
    } catch (const std::exception& fault) {
        return complain(fault.what());
    }
}

// The manual page and the completions of shells have the commands and options of `balm --help`, and no
// others.

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tool/program.hpp"

namespace balm::test {
namespace {

using words = std::set<std::string>;

/// Everything that the expression's first group matches in a text.
words found_in(const std::string& text, const std::string& expression) {
    const std::regex wanted(expression);
    words found;
    for (std::sregex_iterator k(text.begin(), text.end(), wanted), end; k != end; ++k) found.insert((*k)[1]);
    return found;
}

std::string page(const std::string& name) {
    std::ifstream file(std::string(BALM_TEST_SOURCE_DIR "/apps/balm/pages/") + name);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

class B10_pages : public tool_program {
protected:
    /// What `balm COMMAND --help` lists: "devices", "--json".
    words options_of(const std::string& command) const {
        return found_in(run(command + " --help").out, "\n  (?:-\\w,)?(--[a-z]+)");
    }
    words commands_of(const std::string& command) const {
        const std::string help = run(command + " --help").out;
        const std::size_t at = help.find("\nSubcommands:\n");
        return at == std::string::npos ? words{} : found_in(help.substr(at), "\n  ([a-z]+)  ");
    }
    /// Every command with those below it: "", "cache", "cache size".
    std::vector<std::string> lines() const {
        std::vector<std::string> all{""};
        for (const std::string& command : commands_of("")) {
            all.push_back(command);
            for (const std::string& each : commands_of(command)) all.push_back(command + " " + each);
        }
        return all;
    }
    words options() const {
        words all;
        for (const std::string& line : lines()) all.merge(options_of(line));
        return all;
    }
};

TEST_F(B10_pages, the_help_lists_what_this_test_reads) {
    EXPECT_EQ(commands_of("cache"), (words{"list", "size", "clear"})) << "the oracle of this test";
    EXPECT_TRUE(options_of("selftest").contains("--ulp"));
    EXPECT_TRUE(options_of("devices").contains("--verbose"));
}

TEST_F(B10_pages, the_manual_page_has_every_command_and_option) {
    const std::string text = std::regex_replace(page("balm.1"), std::regex("\\\\-"), "-");
    EXPECT_EQ(found_in(text, "(--[a-z]+)"), [&] {
        words all = options();
        all.insert("--help");  // as "see balm --help" too
        return all;
    }());
    for (const std::string& line : lines()) {
        if (line.empty() || !commands_of(line).empty()) continue;
        EXPECT_NE(text.find("\n.B " + line + "\n"), std::string::npos) << line;
    }
}

TEST_F(B10_pages, bash_completes_every_command_and_option) {
    const std::string script = BALM_TEST_SOURCE_DIR "/apps/balm/pages/balm.bash";
    const auto completed = [&](const std::string& line) {
        const std::string command = fmt::format(
            "bash -c 'source \"{}\"; COMP_WORDS=(balm {} \"\"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
            "_balm; "
            "printf \"%s\\n\" \"${{COMPREPLY[@]}}\"'",
            script, line);
        std::FILE* const pipe = ::popen(command.c_str(), "r");
        std::string out = "\n";
        for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
        EXPECT_EQ(::pclose(pipe), 0) << command;
        return found_in(out, "([a-z-]+)\n");
    };
    for (const std::string& line : lines()) {
        words expected = options_of(line);
        expected.merge(commands_of(line));
        EXPECT_EQ(completed(line), expected) << "balm " << line;
    }
    EXPECT_EQ(completed("devices --color"), (words{"auto", "always", "never"}));
}

TEST_F(B10_pages, zsh_completes_every_command_and_option) {
    const std::string text = page("_balm");
    words known = found_in(text, "[')},](--[a-z]+)");
    known.merge(found_in(text, "(--color)\\["));
    EXPECT_EQ(known, options());
    for (const std::string& command : commands_of(""))
        EXPECT_NE(text.find("'" + command + ":"), std::string::npos);
    for (const std::string& command : commands_of("cache"))
        EXPECT_NE(text.find(command + "\\:"), std::string::npos);
}

}  // namespace
}  // namespace balm::test

#pragma once
// Runs the built `balm` as a shell would: arguments in; exit code, stdout and stderr out.

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

struct outcome {
    int code = -1;
    std::string out, err;
};

/// Calls the function in a process whose stdin, stdout and stderr are one pseudo-terminal.
template <class F>
outcome on_terminal(F&& child_does) {
    constexpr char last = '\0';  // written after the child's output
    outcome result;
    int reader = -1, terminal = -1;
    if (::openpty(&reader, &terminal, nullptr, nullptr, nullptr) != 0) return result;
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(reader);
        ::login_tty(terminal);
        child_does();
        ::_exit(0);
    }
    // The terminal stays open here: what was written just before the last writer closes it may be lost.
    int status = 0;
    for (bool is_over = false; result.out.empty() || result.out.back() != last;) {
        pollfd ready{reader, POLLIN, 0};
        if (::poll(&ready, 1, is_over ? -1 : 10) > 0) {
            char bytes[4096];
            const ssize_t count = ::read(reader, bytes, sizeof bytes);
            if (count <= 0) break;
            result.out.append(bytes, static_cast<std::size_t>(count));
        } else if (!is_over && ::waitpid(child, &status, WNOHANG) == child) {
            is_over = true;
            if (::write(terminal, &last, 1) != 1) break;
        }
    }
    if (!result.out.empty() && result.out.back() == last) result.out.pop_back();
    ::close(terminal);
    ::close(reader);
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    return result;
}

/// A test with a folder of its own, which is also the cache of the programs it runs.
class tool_program : public testing::Test {
protected:
    std::filesystem::path cache() const { return folder_ / "cache"; }

    /// For what compiles hundreds of kernels: for Balm's cache PoCL would compile each a second time.
    static constexpr const char* without_kernel_cache = "BALM_CACHE=0";
    /// `environment` comes before the program's name: "BALM_TYPE=cpu".
    outcome run(const std::string& arguments, const std::string& environment = {}) const {
        const std::string command = "BALM_CACHE=1 BALM_CACHE_DIR='" + cache().string() + "' " + environment +
                                    " '" BALM_TEST_BIN_DIR "/balm' " + arguments + " 2>'" +
                                    (folder_ / "stderr").string() + "'";
        outcome result;
        std::FILE* const pipe = ::popen(command.c_str(), "r");
        char bytes[4096];
        for (std::size_t count; (count = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;)
            result.out.append(bytes, count);
        const int status = ::pclose(pipe);
        if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
        std::ifstream errors(folder_ / "stderr");
        result.err.assign(std::istreambuf_iterator<char>(errors), {});
        return result;
    }
    /// The same on a terminal: `out` has stderr too.
    outcome run_on_terminal(const std::string& arguments, const std::string& environment = {}) const {
        return on_terminal([&] {
            const std::string command = "BALM_CACHE=1 BALM_CACHE_DIR='" + cache().string() + "' " +
                                        environment + " exec '" BALM_TEST_BIN_DIR "/balm' " + arguments;
            ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        });
    }
    nlohmann::json run_json(const std::string& arguments, const std::string& environment = {}) const {
        const outcome result = run(arguments, environment);
        EXPECT_EQ(result.err, "");
        return nlohmann::json::parse(result.out);
    }

    /// Exit code 1, nothing on stdout, and one line on stderr that begins `balm: ` and says this.
    void expect_refusal(const std::string& arguments, const std::string& expected) const {
        const outcome result = run(arguments);
        EXPECT_EQ(result.code, 1) << arguments;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << arguments << '\n' << result.err;
        EXPECT_EQ(result.err.find("balm: "), 0u) << arguments << '\n' << result.err;
        EXPECT_NE(result.err.find(expected), std::string::npos) << arguments << '\n' << result.err;
    }

private:
    scratch_directory folder_;
};

}  // namespace balm::test

#pragma once
// Runs the heat programs as users run them. A shell command comes in, its exit code and output go out. Here
// because several tests start programs, each in a folder of its own.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "golden.hpp"
#include "support/scratch_directory.hpp"

namespace heat_test {

/// How a command ended, and what it wrote.
struct outcome {
    int code;
    std::string out, err;
};

/// Tests that run the heat programs in a shell.
class heat_programs : public testing::Test {
protected:
    /// Runs a shell command in an empty folder of its own, with the programs on the path.
    outcome run(const std::string& command) const {
        const std::string shell = "cd '" + folder_.path().string() +
                                  "' && PATH='" BALM_TEST_BIN_DIR "':\"$PATH\" && { " + command +
                                  "; } 2>stderr";
        std::FILE* pipe = ::popen(shell.c_str(), "r");
        outcome result{-1, "", ""};
        char bytes[4096];
        for (std::size_t count; (count = std::fread(bytes, 1, sizeof bytes, pipe)) > 0;)
            result.out.append(bytes, count);
        const int status = ::pclose(pipe);
        if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
        result.err = heat_test::read_file(folder_ / "stderr");
        return result;
    }

    void write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }

    bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

    /// Exit code 1, nothing on stdout, and as the last line on stderr `program: … expected …`. What `program`
    /// reads is written to a file first: where it refuses early, who writes into a pipe complains, too.
    void expect_refusal(const std::string& command, const std::string& program,
                        const std::string& expected) const {
        const outcome result = run(command);
        EXPECT_EQ(result.code, 1) << command;
        EXPECT_EQ(result.out, "") << command;
        std::string line = result.err.substr(0, result.err.find_last_not_of('\n') + 1);
        EXPECT_EQ(line.size() + 1, result.err.size()) << command;
        line = line.substr(line.rfind('\n') + 1);
        EXPECT_EQ(line.find(program + ": "), 0u) << command << '\n' << line;
        EXPECT_NE(line.find(expected), std::string::npos) << command << '\n' << line;
    }

private:
    balm::test::scratch_directory folder_;
};

}  // namespace heat_test

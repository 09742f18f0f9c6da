#pragma once
// Programs of this repository in processes of their own: arguments and variables in, how they ended and what
// they said out.

#include <chrono>
#include <string>
#include <vector>

namespace balm::test {

/// How a process ended.
struct process_end {
    int status = -1;         ///< what it exited with, or 128 and the signal's number
    bool is_in_time = true;  ///< else it was killed, and with it what it had started
    std::string out, err;
};

/// Runs a program of the build, or by its whole path. The variables, "NAME=value", come before those of this
/// process.
process_end run_program(const std::string& name, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& variables = {},
                        std::chrono::seconds limit = std::chrono::seconds(600));

bool is_pocl_present();
/// Runs tests of a program once more, in a process that has such devices of PoCL's in one context. Skipped
/// without PoCL, and in that process.
void run_on_devices_of_pocl(const std::string& devices, const std::string& program,
                            const std::string& filter);

}  // namespace balm::test

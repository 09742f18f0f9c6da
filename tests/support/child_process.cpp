#include "support/child_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& each : texts) list.push_back(each.data());
    list.push_back(nullptr);
    return list;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=') + 1); }

std::vector<std::string> environment_with(std::vector<std::string> variables) {
    const std::size_t given = variables.size();
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string variable(*each);
        if (std::none_of(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(given),
                         [&](const std::string& own) { return name_of(own) == name_of(variable); }))
            variables.push_back(variable);
    }
    return variables;
}

/// False where it was still there at the end of its time.
bool wait_for(pid_t process, std::chrono::seconds limit, int& status) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (::waitpid(process, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace

process_end run_program(const std::string& name, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& variables, std::chrono::seconds limit) {
    const scratch_directory folder;
    std::vector<std::string> line{std::filesystem::path(BALM_TEST_BIN_DIR) / name};
    line.insert(line.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = environment_with(variables);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const auto& [descriptor, file] : {std::pair(STDOUT_FILENO, "out"), std::pair(STDERR_FILENO, "err")})
        ::posix_spawn_file_actions_addopen(&files, descriptor, (folder / file).c_str(),
                                           O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawnattr_t own_group;  // so that it can be killed with what it has started
    ::posix_spawnattr_init(&own_group);
    ::posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
    pid_t process = 0;
    const int fault = ::posix_spawn(&process, line[0].c_str(), &files, &own_group, pointers(line).data(),
                                    pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&own_group);
    process_end end;
    if (fault != 0) {
        ADD_FAILURE() << line[0] << " cannot be started";
        return end;
    }
    int status = 0;
    end.is_in_time = wait_for(process, limit, status);
    if (!end.is_in_time) {
        ::kill(-process, SIGKILL);
        ::waitpid(process, &status, 0);
    }
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end.out = text_of(folder / "out");
    end.err = text_of(folder / "err");
    return end;
}

bool is_pocl_present() {
    const auto& present = present_devices();
    return std::any_of(present.begin(), present.end(), [](const device& each) {
        return each.info().platform == "Portable Computing Language";
    });
}

void run_on_devices_of_pocl(const std::string& devices, const std::string& program,
                            const std::string& filter) {
    if (devices_are_together()) GTEST_SKIP() << "this is the child";
    if (!is_pocl_present()) GTEST_SKIP() << "no PoCL";
    std::vector<std::string> environment = {"BALM_TEST_TOGETHER=1", "POCL_DEVICES=" + devices,
                                            "BALM_TEST_SEED=" + std::to_string(seed())};
    // How work is divided is the same without PoCL's optimiser, and without kernels for each size of groups:
    // a quarter of the time.
    if (std::getenv("BALM_TEST_OPTIMISED") == nullptr) {
        environment.push_back("POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable");
        environment.push_back("POCL_WORK_GROUP_SPECIALIZATION=0");
    }
    const process_end end = run_program(program, {"--gtest_filter=" + filter}, environment);
    EXPECT_TRUE(end.status == 0 && end.is_in_time)
        << "status " << end.status << (end.is_in_time ? "" : ", out of time") << '\n'
        << end.out << end.err;
}

void run_on_three_devices(const std::string& program, const std::string& filter) {
    run_on_devices_of_pocl("pthread pthread basic", program, filter);
}

}  // namespace balm::test

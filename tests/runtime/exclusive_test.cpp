// Exclusive use of devices: what filter::exclusive accepts, holds and lets go, with other processes that want
// the same devices. They are this program once more, told by its arguments to run one disabled test.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "balm/context.hpp"
#include "balm/error.hpp"
#include "runtime/choice/exclusive.hpp"
#include "runtime/choice/filter_judge.hpp"
#include "runtime/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A lock directory of the test's own.
class V1_exclusive : public testing::Test {
protected:
    V1_exclusive() { ::setenv("BALM_LOCK_DIR", folder_.path().c_str(), 1); }
    ~V1_exclusive() override { ::unsetenv("BALM_LOCK_DIR"); }

    scratch_directory folder_;
};

/// A process with a context of the devices that `filter::exclusive && filter::count(n)` gives it; says how
/// many it has, or why none, and holds them until it is told to end. With `fake_gpus` it sees two GPUs of
/// tests/fake_drivers and wants one of these.
class other_process {
public:
    explicit other_process(std::size_t count, bool fake_gpus = false) {
        int told[2], answered[2];
        if (::pipe2(told, O_CLOEXEC) != 0 || ::pipe2(answered, O_CLOEXEC) != 0)
            throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ == 0) {
            ::fcntl(told[0], F_SETFD, 0);  // its own ends, and nobody else's
            ::fcntl(answered[1], F_SETFD, 0);
            ::setenv("BALM_TEST_FROM", std::to_string(told[0]).c_str(), 1);
            ::setenv("BALM_TEST_TO", std::to_string(answered[1]).c_str(), 1);
            ::setenv("BALM_TEST_COUNT", std::to_string(count).c_str(), 1);
            if (fake_gpus) {
                ::setenv("LD_LIBRARY_PATH", BALM_TEST_FAKE_CUDA_DIR, 1);
                ::setenv("BALM_FAKE_CUDA", "two", 1);
                ::setenv("BALM_TEST_NAME", "Fake", 1);
            }
            ::execl("/proc/self/exe", "test_runtime", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                    "--gtest_filter=V1_other_process.DISABLED_holds_devices", nullptr);
            ::_exit(99);
        }
        ::close(told[0]);
        ::close(answered[1]);
        tell_ = told[1];
        hear_ = answered[0];
    }
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;
    ~other_process() { end(SIGTERM); }

    /// "2", or the text of the error; waits for it.
    const std::string& answer() {
        for (char letter = 0; hear_ >= 0 && ::read(hear_, &letter, 1) == 1 && letter != '\0';)
            answer_ += letter;
        if (hear_ >= 0) ::close(hear_);
        hear_ = -1;
        return answer_;
    }

    /// Its normal end, or by a signal.
    void end(int signal = 0) {
        if (process_ <= 0) return;
        answer();
        if (signal != 0) ::kill(process_, signal);
        ::close(tell_);  // the end of its input
        ::waitpid(process_, nullptr, 0);
        process_ = 0;
    }

private:
    pid_t process_ = 0;
    int tell_ = -1, hear_ = -1;
    std::string answer_;
};

device_info made_up_card(const char* name, std::uint8_t card) {
    device_info info;
    info.name = name;
    info.api = backend::opencl;
    info.uuid[0] = card;
    return info;
}

/// Holds a made-up device in a child process while it lives.
class holding_child {
public:
    explicit holding_child(const device_info& info) {
        int ready[2];
        if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
        process_ = ::fork();
        if (process_ == 0) {
            // The file itself: a forked process has its parent's list of what it holds.
            std::error_code fault;
            const auto held = runtime::file_lock::acquire(runtime::device_lock::path_for(info),
                                                          std::chrono::milliseconds(0), fault);
            (void)!::write(ready[1], held ? "y" : "n", 1);
            for (;;) ::pause();
        }
        char told = 0;
        (void)!::read(ready[0], &told, 1);
        holds_ = told == 'y';
        ::close(ready[0]);
        ::close(ready[1]);
    }
    holding_child(const holding_child&) = delete;
    holding_child& operator=(const holding_child&) = delete;
    ~holding_child() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    bool holds() const { return holds_; }

private:
    pid_t process_ = 0;
    bool holds_ = false;
};

std::size_t all_devices_count() { return context(filter::any).size(); }

/// PoCL may give the same processor several times, under one name.
std::size_t physical_devices() {
    std::set<std::string> paths;
    for (const device& each : context(filter::any).devices())
        paths.insert(runtime::device_lock::path_for(each.info()));
    return paths.size();
}

// Run by other_process only.
TEST(V1_other_process, DISABLED_holds_devices) {
    const char* const to = std::getenv("BALM_TEST_TO");
    if (to == nullptr) GTEST_SKIP() << "meant for a process that another test starts";
    const auto count = static_cast<std::size_t>(std::atoi(std::getenv("BALM_TEST_COUNT")));
    std::optional<context> held;
    std::string answer;
    try {
        const char* const name = std::getenv("BALM_TEST_NAME");
        held.emplace(filter::exclusive && filter::name(name != nullptr ? name : "") && filter::count(count));
        answer = std::to_string(held->size());
    } catch (const std::exception& fault) {
        answer = fault.what();
    }
    ASSERT_EQ(::write(std::atoi(to), answer.c_str(), answer.size() + 1),
              static_cast<ssize_t>(answer.size() + 1));
    ::close(std::atoi(to));
    char byte = 0;
    while (::read(std::atoi(std::getenv("BALM_TEST_FROM")), &byte, 1) == 1) {
    }
}

TEST_F(V1_exclusive, a_context_holds_its_devices_against_other_processes_while_it_lives) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    {
        std::optional<context> first(filter::exclusive);
        const context copy = *first;
        first.reset();
        EXPECT_THAT(other_process(99).answer(), HasSubstr("is held by another process"))
            << "a copy of the context lives";
        EXPECT_THAT(other_process(99).answer(), HasSubstr(folder_.path().string())) << "the file is named";
    }
    EXPECT_EQ(other_process(99).answer(), std::to_string(all_devices_count()));
}

TEST_F(V1_exclusive, another_process_holds_its_devices_until_it_ends_or_is_killed) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    for (const int signal : {0, SIGKILL}) {
        other_process other(99);
        ASSERT_EQ(other.answer(), std::to_string(all_devices_count()));
        EXPECT_THROW(context{filter::exclusive}, no_device_error);
        EXPECT_EQ(context(filter::any).size(), all_devices_count()) << "who does not ask is not kept out";
        EXPECT_EQ(context(!filter::exclusive).size(), all_devices_count());
        other.end(signal);
        EXPECT_EQ(context(filter::exclusive).size(), all_devices_count());
        EXPECT_THROW(context{!filter::exclusive}, no_device_error);
    }
}

TEST_F(V1_exclusive, contexts_of_one_process_share_what_it_holds) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    std::optional<context> first(filter::exclusive), second(filter::exclusive);
    EXPECT_EQ(*first, *second);
    first.reset();
    EXPECT_THAT(other_process(1).answer(), HasSubstr("is held by another process"));
    second.reset();
    EXPECT_EQ(other_process(1).answer(), "1");
}

TEST_F(V1_exclusive, what_is_not_taken_is_not_held) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    const context one(filter::any && filter::count(1));
    EXPECT_THROW(context{filter::exclusive && filter::name("no such device")}, no_device_error);
    EXPECT_THROW(context{filter::count(0) && filter::exclusive}, no_device_error);
    const context of_the_other_side(filter::any || filter::exclusive);
    const context inverse(!filter::exclusive || filter::any);
    EXPECT_EQ(other_process(99).answer(), std::to_string(all_devices_count()));
}

TEST_F(V1_exclusive, processes_that_start_at_once_get_a_device_each) {
    const std::size_t devices = all_handles().empty() ? 0 : physical_devices();
    if (devices == 0) GTEST_SKIP() << "no device";
    std::vector<std::unique_ptr<other_process>> others;
    for (std::size_t k = 0; k < devices; ++k) {
        others.push_back(std::make_unique<other_process>(1));
        EXPECT_EQ(others.back()->answer(), "1");
    }
    EXPECT_THROW(context{filter::exclusive}, no_device_error);
}

TEST_F(V1_exclusive, of_five_processes_that_want_one_of_two_gpus_two_get_it) {
    for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::unique_ptr<other_process>> others;
        for (int k = 0; k < 5; ++k) others.push_back(std::make_unique<other_process>(1, true));
        int served = 0;
        for (const auto& each : others) {
            served += each->answer() == "1" ? 1 : 0;
            if (each->answer() == "1") continue;
            EXPECT_THAT(each->answer(), HasSubstr("device 'Fake discrete GPU' (cuda): is held by another"));
            EXPECT_THAT(each->answer(), HasSubstr("device 'Fake integrated GPU' (cuda): is held by another"));
        }
        EXPECT_EQ(served, 2);
    }
}

TEST_F(V1_exclusive, a_device_that_is_only_tried_makes_no_other_process_give_up) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    // This process stands for one that chooses: it has locked every device, and will let them go.
    runtime::file_lock choosing = runtime::lock_choice();
    std::vector<std::shared_ptr<runtime::device_lock>> tried;
    for (const device& each : all_handles()) tried.push_back(runtime::device_lock::try_acquire(each.info()));
    other_process other(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    tried.clear();
    choosing = {};
    EXPECT_EQ(other.answer(), "1");
}

TEST_F(V1_exclusive, contexts_come_and_go_in_many_threads) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    std::atomic<int> made = 0;
    {
        std::vector<std::jthread> threads;
        for (int k = 0; k < 8; ++k)
            threads.emplace_back([&made] {
                for (int turn = 0; turn < 20; ++turn) {
                    const context one(filter::exclusive && filter::count(1));
                    made += static_cast<int>(one.size());
                }
            });
    }
    EXPECT_EQ(made, 8 * 20);
    EXPECT_EQ(other_process(1).answer(), "1") << "all of them have let go";
}

TEST_F(V1_exclusive, only_the_devices_counted_are_locked) {
    const std::vector<device_info> cards{made_up_card("first", 1), made_up_card("second", 2),
                                         made_up_card("third", 3)};
    const holding_child other(cards[0]);
    ASSERT_TRUE(other.holds());
    for (const device_filter& wanted :
         {filter::exclusive && filter::count(1), filter::count(1) && filter::exclusive,
          filter::any && (filter::count(1) && filter::exclusive)}) {
        detail::selection state;
        std::vector<bool> accepted;
        for (const device_info& each : cards) accepted.push_back(wanted.judge(each, state).accepted);
        EXPECT_EQ(accepted, (std::vector<bool>{false, true, false})) << "one that is held does not count";
        EXPECT_EQ(state.locks.size(), 1u);
        EXPECT_TRUE(holding_child(cards[2]).holds()) << "it was only tried";
        EXPECT_FALSE(holding_child(cards[1]).holds());
    }
    EXPECT_TRUE(holding_child(cards[1]).holds());
}

TEST_F(V1_exclusive, a_device_is_known_by_uuid_else_address_else_name) {
    device_info cuda = made_up_card("NVIDIA H100", 7), opencl = made_up_card("H100 through OpenCL", 7);
    cuda.api = backend::cuda;
    EXPECT_EQ(runtime::device_lock::path_for(cuda), runtime::device_lock::path_for(opencl));
    EXPECT_EQ(runtime::device_lock::path_for(cuda),
              folder_ / "balm-device-07000000-0000-0000-0000-000000000000.lock");
    cuda.uuid = opencl.uuid = {};
    EXPECT_NE(runtime::device_lock::path_for(cuda), runtime::device_lock::path_for(opencl));
    cuda.pci_address = opencl.pci_address = "0000:18:00.0";
    EXPECT_EQ(runtime::device_lock::path_for(cuda), folder_ / "balm-device-0000-18-00.0.lock");
    EXPECT_EQ(runtime::device_lock::path_for(cuda), runtime::device_lock::path_for(opencl));
    device_info hostile;
    hostile.name = "../../etc/passwd\n" + std::string(5000, 'x');
    const fs::path path = runtime::device_lock::path_for(hostile);
    EXPECT_EQ(path.parent_path(), folder_.path());
    EXPECT_LT(path.filename().string().size(), 200u);
    EXPECT_NE(runtime::device_lock::try_acquire(hostile), nullptr);
}

TEST_F(V1_exclusive, a_directory_that_cannot_be_used_is_an_error_with_words) {
    if (all_handles().empty()) GTEST_SKIP() << "no device";
    const auto fault_in = [](const fs::path& directory) {
        ::setenv("BALM_LOCK_DIR", directory.c_str(), 1);
        try {
            const context none(filter::exclusive);
        } catch (const usage_error& fault) {
            return std::string(fault.what());
        }
        return std::string("nothing was thrown");
    };
    const std::string missing = fault_in(folder_ / "missing");
    EXPECT_THAT(missing, HasSubstr("No such file or directory"));
    EXPECT_THAT(missing, HasSubstr("Set BALM_LOCK_DIR to a directory"));
    EXPECT_THAT(missing, HasSubstr((folder_ / "missing").string()));
    std::ofstream(folder_ / "file") << "no directory";
    EXPECT_THAT(fault_in(folder_ / "file"), HasSubstr("Not a directory"));
    fs::create_directory(folder_ / "full");
    fs::create_directory(folder_ / "full" / "balm-choice.lock");
    EXPECT_THAT(fault_in(folder_ / "full"), HasSubstr("Is a directory"));
    EXPECT_EQ(context(filter::any).size(), all_devices_count()) << "other filters need no directory";
    if (::geteuid() == 0) return;  // whom no directory refuses
    fs::create_directory(folder_ / "closed");
    fs::permissions(folder_ / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(fault_in(folder_ / "closed"), HasSubstr("Permission denied"));
}

TEST_F(V1_exclusive, a_process_that_hangs_while_choosing_is_named) {
    std::error_code fault;
    const auto choosing =
        runtime::file_lock::acquire(folder_ / "balm-choice.lock", std::chrono::milliseconds(0), fault);
    ASSERT_TRUE(choosing);
    try {
        const auto turn = runtime::lock_choice(std::chrono::milliseconds(50));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const no_device_error& late) {
        EXPECT_THAT(late.what(), HasSubstr("balm-choice.lock"));
        EXPECT_THAT(late.what(), HasSubstr("for 0.05 seconds"));
    }
}

}  // namespace

}  // namespace balm::test

// In: libraries, variables, files and directories, sound and damaged. Out: proof that src/runtime/system
// answers as promised, and that replacing a file is all or nothing.

#include "base/system.hpp"
#include "support/scratch_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace balm::runtime;
using balm::test::bytes_of;
using balm::test::content_of_file;
using balm::test::scratch_directory;
using namespace std::chrono_literals;

class scoped_variable {
public:
    scoped_variable(const char* name, const char* value) : name_(name), old_(environment_variable(name)) {
        set(value);
    }
    ~scoped_variable() { set(old_ ? old_->c_str() : nullptr); }
    scoped_variable(const scoped_variable&) = delete;
    scoped_variable& operator=(const scoped_variable&) = delete;

private:
    void set(const char* value) { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

    const char* name_;
    std::optional<std::string> old_;
};

// Runs the body in a process of its own, and gives its exit status: 0 for true.
int status_in_child(const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(B5_system, opens_the_first_library_that_opens_and_keeps_the_reasons) {
    const std::vector<std::string> names{"libbalm_no_such_thing.so.7", "libm.so.6", "libc.so.6"};
    const shared_library library = shared_library::open_first(names);
    ASSERT_TRUE(library);
    EXPECT_EQ(library.name(), "libm.so.6");
    ASSERT_EQ(library.failures().size(), 1u);
    EXPECT_EQ(library.failures()[0].name, "libbalm_no_such_thing.so.7");
    EXPECT_NE(library.describe_failures().find("libbalm_no_such_thing.so.7"), std::string::npos);

    auto* cosine = library.function<double(double)>("cos");
    ASSERT_NE(cosine, nullptr);
    EXPECT_EQ(cosine(0.0), 1.0);
    EXPECT_EQ(library.symbol("balm_no_such_symbol"), nullptr);
}

TEST(B5_system, a_missing_library_is_an_empty_handle_with_reasons) {
    const std::vector<std::string> names{"libbalm_no_such_thing.so", "libbalm_nor_this.so"};
    shared_library library = shared_library::open_first(names);
    EXPECT_FALSE(library);
    EXPECT_EQ(library.failures().size(), 2u);
    for (const auto& each : library.failures()) EXPECT_FALSE(each.reason.empty());
    EXPECT_EQ(library.symbol("malloc"), nullptr) << "an empty handle must not search the process";

    shared_library moved = std::move(library);
    EXPECT_EQ(moved.failures().size(), 2u);
    EXPECT_FALSE(shared_library::open_first({}));
}

TEST(B5_system, a_file_that_is_no_library_is_a_failure_with_a_reason) {
    const scratch_directory directory;
    std::ofstream(directory / "libfake.so") << "not a library";
    const std::vector<std::string> names{(directory / "libfake.so").string()};
    const shared_library library = shared_library::open_first(names);
    EXPECT_FALSE(library);
    ASSERT_EQ(library.failures().size(), 1u);
}

TEST(B5_system, tells_unset_variables_from_empty_ones) {
    const scoped_variable unset("BALM_TEST_UNSET", nullptr);
    const scoped_variable empty("BALM_TEST_EMPTY", "");
    EXPECT_EQ(environment_variable("BALM_TEST_UNSET"), std::nullopt);
    EXPECT_EQ(environment_variable("BALM_TEST_EMPTY"), "");
}

TEST(B5_system, finds_the_cache_directory_in_the_promised_order) {
    const scoped_variable own("BALM_CACHE_DIR", "/one");
    const scoped_variable caches("XDG_CACHE_HOME", "/two");
    const scoped_variable home("HOME", "/three");
    EXPECT_EQ(cache_directory(), fs::path("/one"));
    {
        const scoped_variable none("BALM_CACHE_DIR", "");
        EXPECT_EQ(cache_directory(), fs::path("/two/balm"));
        const scoped_variable relative("XDG_CACHE_HOME", "two");
        EXPECT_EQ(cache_directory(), fs::path("/three/.cache/balm"));
        const scoped_variable relative_home("HOME", "three");
        EXPECT_EQ(cache_directory(), std::nullopt);
        const scoped_variable homeless("HOME", nullptr);
        EXPECT_EQ(cache_directory(), std::nullopt);
    }
    const scoped_variable relative("BALM_CACHE_DIR", "here");
    EXPECT_EQ(cache_directory(), fs::current_path() / "here");
}

TEST(B5_system, gives_memory_in_large_pages_or_none) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{2} << 20, (std::size_t{5} << 20) + 1}) {
        const std::unique_ptr<char, void (*)(void*)> memory(
            static_cast<char*>(allocate_in_large_pages(bytes)), std::free);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(std::bit_cast<std::uintptr_t>(memory.get()) % (2 << 20), 0u);
        memory.get()[0] = memory.get()[bytes - 1] = 'a';
    }
    EXPECT_EQ(allocate_in_large_pages(std::numeric_limits<std::size_t>::max()), nullptr);
}

TEST(B5_system, names_the_process_and_the_host) {
    EXPECT_EQ(process_id(), static_cast<std::uint64_t>(::getpid()));
    EXPECT_FALSE(host_name().empty());
    EXPECT_EQ(status_in_child([parent = process_id()] { return process_id() != parent; }), 0);
}

TEST(B5_system, replaces_a_file_and_leaves_nothing_beside_it) {
    const scratch_directory directory;
    EXPECT_FALSE(replace_file(directory / "file", bytes_of("first")));
    EXPECT_FALSE(replace_file(directory / "file", bytes_of("second, longer")));
    EXPECT_EQ(content_of_file(directory / "file"), "second, longer");
    EXPECT_FALSE(replace_file(directory / "file", {}));
    EXPECT_EQ(content_of_file(directory / "file"), "");
    EXPECT_EQ(directory.names(), std::vector<std::string>{"file"});
    EXPECT_EQ(fs::status(directory / "file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(B5_system, replaces_a_symbolic_link_and_leaves_what_it_points_to) {
    const scratch_directory directory;
    std::ofstream(directory / "precious") << "kept";
    fs::create_symlink(directory / "precious", directory / "file");
    EXPECT_FALSE(replace_file(directory / "file", bytes_of("new")));
    EXPECT_EQ(content_of_file(directory / "precious"), "kept");
    EXPECT_FALSE(fs::is_symlink(directory / "file"));
}

TEST(B5_system, a_replacement_that_fails_leaves_the_old_file_and_no_temporary) {
    const scratch_directory directory;
    fs::create_directory(directory / "occupied");
    EXPECT_TRUE(replace_file(directory / "occupied", bytes_of("text")));
    EXPECT_EQ(directory.names(), std::vector<std::string>{"occupied"});
    EXPECT_TRUE(replace_file(directory / "absent/file", bytes_of("text")));
    EXPECT_TRUE(replace_file("/proc/balm_file", bytes_of("text")));
    EXPECT_TRUE(replace_file(directory / std::string(300, 'x').c_str(), bytes_of("text")));
}

TEST(B5_system, a_limit_on_file_sizes_fails_the_write_and_spares_the_process) {
    const scratch_directory directory;
    ASSERT_FALSE(replace_file(directory / "file", bytes_of("old")));
    for (auto action : {SIG_DFL, SIG_IGN}) {
        const int status = status_in_child([&] {
            ::signal(SIGXFSZ, action);
            const rlimit limit{1000, 1000};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return static_cast<bool>(replace_file(directory / "file", bytes_of(std::string(2000, 'x'))));
        });
        EXPECT_EQ(status, 0);
        EXPECT_EQ(content_of_file(directory / "file"), "old");
        EXPECT_EQ(directory.names(), std::vector<std::string>{"file"});
    }
}

TEST(B5_system, opens_regular_files_and_nothing_else) {
    const scratch_directory directory;
    std::ofstream(directory / "file") << "content";
    fs::create_symlink(directory / "file", directory / "link");
    fs::create_directory(directory / "directory");
    ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
    std::error_code fault;
    for (const char* name : {"link", "directory", "pipe", "absent"}) {
        EXPECT_FALSE(input_file::open(directory / name, fault)) << name;
        EXPECT_TRUE(fault) << name;
    }
    EXPECT_FALSE(input_file::open("/dev/zero", fault));

    input_file file = input_file::open(directory / "file", fault);
    ASSERT_TRUE(file);
    EXPECT_FALSE(fault);
    EXPECT_TRUE(file.trusted());
    EXPECT_EQ(file.size(), 7u);
    std::string text(4, ' ');
    EXPECT_TRUE(file.read(std::as_writable_bytes(std::span(text))));
    EXPECT_EQ(text, "cont");
    EXPECT_FALSE(file.read(std::as_writable_bytes(std::span(text)))) << "only three are left";
}

TEST(B5_system, marks_a_file_as_used_now) {
    const scratch_directory directory;
    std::ofstream(directory / "file") << "content";
    fs::last_write_time(directory / "file", fs::file_time_type::clock::now() - std::chrono::hours(5));
    std::error_code fault;
    input_file file = input_file::open(directory / "file", fault);
    EXPECT_LT(file.modified(), std::chrono::system_clock::now() - std::chrono::hours(4));
    file.mark_used();
    file = input_file::open(directory / "file", fault);
    EXPECT_GT(file.modified(), std::chrono::system_clock::now() - std::chrono::hours(1));
}

TEST(B5_system, makes_directories_for_the_user_alone) {
    const scratch_directory directory;
    EXPECT_FALSE(make_directories(directory / "a/b/c"));
    EXPECT_FALSE(make_directories(directory / "a/b/c"));
    EXPECT_FALSE(make_directories(directory / "d/e/"));
    EXPECT_TRUE(fs::is_directory(directory / "d/e"));
    EXPECT_EQ(fs::status(directory / "a/b").permissions(), fs::perms::owner_all);
    fs::create_directory_symlink(directory / "a", directory / "link");
    EXPECT_FALSE(make_directories(directory / "link"));
    std::ofstream(directory / "file") << "in the way";
    EXPECT_TRUE(make_directories(directory / "file"));
    EXPECT_TRUE(make_directories(directory / "file/below"));
    EXPECT_TRUE(make_directories("/proc/balm/below"));
    EXPECT_TRUE(make_directories(""));
}

TEST(B5_system, lists_regular_files_with_sizes_and_times) {
    const scratch_directory directory;
    std::ofstream(directory / "five") << "12345";
    std::ofstream(directory / "none");
    fs::create_directory(directory / "directory");
    fs::create_symlink(directory / "five", directory / "link");
    std::vector<file_information> files = list_files(directory.path());
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[0].name, "five");
    EXPECT_EQ(files[0].bytes, 5u);
    EXPECT_GT(files[0].modified, std::chrono::system_clock::now() - std::chrono::hours(1));
    EXPECT_EQ(files[1].name, "none");
    EXPECT_TRUE(list_files(directory / "absent").empty());
    EXPECT_TRUE(list_files(directory / "five").empty());
}

TEST(B5_system, times_that_nanoseconds_do_not_reach_count_as_the_nearest_that_they_do) {
    const scratch_directory scratch;
    const auto path = scratch / "file";
    std::ofstream(path) << "some";
    using clock = std::chrono::system_clock;
    const auto modified = [&](std::int64_t seconds) {
        const timespec times[2] = {{0, UTIME_OMIT}, {static_cast<time_t>(seconds), 5}};
        EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
        std::error_code fault;
        EXPECT_EQ(input_file::open(path, fault).modified(), list_files(scratch.path())[0].modified);
        return list_files(scratch.path())[0].modified;
    };
    EXPECT_EQ(modified(1000000000),
              clock::time_point(std::chrono::seconds(1000000000)) + std::chrono::nanoseconds(5));
    // File systems clamp what they cannot hold: ext4 ends in 2446, xfs may end in 2038.
    for (const std::int64_t beyond :
         {std::int64_t{9223372036}, std::int64_t{9300000000}, std::int64_t{15000000000}}) {
        const clock::time_point late = modified(beyond);
        EXPECT_GT(late, clock::now()) << beyond;
        EXPECT_LT(clock::now() - late, std::chrono::hours(0)) << beyond;
    }
    EXPECT_GE(modified(-5000000000), clock::time_point());
}

TEST(B5_system, removes_files_and_links_but_no_directories) {
    const scratch_directory directory;
    std::ofstream(directory / "file") << "text";
    fs::create_directory(directory / "directory");
    fs::create_directory_symlink(directory / "directory", directory / "link");
    EXPECT_TRUE(remove_file(directory / "file"));
    EXPECT_TRUE(remove_file(directory / "file")) << "gone is gone";
    EXPECT_TRUE(remove_file(directory / "link"));
    EXPECT_FALSE(remove_file(directory / "directory"));
    EXPECT_EQ(directory.names(), std::vector<std::string>{"directory"});
}

TEST(V1_locks, keep_other_processes_and_other_handles_out) {
    const scratch_directory directory;
    const fs::path path = directory / "one.lock";
    std::error_code fault;
    file_lock mine = file_lock::acquire(path, 0ms, fault);
    ASSERT_TRUE(mine) << fault.message();
    const auto is_busy = [&] {
        std::error_code refused;
        return !file_lock::acquire(path, 0ms, refused) &&
               refused == std::errc::resource_unavailable_try_again;
    };
    EXPECT_TRUE(is_busy());
    EXPECT_EQ(status_in_child(is_busy), 0);
    mine = {};
    EXPECT_FALSE(is_busy());
    EXPECT_EQ(status_in_child([&] { return !is_busy(); }), 0);
}

TEST(V1_locks, go_with_a_process_that_is_killed) {
    const scratch_directory directory;
    const fs::path path = directory / "one.lock";
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::error_code fault;
        const file_lock held = file_lock::acquire(path, 0ms, fault);
        (void)!::write(ready[1], held ? "y" : "n", 1);
        for (;;) ::pause();
    }
    char told = 0;
    ASSERT_EQ(::read(ready[0], &told, 1), 1);
    EXPECT_EQ(told, 'y');
    std::error_code fault;
    EXPECT_FALSE(file_lock::acquire(path, 20ms, fault));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(file_lock::acquire(path, 0ms, fault)) << fault.message();
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(V1_locks, are_waited_for) {
    const scratch_directory directory;
    const fs::path path = directory / "one.lock";
    std::error_code fault;
    file_lock held = file_lock::acquire(path, 0ms, fault);
    std::thread release([&] {
        std::this_thread::sleep_for(50ms);
        held = {};
    });
    EXPECT_TRUE(file_lock::acquire(path, 20s, fault)) << fault.message();
    release.join();
}

TEST(V1_locks, of_a_removed_file_keep_nobody_out_and_nobody_in) {
    const scratch_directory directory;
    const fs::path path = directory / "one.lock";
    std::error_code fault;
    const file_lock old = file_lock::acquire(path, 0ms, fault);
    fs::remove(path);
    const file_lock fresh = file_lock::acquire(path, 0ms, fault);
    EXPECT_TRUE(fresh) << fault.message();
    EXPECT_FALSE(file_lock::acquire(path, 0ms, fault));
}

TEST(V1_locks, say_why_a_file_cannot_be_locked) {
    const scratch_directory directory;
    std::error_code fault;
    EXPECT_FALSE(file_lock::acquire(directory / "no" / "such.lock", 0ms, fault));
    EXPECT_EQ(fault, std::errc::no_such_file_or_directory);
    EXPECT_FALSE(file_lock::acquire(directory.path(), 0ms, fault));
    EXPECT_EQ(fault, std::errc::is_a_directory);
    std::ofstream(directory / "real") << "text";
    fs::create_symlink(directory / "real", directory / "link.lock");
    EXPECT_FALSE(file_lock::acquire(directory / "link.lock", 0ms, fault));
    EXPECT_TRUE(fault);
    ASSERT_EQ(::mkfifo((directory / "pipe.lock").c_str(), 0600), 0);
    EXPECT_FALSE(file_lock::acquire(directory / "pipe.lock", 0ms, fault));
    EXPECT_EQ(fault, std::errc::operation_not_supported);
}

TEST(V1_locks, are_open_to_every_user_whatever_the_umask) {
    const scratch_directory directory;
    const fs::path path = directory / "one.lock";
    const mode_t before = ::umask(077);
    std::error_code fault;
    { const file_lock made = file_lock::acquire(path, 0ms, fault); }
    ::umask(before);
    using fs::perms;
    EXPECT_EQ(fs::status(path).permissions(),
              perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
    if (::geteuid() != 0) return;
    // Another user, who may not write to the file, keeps out and is kept out all the same.
    fs::permissions(directory.path(), perms::all);
    EXPECT_EQ(status_in_child([&] {
                  if (::setuid(65534) != 0) return false;
                  std::error_code refused;
                  return bool(file_lock::acquire(path, 0ms, refused));
              }),
              0);
    const file_lock held = file_lock::acquire(path, 0ms, fault);
    EXPECT_EQ(status_in_child([&] {
                  if (::setuid(65534) != 0) return false;
                  std::error_code refused;
                  return !file_lock::acquire(path, 0ms, refused) &&
                         refused == std::errc::resource_unavailable_try_again;
              }),
              0);
}

TEST(V1_locks, are_where_the_environment_says_else_where_all_users_meet) {
    {
        const scoped_variable given("BALM_LOCK_DIR", "/some/where");
        EXPECT_EQ(lock_directory(), "/some/where");
    }
    const scoped_variable none("BALM_LOCK_DIR", nullptr);
    const scoped_variable own("TMPDIR", "/some/where/else");
    const fs::path usual = lock_directory();
    EXPECT_TRUE(usual == "/run/lock" || usual == "/tmp") << usual;
    EXPECT_NE(fs::status(usual).permissions() & fs::perms::others_write, fs::perms::none);
}

}  // namespace

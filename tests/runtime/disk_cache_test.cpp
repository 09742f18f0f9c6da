// In: caches in directories of every state, and processes that race, die and are denied. Out: proof that
// the disk cache gives back exactly what was stored or nothing at all.

#include "runtime/program/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/system.hpp"
#include "support/scratch_directory.hpp"

namespace {

namespace fs = std::filesystem;
using namespace balm::runtime;
using balm::test::content_of_file;
using balm::test::scratch_directory;
using bytes = std::vector<std::byte>;

constexpr std::uint64_t plenty = 64u << 20;
constexpr uid_t nobody = 65534;

// Statuses of children; any other is a failure.
constexpr int passed = 0;
constexpr int not_possible_here = 77;

digest key_of(std::uint64_t number) { return hasher{}.number(number).result(); }

// What a compiler would give for this key: any two processes agree on it.
bytes payload_of(std::uint64_t number, std::size_t size) {
    std::mt19937_64 random(number);
    bytes payload(size);
    for (std::byte& each : payload) each = static_cast<std::byte>(random());
    return payload;
}

fs::path file_of(const fs::path& directory, const digest& key) { return directory / (to_hex(key) + ".bin"); }

void overwrite(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void age(const fs::path& path, std::chrono::minutes by) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - by);
}

std::vector<std::string> temporaries_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const file_information& file : list_files(directory)) {
        if (file.name.ends_with(temporary_suffix)) names.push_back(file.name);
    }
    return names;
}

pid_t start_child(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    return child;
}

int wait_for(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Every child waits for the parent's sign, so that all are cold at once.
std::vector<int> run_at_once(int processes, const std::function<int(int)>& body) {
    int gate[2];
    if (::pipe(gate) != 0) return {};
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        children.push_back(start_child([&] {
            ::close(gate[1]);
            char sign = 0;
            while (::read(gate[0], &sign, 1) > 0) {
            }
            return body(i);
        }));
    }
    ::close(gate[0]);
    ::close(gate[1]);
    std::vector<int> statuses;
    for (pid_t child : children) statuses.push_back(wait_for(child));
    return statuses;
}

// Mounts of this process's own; where only root may have them, as root of a user namespace of its own.
bool get_private_mounts() {
    if (::unshare(CLONE_NEWNS) != 0) {
        const std::string user = std::to_string(::geteuid());
        const std::string group = std::to_string(::getegid());
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream uid_map("/proc/self/uid_map");
        std::ofstream gid_map("/proc/self/gid_map");
        uid_map << "0 " + user + " 1" << std::flush;
        gid_map << "0 " + group + " 1" << std::flush;
        if (!uid_map || !gid_map) return false;
    }
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// A cache that cannot keep anything says so by giving nothing, twice, and by counting.
int behaves_without_keeping(const fs::path& directory) {
    disk_cache cache(directory, plenty);
    if (cache.load(key_of(1))) return 1;
    cache.store(key_of(1), payload_of(1, 5000), "kernel");
    if (cache.load(key_of(1))) return 2;
    if (cache.counts().failed_writes != 1 || cache.counts().writes != 0) return 3;
    if (cache.size().entries != 0 || !cache.list().empty() || cache.clear() != 0) return 4;
    return passed;
}

TEST(B5_disk_cache, gives_back_what_was_stored) {
    const scratch_directory directory;
    disk_cache cache(directory / "made/when/needed", plenty);
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_FALSE(fs::exists(directory / "made")) << "looking must not make directories";
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{3000001}}) {
        cache.store(key_of(size), payload_of(size, size), "saxpy on pocl");
        EXPECT_EQ(cache.load(key_of(size)), payload_of(size, size)) << size;
    }
    cache.store(key_of(1), payload_of(7, 100));
    EXPECT_EQ(cache.load(key_of(1)), payload_of(7, 100)) << "a second store replaces the first";

    const auto counts = cache.counts();
    EXPECT_EQ(counts.hits, 5u);
    EXPECT_EQ(counts.misses, 1u);
    EXPECT_EQ(counts.damaged, 0u);
    EXPECT_EQ(counts.writes, 5u);
    EXPECT_EQ(counts.failed_writes, 0u);

    disk_cache later(directory / "made/when/needed", plenty);
    EXPECT_EQ(later.load(key_of(4096)), payload_of(4096, 4096));
}

TEST(B5_disk_cache, key_depends_on_every_field_and_on_their_borders) {
    const program_key_fields fields{"binary", "source", "options", "device", "driver", "balm"};
    std::vector<digest> keys{make_key(fields)};
    for (auto member : {&program_key_fields::kind, &program_key_fields::source, &program_key_fields::options,
                        &program_key_fields::device, &program_key_fields::driver_version,
                        &program_key_fields::balm_version}) {
        program_key_fields changed = fields;
        changed.*member = "other";
        keys.push_back(make_key(changed));
    }
    keys.push_back(make_key({"binarys", "ource", "options", "device", "driver", "balm"}));
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
    EXPECT_EQ(make_key(fields), make_key(fields));
}

TEST(B5_disk_cache, refuses_an_entry_truncated_at_any_length) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 64), "kernel");
    const std::string whole = content_of_file(file_of(directory.path(), key_of(1)));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        overwrite(file_of(directory.path(), key_of(1)), whole.substr(0, length));
        ASSERT_FALSE(cache.load(key_of(1))) << length;
    }
    EXPECT_EQ(cache.counts().damaged, whole.size());
    overwrite(file_of(directory.path(), key_of(1)), whole + "x");
    EXPECT_FALSE(cache.load(key_of(1))) << "a byte too many";
    overwrite(file_of(directory.path(), key_of(1)), whole + "ux");
    EXPECT_FALSE(cache.load(key_of(1))) << "a byte behind the mark of a use";
    overwrite(file_of(directory.path(), key_of(1)), std::string(whole.size(), '\0'));
    EXPECT_FALSE(cache.load(key_of(1))) << "zeros, as after a power cut";
    overwrite(file_of(directory.path(), key_of(1)), whole);
    EXPECT_EQ(cache.load(key_of(1)), payload_of(1, 64)) << "the oracle of this test";
}

TEST(B5_disk_cache, refuses_an_entry_with_any_bit_flipped) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 64), "kernel");
    const fs::path file = file_of(directory.path(), key_of(1));
    const std::string whole = content_of_file(file);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        overwrite(file, flipped);
        ASSERT_FALSE(cache.load(key_of(1))) << "bit " << bit;
    }
    EXPECT_EQ(cache.counts().damaged, 8 * whole.size());
}

TEST(B5_disk_cache, a_length_that_the_file_does_not_have_allocates_nothing) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 64), "kernel");
    const fs::path file = file_of(directory.path(), key_of(1));
    std::string whole = content_of_file(file);
    std::fill_n(whole.begin() + 24, 8, '\xff');
    overwrite(file, whole);
    EXPECT_FALSE(cache.load(key_of(1)));
    std::error_code fault;
    fs::resize_file(file, std::uintmax_t{1} << 40, fault);
    if (!fault) {
        EXPECT_FALSE(cache.load(key_of(1))) << "a sparse file of a terabyte";
    }
}

TEST(B5_disk_cache, refuses_a_file_renamed_under_another_key) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 64), "kernel");
    fs::rename(file_of(directory.path(), key_of(1)), file_of(directory.path(), key_of(2)));
    EXPECT_FALSE(cache.load(key_of(2)));
    EXPECT_EQ(cache.counts().damaged, 1u);
}

TEST(B5_disk_cache, a_damaged_entry_is_replaced_by_the_next_store) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    overwrite(file_of(directory.path(), key_of(1)), "rubbish");
    EXPECT_FALSE(cache.load(key_of(1)));
    cache.store(key_of(1), payload_of(1, 64));
    EXPECT_EQ(cache.load(key_of(1)), payload_of(1, 64));
}

TEST(B5_disk_cache, anything_but_a_file_in_an_entrys_place_is_refused_without_waiting) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(9), payload_of(9, 64));
    fs::create_directory(file_of(directory.path(), key_of(1)));
    overwrite(file_of(directory.path(), key_of(1)) / "inside", "x");
    ASSERT_EQ(::mkfifo(file_of(directory.path(), key_of(2)).c_str(), 0600), 0);
    fs::create_symlink(file_of(directory.path(), key_of(9)), file_of(directory.path(), key_of(3)));
    fs::create_symlink("nowhere", file_of(directory.path(), key_of(4)));
    fs::create_symlink(file_of(directory.path(), key_of(5)), file_of(directory.path(), key_of(5)));
    for (std::uint64_t number = 1; number <= 5; ++number) {
        EXPECT_FALSE(cache.load(key_of(number))) << number;
        cache.store(key_of(number), payload_of(number, 64));
    }
    EXPECT_EQ(cache.counts().failed_writes, 1u) << "only the directory cannot be replaced";
    EXPECT_FALSE(cache.load(key_of(1)));
    for (std::uint64_t number = 2; number <= 5; ++number) {
        EXPECT_EQ(cache.load(key_of(number)), payload_of(number, 64)) << number;
    }
    EXPECT_EQ(cache.load(key_of(9)), payload_of(9, 64)) << "links are replaced, not followed";
    EXPECT_TRUE(temporaries_in(directory.path()).empty());
}

TEST(B5_disk_cache, refuses_what_another_user_wrote) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 64));
    ASSERT_EQ(::chown(file_of(directory.path(), key_of(1)).c_str(), nobody, nobody), 0);
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_EQ(cache.counts().damaged, 1u);
    ASSERT_EQ(cache.list().size(), 1u);
    EXPECT_TRUE(cache.list()[0].damaged);
}

TEST(B5_disk_cache, refuses_an_entry_that_others_may_write) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    const fs::path file = file_of(directory.path(), key_of(1));
    for (const mode_t mode : {0620, 0602, 0666}) {
        cache.store(key_of(1), payload_of(1, 64));
        ASSERT_EQ(cache.load(key_of(1)), payload_of(1, 64));
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        EXPECT_FALSE(cache.load(key_of(1))) << std::oct << mode;
        EXPECT_TRUE(cache.list().at(0).damaged) << std::oct << mode;
    }
    cache.store(key_of(1), payload_of(1, 64));
    EXPECT_EQ(cache.load(key_of(1)), payload_of(1, 64)) << "a store makes it one's own again";
}

TEST(B5_disk_cache, is_not_used_where_others_may_write_to_a_directory_of_its_path) {
    const scratch_directory directory;
    const fs::path above = directory / "above", path = above / "cache";
    disk_cache(path, plenty).store(key_of(1), payload_of(1, 64));
    const auto expect_refused = [&](const fs::path& as, const fs::path& named) {
        disk_cache cache(as, plenty);
        testing::internal::CaptureStderr();
        EXPECT_FALSE(cache.load(key_of(1)));
        cache.store(key_of(2), payload_of(2, 64));
        EXPECT_FALSE(cache.load(key_of(2)));
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_FALSE(cache.enabled());
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "once: " << said;
        EXPECT_NE(said.find("'" + named.string() + "'"), std::string::npos) << said;
        EXPECT_NE(said.find("chmod"), std::string::npos) << said;
        EXPECT_FALSE(fs::exists(file_of(path, key_of(2))));
    };
    for (const fs::path& open : {path, above})
        for (const mode_t mode : {0770, 0707, 0777, 02775}) {
            SCOPED_TRACE(open.string() + fmt::format(", mode {:o}", mode));
            ASSERT_EQ(::chmod(open.c_str(), mode), 0);
            expect_refused(path, open);
            // Also by a link from a place of one's own, and not to be made at all below it.
            fs::create_directory_symlink(path, directory / "link");
            expect_refused(directory / "link", open);
            fs::remove(directory / "link");
            if (open == above) expect_refused(above / "new/cache", open);
            ASSERT_EQ(::chmod(open.c_str(), 0700), 0);
        }
    for (const mode_t mode : {0700, 0755, 0500, 01777}) {
        ASSERT_EQ(::chmod(above.c_str(), mode), 0);
        EXPECT_EQ(disk_cache(path, plenty).load(key_of(1)), payload_of(1, 64)) << std::oct << mode;
    }
}

TEST(B5_disk_cache, is_not_used_where_another_user_owns_a_directory_or_link_of_its_path) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
    const scratch_directory directory;
    const fs::path above = directory / "above", path = above / "cache", link = directory / "link";
    disk_cache(path, plenty).store(key_of(1), payload_of(1, 64));
    fs::create_directory_symlink("above/../above/cache", link);
    EXPECT_EQ(disk_cache(link, plenty).load(key_of(1)), payload_of(1, 64));
    for (const fs::path& given : {path, above, link}) {
        SCOPED_TRACE(given.string());
        ASSERT_EQ(::lchown(given.c_str(), nobody, nobody), 0);
        disk_cache cache(given == link ? link : path, plenty);
        testing::internal::CaptureStderr();
        EXPECT_FALSE(cache.load(key_of(1)));
        EXPECT_NE(testing::internal::GetCapturedStderr().find("user 65534"), std::string::npos);
        EXPECT_FALSE(cache.enabled());
        ASSERT_EQ(::lchown(given.c_str(), 0, 0), 0);
    }
    EXPECT_EQ(disk_cache(link, plenty).load(key_of(1)), payload_of(1, 64));
}

TEST(B5_disk_cache, without_a_directory_it_is_off) {
    disk_cache cache(std::nullopt, plenty);
    EXPECT_FALSE(cache.enabled());
    cache.store(key_of(1), payload_of(1, 64));
    EXPECT_FALSE(cache.load(key_of(1)));
    EXPECT_TRUE(cache.list().empty());
    EXPECT_EQ(cache.size().entries, 0u);
    EXPECT_EQ(cache.clear(), 0u);
    EXPECT_EQ(cache.counts().misses, 1u);
    EXPECT_EQ(cache.counts().failed_writes, 0u);
}

TEST(B5_disk_cache, a_directory_that_cannot_be_used_keeps_nothing) {
    const scratch_directory directory;
    overwrite(directory / "file", "in the way");
    fs::create_symlink(directory / "loop", directory / "loop");
    fs::create_symlink("nowhere/at/all", directory / "dangling");
    for (const fs::path& unusable :
         {directory / "file", directory / "file/below", directory / "loop", directory / "dangling",
          fs::path("/proc/balm"), fs::path("/proc/self"), fs::path("/dev/full"), fs::path("/dev/null/cache"),
          directory / std::string(300, 'x'), fs::path("")}) {
        EXPECT_EQ(behaves_without_keeping(unusable), passed) << unusable;
    }
    EXPECT_EQ(content_of_file(directory / "file"), "in the way");
}

TEST(B5_disk_cache, a_directory_reached_by_a_link_is_fine) {
    const scratch_directory directory;
    fs::create_directory(directory / "scratch");
    fs::create_directory_symlink(directory / "scratch", directory / "cache");
    disk_cache cache(directory / "cache", plenty);
    cache.store(key_of(1), payload_of(1, 64));
    EXPECT_EQ(cache.load(key_of(1)), payload_of(1, 64));
}

TEST(B5_disk_cache, a_read_only_directory_still_gives_but_keeps_nothing) {
    const scratch_directory directory;
    const fs::path cache_path = directory / "cache";
    const auto body = [&] {
        // Root is stopped by no permission, so the child is somebody else.
        if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) return not_possible_here;
        disk_cache writer(cache_path, plenty);
        writer.store(key_of(1), payload_of(1, 64));
        if (::chmod(cache_path.c_str(), 0500) != 0) return 1;
        disk_cache cache(cache_path, plenty);
        if (cache.load(key_of(1)) != payload_of(1, 64)) return 2;
        cache.store(key_of(2), payload_of(2, 64));
        if (cache.load(key_of(2)) || cache.counts().failed_writes != 1) return 3;
        if (::chmod(cache_path.c_str(), 0) != 0) return 4;
        if (cache.load(key_of(1)) || cache.load(key_of(2)) || cache.counts().damaged != 2) return 5;
        cache.store(key_of(2), payload_of(2, 64));
        if (!cache.list().empty() || cache.clear() != 0) return 6;
        ::chmod(cache_path.c_str(), 0700);
        if (::chmod(file_of(cache_path, key_of(1)).c_str(), 0) != 0) return 7;
        if (cache.load(key_of(1))) return 8;
        cache.store(key_of(1), payload_of(1, 64));
        return cache.load(key_of(1)) == payload_of(1, 64) ? passed : 9;
    };
    ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
    const int status = wait_for(start_child(body));
    if (status == not_possible_here) GTEST_SKIP() << "this process may not become another user";
    EXPECT_EQ(status, passed);
}

TEST(B5_disk_cache, another_users_directory_keeps_nothing) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    const scratch_directory directory;
    disk_cache(directory.path(), plenty).store(key_of(1), payload_of(1, 64));
    ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
    const int status = wait_for(start_child([&] {
        if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) return not_possible_here;
        disk_cache cache(directory.path(), plenty);
        if (cache.load(key_of(1))) return 1;
        cache.store(key_of(1), payload_of(1, 64));
        return cache.counts().failed_writes == 1 ? passed : 2;
    }));
    if (status == not_possible_here) GTEST_SKIP() << "this process may not become another user";
    EXPECT_EQ(status, passed);
    EXPECT_EQ(disk_cache(directory.path(), plenty).load(key_of(1)), payload_of(1, 64));
}

TEST(B5_disk_cache, a_limit_on_file_sizes_keeps_nothing_and_spares_the_process) {
    for (auto action : {SIG_IGN, SIG_DFL}) {
        const scratch_directory directory;
        const int status = wait_for(start_child([&] {
            ::signal(SIGXFSZ, action);
            const rlimit limit{1000, 1000};
            if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return not_possible_here;
            return behaves_without_keeping(directory.path());
        }));
        EXPECT_EQ(status, passed);
        EXPECT_TRUE(fs::is_empty(directory.path()));
    }
}

TEST(B5_disk_cache, too_few_file_descriptors_keep_nothing) {
    const scratch_directory directory;
    EXPECT_EQ(wait_for(start_child([&] {
                  const rlimit limit{0, 0};
                  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 5;
                  return behaves_without_keeping(directory.path());
              })),
              passed);
}

// A file system of 64 KiB, seen by the child alone, filled and then made read-only.
TEST(B5_disk_cache, a_full_and_a_read_only_disk_keep_nothing_new) {
    const scratch_directory directory;
    const int status = wait_for(start_child([&] {
        if (!get_private_mounts()) return not_possible_here;
        const char* path = directory.path().c_str();
        if (::mount("balm", path, "tmpfs", 0, "size=64k") != 0) return not_possible_here;
        disk_cache cache(directory.path(), plenty);
        cache.store(key_of(1), payload_of(1, 20000));
        cache.store(key_of(2), payload_of(2, 100000));
        if (cache.counts().writes != 1 || cache.counts().failed_writes != 1) return 1;
        if (cache.load(key_of(2)) || !temporaries_in(directory.path()).empty()) return 2;
        cache.store(key_of(1), payload_of(1, 60000));
        if (cache.load(key_of(1)) != payload_of(1, 20000)) return 3;
        if (::mount("balm", path, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") != 0) return not_possible_here;
        cache.store(key_of(3), payload_of(3, 10));
        if (cache.counts().failed_writes != 3 || cache.load(key_of(3))) return 4;
        return cache.load(key_of(1)) == payload_of(1, 20000) ? passed : 5;
    }));
    if (status == not_possible_here) GTEST_SKIP() << "this process may not mount";
    EXPECT_EQ(status, passed);
}

// Each process is a cold start: look, compile if nothing is there, keep; payloads large enough to be
// written in parts, all processes in the same order, so that they meet at each key.
TEST(B5_disk_cache, thirty_two_processes_start_cold_at_once) {
    constexpr int processes = 32;
    constexpr std::uint64_t shared_keys = 12;
    const scratch_directory directory;
    const auto size_of = [](std::uint64_t number) {
        return static_cast<std::size_t>(1000 + 90001 * (number % 5));
    };
    const auto statuses = run_at_once(processes, [&](int process) {
        disk_cache cache(directory / "cache", plenty);
        for (std::uint64_t turn = 0; turn < 2 * shared_keys; ++turn) {
            const std::uint64_t own = 1000 + static_cast<std::uint64_t>(process);
            const std::uint64_t number = turn % 2 == 0 ? turn / 2 : own * 1000 + turn;
            const bytes compiled = payload_of(number, size_of(number));
            const auto found = cache.load(key_of(number));
            if (found && *found != compiled) return 1;
            if (!found) cache.store(key_of(number), compiled, "kernel");
            if (cache.load(key_of(number)) != compiled) return 2;
        }
        return cache.counts().damaged == 0 && cache.counts().failed_writes == 0 ? passed : 3;
    });
    EXPECT_EQ(statuses, std::vector<int>(processes, passed));

    disk_cache cache(directory / "cache", plenty);
    EXPECT_EQ(cache.size().entries, shared_keys + processes * shared_keys);
    EXPECT_TRUE(temporaries_in(directory / "cache").empty());
    for (const auto& entry : cache.list()) EXPECT_FALSE(entry.damaged);
}

TEST(B5_disk_cache, sixteen_processes_in_a_full_cache_read_whole_entries_or_none) {
    constexpr int processes = 16;
    constexpr std::uint64_t limit = 200000;
    const scratch_directory directory;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto statuses = run_at_once(processes, [&](int process) {
        disk_cache cache(directory.path(), limit);
        std::mt19937 random(seed + static_cast<unsigned>(process));
        for (int turn = 0; turn < 200; ++turn) {
            const std::uint64_t number = random() % 40;
            const bytes compiled = payload_of(number, 500 * (number + 1));
            const auto found = cache.load(key_of(number));
            if (found && *found != compiled) return 1;
            if (!found) cache.store(key_of(number), compiled);
            if (turn % 50 == 49 && process == 0) cache.clear();
        }
        return cache.counts().damaged == 0 ? passed : 2;
    });
    EXPECT_EQ(statuses, std::vector<int>(processes, passed));
    disk_cache cache(directory.path(), limit);
    cache.store(key_of(100), payload_of(100, 100));
    EXPECT_LE(cache.size().bytes, limit);
}

TEST(B5_disk_cache, threads_share_one_cache) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), 150000);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 8; ++id) {
        threads.emplace_back([&cache, &wrong, id] {
            for (unsigned turn = 0; turn < 100; ++turn) {
                const std::uint64_t number = (turn * 7 + id) % 30;
                const bytes compiled = payload_of(number, 10000);
                const auto found = cache.load(key_of(number));
                if (found && *found != compiled) ++wrong;
                if (!found) cache.store(key_of(number), compiled);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0);
    const auto counts = cache.counts();
    EXPECT_EQ(counts.hits + counts.misses, 800u);
    EXPECT_EQ(counts.damaged, 0u);
    EXPECT_LE(cache.size().bytes, 150000u);
}

TEST(B5_disk_cache, killed_writers_leave_whole_entries_or_none) {
    const scratch_directory directory;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int turn = 0; turn < 30; ++turn) {
        const pid_t writer = start_child([&] {
            disk_cache cache(directory.path(), plenty);
            for (std::uint64_t number = 0;; ++number) {
                cache.store(key_of(number % 4), payload_of(number % 4, 400000), "kernel");
            }
            return passed;
        });
        ::usleep(2000 + random() % 20000);
        ::kill(writer, SIGKILL);
        EXPECT_EQ(wait_for(writer), -SIGKILL);
        disk_cache cache(directory.path(), plenty);
        for (std::uint64_t number = 0; number < 4; ++number) {
            const auto found = cache.load(key_of(number));
            EXPECT_TRUE(!found || *found == payload_of(number, 400000));
        }
        EXPECT_EQ(cache.counts().damaged, 0u);
    }
}

TEST(B5_disk_cache, sweeps_temporaries_of_killed_writers_after_an_hour) {
    const scratch_directory directory;
    const std::string entry = to_hex(key_of(1)) + ".bin";
    const fs::path stale = directory / (entry + ".host-1-1-0.tmp");
    const fs::path fresh = directory / (entry + ".host-1-2-0.tmp");
    const fs::path foreign = directory / "thesis.tmp";
    for (const fs::path& file : {stale, fresh, foreign}) overwrite(file, "half an entry");
    for (const fs::path& file : {stale, foreign}) age(file, std::chrono::minutes(61));
    disk_cache(directory.path(), plenty).store(key_of(2), payload_of(2, 64));
    EXPECT_FALSE(fs::exists(stale));
    EXPECT_TRUE(fs::exists(fresh));
    EXPECT_TRUE(fs::exists(foreign));
}

TEST(B5_disk_cache, evicts_the_least_recently_used_to_stay_below_the_limit) {
    const scratch_directory directory;
    constexpr std::uint64_t limit = 100000;
    disk_cache cache(directory.path(), limit);
    for (std::uint64_t number = 0; number < 9; ++number) {
        cache.store(key_of(number), payload_of(number, 10000));
        age(file_of(directory.path(), key_of(number)), std::chrono::minutes(1000 - 10 * number));
    }
    EXPECT_EQ(cache.counts().evicted, 0u);
    EXPECT_TRUE(cache.load(key_of(0))) << "now the most recently used";
    disk_cache later(directory.path(), limit);
    later.store(key_of(9), payload_of(9, 10000));
    EXPECT_TRUE(later.load(key_of(0)));
    EXPECT_FALSE(later.load(key_of(1))) << "the oldest";
    EXPECT_TRUE(later.load(key_of(8)));
    EXPECT_TRUE(later.load(key_of(9)));
    EXPECT_GE(later.counts().evicted, 1u);

    for (std::uint64_t number = 10; number < 60; ++number) {
        later.store(key_of(number), payload_of(number, 1000 * (number % 20)));
        EXPECT_LE(later.size().bytes, limit);
        EXPECT_TRUE(later.load(key_of(number)));
    }
}

TEST(B5_disk_cache, does_not_keep_what_is_larger_than_the_limit) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), 5000);
    cache.store(key_of(1), payload_of(1, 1000));
    cache.store(key_of(2), payload_of(2, 5000));
    EXPECT_FALSE(cache.load(key_of(2)));
    EXPECT_TRUE(cache.load(key_of(1))) << "and evicts nothing for it";
    EXPECT_EQ(cache.counts().failed_writes, 1u);
    disk_cache none(directory.path(), 0);
    none.store(key_of(3), payload_of(3, 10));
    EXPECT_EQ(none.counts().failed_writes, 1u);
}

TEST(B5_disk_cache, never_removes_what_is_not_its_own) {
    const scratch_directory directory;
    for (const char* name : {"thesis.bin", "0123.bin", "notes.txt", "0123456789abcdef0123456789ABCDEF.bin"}) {
        overwrite(directory / name, std::string(5000, 'x'));
        age(directory / name, std::chrono::hours(1000));
    }
    disk_cache cache(directory.path(), 3000);
    cache.store(key_of(1), payload_of(1, 1000));
    cache.store(key_of(2), payload_of(2, 2000));
    EXPECT_EQ(cache.clear(), 1u);
    EXPECT_EQ(list_files(directory.path()).size(), 4u);
}

TEST(B5_disk_cache, survives_the_removal_of_its_directory) {
    const scratch_directory directory;
    disk_cache cache(directory / "cache", plenty);
    cache.store(key_of(1), payload_of(1, 64));
    fs::remove_all(directory / "cache");
    EXPECT_FALSE(cache.load(key_of(1)));
    cache.store(key_of(1), payload_of(1, 64));
    EXPECT_EQ(cache.load(key_of(1)), payload_of(1, 64));
}

TEST(B5_disk_cache, lists_sizes_and_clears) {
    const scratch_directory directory;
    disk_cache cache(directory.path(), plenty);
    cache.store(key_of(1), payload_of(1, 1000), "saxpy on\x1b[31m pocl\n");
    cache.store(key_of(2), payload_of(2, 2000), std::string(1000, 'd'));
    age(file_of(directory.path(), key_of(2)), std::chrono::minutes(60));
    overwrite(file_of(directory.path(), key_of(3)), "rubbish");
    age(file_of(directory.path(), key_of(3)), std::chrono::minutes(120));

    const auto entries = cache.list();
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].key, key_of(1));
    EXPECT_EQ(entries[0].description, "saxpy on [31m pocl ") << "safe to print";
    EXPECT_EQ(entries[1].key, key_of(2));
    EXPECT_EQ(entries[1].description, std::string(256, 'd'));
    EXPECT_FALSE(entries[1].damaged);
    EXPECT_EQ(entries[2].key, key_of(3));
    EXPECT_TRUE(entries[2].damaged);
    EXPECT_EQ(entries[2].description, "");

    const auto total = cache.size();
    EXPECT_EQ(total.entries, 3u);
    EXPECT_EQ(total.bytes, entries[0].bytes + entries[1].bytes + entries[2].bytes);
    EXPECT_EQ(cache.clear(), 3u);
    EXPECT_EQ(cache.size().entries, 0u);
    EXPECT_FALSE(cache.load(key_of(1)));
}

/// 0, or the number of what is wrong.
int settings_from_the_environment() {
    ::unsetenv("BALM_CACHE");
    ::unsetenv("BALM_CACHE_SIZE");
    ::setenv("BALM_CACHE_DIR", "/some/where", 1);
    auto settings = disk_cache_settings_from_environment();
    if (settings.directory != fs::path("/some/where")) return 1;
    if (settings.limit_bytes != std::uint64_t{512} << 20) return 2;
    ::setenv("BALM_CACHE_SIZE", "3", 1);
    if (disk_cache_settings_from_environment().limit_bytes != 3u << 20) return 3;
    for (const char* odd : {"", "many", "-1", "3x", "99999999999999999999", "18446744073709551615"}) {
        ::setenv("BALM_CACHE_SIZE", odd, 1);
        if (disk_cache_settings_from_environment().limit_bytes != 512u << 20) return 4;
    }
    ::setenv("BALM_CACHE", "1", 1);
    if (!disk_cache_settings_from_environment().directory) return 5;
    ::setenv("BALM_CACHE", "0", 1);
    if (disk_cache_settings_from_environment().directory) return 6;
    return default_cache().enabled() || &default_cache() != &default_cache() ? 7 : passed;
}

TEST(B5_disk_cache, takes_its_settings_from_the_environment) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // a fresh process, which has not asked yet
    EXPECT_EXIT(::_exit(settings_from_the_environment()), testing::ExitedWithCode(passed), "");
}

}  // namespace

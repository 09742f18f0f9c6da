// `balm cache`: lists, sizes and clears the disk cache of compiled kernels. In: the directory that the
// environment names. Out: a list, a size, or an empty cache.

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "runtime/program/disk_cache.hpp"
#include "terminal/terminal.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;
using runtime::disk_cache;

/// Directory, limit and size of the cache; callers add the entries.
json cache_as_json(const disk_cache& cache) {
    const disk_cache::total total = cache.size();
    const auto refusal = cache.refusal();
    return {{"directory", cache.directory() ? json(cache.directory()->string()) : json(nullptr)},
            {"refused", refusal ? json(*refusal) : json(nullptr)},
            {"limit_bytes", cache.limit_bytes()},
            {"count", total.entries},
            {"bytes", total.bytes}};
}

/// A description split in two: "scale on device 'x' (opencl)" is the kernel `scale` on "'x' (opencl)".
/// Without a device, all of it is the kernel.
struct described {
    std::string kernel, device;

    explicit described(const std::string& description) {
        constexpr std::string_view between = " on device ";
        const std::size_t at = description.rfind(between);
        kernel = description.substr(0, at);
        if (at != std::string::npos) device = description.substr(at + between.size());
    }
};

std::string in_utc(std::time_t when) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(when)); }

/// The time when the entry was compiled, if the file system records it.
std::optional<std::time_t> compile_time(const disk_cache& cache, const disk_cache::entry& e) {
    struct statx about {};
    const std::filesystem::path file = *cache.directory() / (to_hex(e.key) + ".bin");
    const bool is_known = ::statx(AT_FDCWD, file.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &about) == 0 &&
                          (about.stx_mask & STATX_BTIME) != 0;
    if (!is_known) return std::nullopt;
    return static_cast<std::time_t>(about.stx_btime.tv_sec);
}

json entry_as_json(const disk_cache& cache, const disk_cache::entry& e) {
    const described words(e.description);
    const auto compiled = compile_time(cache, e);
    return {{"key", to_hex(e.key)},
            {"description", e.description},
            {"kernel", words.kernel},
            {"device", words.device},
            {"bytes", e.bytes},
            {"compiled", compiled ? json(in_utc(*compiled)) : json(nullptr)},
            {"last_used", in_utc(std::chrono::system_clock::to_time_t(e.last_used))},
            {"uses", e.uses},
            {"damaged", e.damaged}};
}

void print_place(const disk_cache& cache) {
    if (!cache.directory()) {
        fmt::print("The cache is off: BALM_CACHE=0 is set, or there is no directory for it.\n");
        return;
    }
    const disk_cache::total total = cache.size();
    fmt::print("{} in {}, {} of at most {}\n", counted(total.entries, "kernel"), cache.directory()->string(),
               in_bytes(total.bytes), in_bytes(cache.limit_bytes()));
    if (const auto refusal = cache.refusal())
        fmt::print("{}, because other users could put code there: {}.\n", terminal::bad("It is not used"),
                   *refusal);
}

/// The time elapsed since then, in one unit: "3 h".
std::string age(std::time_t then) {
    const auto seconds = static_cast<long long>(std::max(0.0, std::difftime(std::time(nullptr), then)));
    if (seconds < 120) return fmt::format("{} s", seconds);
    if (seconds < 7200) return fmt::format("{} min", seconds / 60);
    if (seconds < 172800) return fmt::format("{} h", seconds / 3600);
    return fmt::format("{} days", seconds / 86400);
}

/// One line per kernel, most recently used first.
void print_list(const disk_cache& cache, const std::vector<disk_cache::entry>& entries) {
    constexpr std::size_t key_digits = 12;  // enough to tell files apart; --json has all
    std::vector<std::vector<std::string>> rows{{"kernel", "device", "age", "used", "uses", "bytes", "key"}};
    for (const disk_cache::entry& e : entries) {
        const described words(e.damaged ? "(damaged: it will be compiled again)" : e.description);
        const auto compiled = compile_time(cache, e);
        rows.push_back({words.kernel, words.device, compiled ? age(*compiled) : "unknown",
                        age(std::chrono::system_clock::to_time_t(e.last_used)), std::to_string(e.uses),
                        std::to_string(e.bytes), to_hex(e.key).substr(0, key_digits)});
    }
    print_table(rows, "<<>>>><");
}

int list(bool as_json) {
    const disk_cache& cache = runtime::default_cache();
    if (as_json) {
        json whole = cache_as_json(cache);
        whole["entries"] = json::array();
        for (const disk_cache::entry& e : cache.list()) whole["entries"].push_back(entry_as_json(cache, e));
        print_json(whole);
        return 0;
    }
    print_place(cache);
    const auto entries = cache.list();
    if (!entries.empty()) print_list(cache, entries);
    return 0;
}

int size(bool as_json) {
    const disk_cache& cache = runtime::default_cache();
    if (as_json)
        print_json(cache_as_json(cache));
    else
        print_place(cache);
    return 0;
}

int clear(bool as_json) {
    disk_cache& cache = runtime::default_cache();
    const std::uint64_t removed = cache.clear();
    if (as_json) {
        json whole = cache_as_json(cache);
        whole["removed"] = removed;
        print_json(whole);
    } else {
        fmt::print("{} removed\n", counted(removed, "file"));
        print_place(cache);
    }
    return 0;
}

}  // namespace

command add_cache(CLI::App& balm) {
    CLI::App* const line =
        balm.add_subcommand("cache", "List, size or clear the disk cache of compiled kernels");
    const auto as_json = std::make_shared<bool>(false);
    add_json_flag(*line, *as_json);
    line->require_subcommand(0, 1);
    line->add_subcommand("list",
                         "Every kernel: name, device, age, last use, uses, size and key (the default)");
    const CLI::App* const size_line = line->add_subcommand("size", "The size of the cache on disk");
    const CLI::App* const clear_line = line->add_subcommand("clear", "Remove every kernel");
    for (CLI::App* each : line->get_subcommands({})) add_json_flag(*each, *as_json);
    return {line, [=] {
                if (size_line->parsed()) return size(*as_json);
                if (clear_line->parsed()) return clear(*as_json);
                return list(*as_json);
            }};
}

}  // namespace balm::tool

// `balm cache`: what the disk cache of compiled kernels holds, how large it is, and emptying it. In: the
// directory that the environment names. Out: a list, a size, or nothing left.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"
#include "runtime/program/disk_cache.hpp"

namespace balm::tool {

namespace {

using json = nlohmann::ordered_json;
using runtime::disk_cache;

/// Where the cache is and what it may take; the entries are added.
json cache_as_json(const disk_cache& cache) {
    const disk_cache::total total = cache.size();
    const auto refusal = cache.refusal();
    return {{"directory", cache.directory() ? json(cache.directory()->string()) : json(nullptr)},
            {"refused", refusal ? json(*refusal) : json(nullptr)},
            {"limit_bytes", cache.limit_bytes()},
            {"count", total.entries},
            {"bytes", total.bytes}};
}

json entry_as_json(const disk_cache::entry& e) {
    const std::time_t used = std::chrono::system_clock::to_time_t(e.last_used);
    return {{"key", to_hex(e.key)},
            {"description", e.description},
            {"bytes", e.bytes},
            {"last_used", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(used))},
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
        fmt::print("It is not used, since others could put code there: {}.\n", *refusal);
}

void print_entry(const disk_cache::entry& e) {
    const std::time_t used = std::chrono::system_clock::to_time_t(e.last_used);
    fmt::print("{}  {:>9}  {:%Y-%m-%d %H:%M}  {}\n", to_hex(e.key), e.bytes, fmt::localtime(used),
               e.damaged ? "(damaged: it will be compiled again)" : e.description);
}

int list(bool as_json) {
    const disk_cache& cache = runtime::default_cache();
    if (as_json) {
        json whole = cache_as_json(cache);
        whole["entries"] = json::array();
        for (const disk_cache::entry& e : cache.list()) whole["entries"].push_back(entry_as_json(e));
        print_json(whole);
        return 0;
    }
    print_place(cache);
    const auto entries = cache.list();
    if (!entries.empty()) fmt::print("{:64}  {:>9}  {:16}  kernel and device\n", "key", "bytes", "last used");
    for (const disk_cache::entry& e : entries) print_entry(e);
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
        balm.add_subcommand("cache", "The disk cache of compiled kernels: list, size, clear");
    const auto as_json = std::make_shared<bool>(false);
    add_json_flag(*line, *as_json);
    line->require_subcommand(0, 1);
    line->add_subcommand("list", "Every kernel: key, size, last use, name and device (the default)");
    const CLI::App* const size_line = line->add_subcommand("size", "What the cache takes on the disk");
    const CLI::App* const clear_line = line->add_subcommand("clear", "Remove every kernel");
    for (CLI::App* each : line->get_subcommands({})) add_json_flag(*each, *as_json);
    return {line, [=] {
                if (size_line->parsed()) return size(*as_json);
                if (clear_line->parsed()) return clear(*as_json);
                return list(*as_json);
            }};
}

}  // namespace balm::tool

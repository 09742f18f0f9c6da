// How a process may end while Balm is at work: `exits` ends in every way with every kind of work in flight,
// on a cold and on a warm cache, and says nothing but what is expected here. BALM_TEST_CASES=540 is all of
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/case_count.hpp"
#include "support/child_process.hpp"
#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using lines = std::vector<std::string>;

struct way {
    const char* name;
    int status;
    lines says;
    int starts = 1;            ///< how often the work is, one after the other; -1: nobody knows
    bool shows_prints = true;  ///< handlers run, so that what kernels print is shown
    int processes = 1;         ///< that start it
};

const way ways[] = {
    {"return", 0, {}},
    {"exit", 7, {}},
    {"quick_exit", 7, {"quick handler right"}, 1, false},
    {"_exit", 7, {}, 1, false},
    {"abort", 128 + SIGABRT, {}, 1, false},
    {"throw", 128 + SIGABRT, {}, 1, false},
    {"handler_first", 0, {"main right", "atexit right"}},
    {"handler_last", 0, {"main right", "atexit right"}},
    {"handler_alone", 0, {"atexit right", "atexit right"}, 0},
    {"static_objects",
     0,
     {"main right", "main right", "static after right", "static before right", "namespace right"}},
    {"compile_late", 0, {"late gone"}},
    {"launch_late", 0, {"late right"}},
    {"thread_objects",
     0,
     {"main right", "other thread right", "other thread after right", "other thread before right",
      "thread after right", "thread before right"},
     2},
    {"detached_threads", 0, {}},
    {"exit_from_thread", 7, {}},
    {"exit_while_threads_begin", 7, {"main right"}, -1},
    {"begin_without_files", 0, {"no files", "main right"}},
    {"limit_memory", 0, {"main right"}, 0},
    {"signal", 128 + SIGTERM, {}, 1, false},
    {"signal_with_exit", 7, {}},
    {"fork_and_use",
     0,
     {"parent right", "array refused", "new expression refused", "reduction refused", "kernel refused",
      "read refused", "write refused", "map refused", "vector refused", "queue refused", "context refused",
      "finish refused", "event refused", "child 0", "parent right"}},
    {"fork_and_destroy", 0, {"child 0", "sum 4000"}},
    {"fork_and_exit", 0, {"parent right", "parent refused", "child 0", "parent right"}},
    {"fork_and__exit", 0, {"child 0"}},
    {"fork_and_exec", 0, {"main right", "atexit right", "child 0", "parent right"}},
    {"fork_before_use", 0, {"child right", "child 0", "parent right"}, 1, true, 2},
    {"fork_while_threads_work", 0,
     [] {
         lines twenty;
         for (int k = 0; k < 20; ++k) twenty.insert(twenty.end(), {"array refused", "child 0"});
         return twenty;
     }()},
    {"close_library", 0, {"plugin right", "plugin right"}},
    {"close_library_after_thread", 0, {"plugin right"}},
    {"close_libraries", 0, {"plugin right", "plugin right", "plugin right", "main right"}},
};
constexpr std::size_t way_count = std::size(ways);
/// Of threads that do one thing over and over, and do not hear that the process ends.
const way busy_ends[] = {
    {"return", 3, {}},     {"return_after_use", 3, {"main right"}},
    {"exit", 7, {}},       {"exit_from_thread", 7, {}},
    {"quick_exit", 7, {}}, {"join", 3, {}},
};
constexpr const char* busy_works[] = {
    "launch",   "launch_on_own_queue", "launch_other_shapes", "compute",   "compile", "allocate",
    "transfer", "wait_for_events",     "wait_for_ever",       "call_back", "show",    "begin_again"};
constexpr std::size_t busy_end_count = std::size(busy_ends), busy_work_count = std::size(busy_works);
/// Threads that a static object joins find no compiler any more, and wait for events that fail at the end.
bool may_be_joined(std::string_view work) {
    return work == "launch" || work == "launch_on_own_queue" || work == "compute" || work == "allocate" ||
           work == "transfer" || work == "wait_for_events" || work == "call_back";
}

/// Another thread than main's must not call exit while others compile for the first time (docs/devices.md),
/// which these always do; and it does not get there behind commands that others enqueue without waiting.
bool may_exit_from_thread(std::string_view work) {
    return work != "compile" && work != "begin_again" && work != "allocate";
}

/// With three of PoCL's devices.
const way ways_of_several[] = {
    {"compile_late_on_several", 0, {"late gone"}},
    {"several_devices", 0, {"main right", "3 devices", "after right", "before right"}},
};

struct work {
    const char* name;
    int steps_before_print;  ///< of the array that is printed; -1: nothing is
};
constexpr work works[] = {{"nothing", -1}, {"arrays", -1},   {"reductions", -1},
                          {"kernels", -1}, {"prints", 0},    {"callbacks", -1},
                          {"gates", -1},   {"products", -1}, {"all", 50}};
constexpr std::size_t work_count = std::size(works);

/// What the kernel prints, of an array that begins with 1 and becomes 3 x + 2 in each step.
lines printed(const work& of, const way& by) {
    lines all;
    if (of.steps_before_print < 0 || !by.shows_prints) return all;
    std::uint32_t value = 1;
    for (int k = 0; k < by.starts * by.processes; ++k) {
        if (k % by.starts == 0) value = 1;
        for (int step = 0; step < of.steps_before_print; ++step) value = 3 * value + 2;
        for (int item = 0; item < 3; ++item)
            all.push_back("work-item " + std::to_string(item) + ": " +
                          std::to_string(static_cast<std::int32_t>(value)));
    }
    return all;
}

/// The caches of one process, or of several one after the other.
lines caches_in(const scratch_directory& folder, const std::string& name) {
    return {"BALM_CACHE=1", "BALM_CACHE_DIR=" + (folder / (name + "_balm")).string(),
            "POCL_CACHE_DIR=" + (folder / (name + "_pocl")).string()};
}

/// CUDA's driver may have shut down where others still work: there one is as good as the other.
lines on_this_device(lines said) {
    if (present_devices().front().info().api == backend::cuda)
        for (std::string& each : said)
            if (each.ends_with(" gone")) each.replace(each.size() - 4, 4, "right");
    return said;
}

void expect_end(const way& how, const work& what, const lines& variables) {
    const process_end end = run_program("exits", {how.name, what.name}, variables, std::chrono::seconds(120));
    EXPECT_TRUE(end.is_in_time) << "it hangs";
    EXPECT_EQ(end.status, how.status);
    EXPECT_EQ(end.err, "");
    lines said, shown;
    std::istringstream all(end.out);
    for (std::string line; std::getline(all, line);)
        (line.starts_with("work-item ") ? shown : said).push_back(line);
    EXPECT_EQ(on_this_device(said), on_this_device(how.says));
    if (how.starts >= 0) {
        EXPECT_EQ(shown, printed(what, how));
    }
}

}  // namespace

/// Case k is a way, work and cache that the seed and k tell, so that as many cases as there are combinations
/// are each once.
TEST(B5_exits, is_orderly_in_every_way_with_everything_in_flight) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const scratch_directory folder;
    for (std::size_t k = 0; k < case_count(way_count); ++k) {
        const way& how = ways[k % way_count];
        const std::size_t other = seed() + k / way_count + k % way_count * 5;
        const work& what = works[other % work_count];
        const bool is_cold = other / work_count % 2 == 0;
        SCOPED_TRACE("case " + std::to_string(k) + ": exits " + how.name + ' ' + what.name +
                     (is_cold ? ", cold cache" : ", warm cache"));
        expect_end(how, what, caches_in(folder, is_cold ? std::to_string(k) : "warm"));
        if (HasFatalFailure()) return;
    }
}

/// Case k is an end, a work and a cache. BALM_TEST_CASES=144 is each of them once.
TEST(B5_exits, is_orderly_whatever_other_threads_do) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const scratch_directory folder;
    for (std::size_t k = 0; k < case_count(busy_work_count); ++k) {
        const std::size_t drawn = seed() + k, round = k / busy_work_count;
        const char* const what = busy_works[drawn % busy_work_count];
        const way& how = busy_ends[(drawn / busy_work_count + k + round) % busy_end_count];
        if (std::string_view(how.name) == "join" && !may_be_joined(what)) continue;
        if (std::string_view(how.name) == "exit_from_thread" && !may_exit_from_thread(what)) continue;
        const bool is_cold = (drawn + round / busy_end_count) % 2 == 0;
        SCOPED_TRACE("case " + std::to_string(k) + ": exits busy " + how.name + ' ' + what +
                     (is_cold ? ", cold cache" : ", warm cache"));
        const process_end end =
            run_program("exits", {"busy", how.name, what},
                        caches_in(folder, is_cold ? std::to_string(k) : "warm"), std::chrono::seconds(60));
        EXPECT_TRUE(end.is_in_time) << "it hangs";
        EXPECT_EQ(end.status, how.status);
        EXPECT_EQ(end.err, "");
        lines said;
        std::istringstream all(end.out);
        for (std::string line; std::getline(all, line);)
            if (!line.starts_with("work-item ")) said.push_back(line);
        EXPECT_EQ(said, how.says);
    }
}

TEST(B5_exits, is_orderly_with_several_devices) {
    if (!is_pocl_present()) GTEST_SKIP() << "no PoCL";
    const scratch_directory folder;
    for (const way& how : ways_of_several)
        for (const char* name : {"cold", "warm"}) {
            const work& what = works[seed() % work_count];
            SCOPED_TRACE(std::string("exits ") + how.name + ' ' + what.name + ", " + name + " cache");
            lines variables = caches_in(folder, how.name);
            variables.push_back("POCL_DEVICES=pthread pthread basic");
            expect_end(how, what, variables);
        }
}

}  // namespace balm::test

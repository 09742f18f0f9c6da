// The process's disk cache, in a process of its own each time.

#include <gtest/gtest.h>
#include <unistd.h>

#include "failures/allocations.hpp"
#include "runtime/program/disk_cache.hpp"

namespace balm::test {

namespace {

/// Exits with how often there was no memory for the cache before it was there; 99 where it stays off.
void use_until_it_is_there(int most) {
    for (int nth = 1; nth <= most; ++nth) {
        fail_allocation(static_cast<std::uint64_t>(nth));
        const bool is_there = runtime::default_cache().directory().has_value();
        const bool has_failed = allocation_has_failed();
        fail_allocation(0);
        if (is_there != !has_failed) ::_exit(98);
        if (is_there) ::_exit(runtime::default_cache().enabled() ? nth - 1 : 97);
    }
    ::_exit(99);
}

bool is_a_few(int status) { return WIFEXITED(status) && WEXITSTATUS(status) > 0 && WEXITSTATUS(status) < 90; }

TEST(B5_default_cache, is_tried_again_where_there_was_no_memory_for_it) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(use_until_it_is_there(90), is_a_few, "");
}

}  // namespace

}  // namespace balm::test

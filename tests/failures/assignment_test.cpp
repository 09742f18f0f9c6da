// A copy that finds no memory throws, also as a member of something else, and leaves both sides as they were.

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "balm/rare_list.hpp"
#include "failures/allocations.hpp"

namespace balm::test {

namespace {

/// Its own assignment is the compiler's, which takes noexcept from those of its members.
template <class T>
struct holder {
    T member;
};

template <class T>
void copy_without_memory(const T& from, const T& to) {
    const holder<T> source{from};
    holder<T> target{to};
    fail_allocation(1);
    EXPECT_THROW(target = source, std::bad_alloc);
    fail_allocation(0);
    target = source;
    static_assert(!noexcept(target = source));
    static_assert(noexcept(target = std::move(target)));
}

TEST(C4_assignment, of_a_host_array_throws_where_there_is_no_memory) {
    const host_array<int> ten(shape(10)), one{1};
    copy_without_memory(ten, one);
    host_array<int> own{1, 2, 3};
    const host_array<int>& same = own;
    own = same;
    EXPECT_EQ(own, (host_array<int>{1, 2, 3}));
}

TEST(C4_assignment, of_lists_throws_where_there_is_no_memory) {
    balm::detail::inline_vector<std::string, 2> many;
    for (int k = 0; k < 3; ++k) many.push_back("three do not lie inside the object");
    copy_without_memory(many, {});
    balm::detail::inline_vector<std::string, 2> own = many;
    const auto& same = own;
    own = same;
    EXPECT_EQ(own.size(), 3u);
    EXPECT_EQ(own[2], many[2]);

    balm::detail::rare_list<int> some;
    some.push_back(7);
    copy_without_memory(some, {});
}

TEST(G4_user_events, that_are_dropped_where_there_is_no_memory_fail) {
    event left;
    {
        const user_event dropped;
        left = dropped;
        fail_allocation(1);
    }
    fail_allocation(0);
    EXPECT_THROW(left.wait(), std::exception);
    {
        const user_event dropped;
        left = dropped;
    }
    EXPECT_THROW(left.wait(), usage_error);
}

}  // namespace

}  // namespace balm::test

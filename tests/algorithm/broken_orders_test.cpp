// Sorted-array algorithms that are given what they do not expect: comparisons that are no order, extreme
// elements, wide elements, the same arrays twice, no elements, targets that are read.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

#include "algorithm/sorted_arrays.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

struct wide_key {
    double key;
    double rest[127];
};
BALM_STRUCT(wide_key, key, rest)

namespace {

using namespace balm::dsl;

template <class Body>
void as_on_cpus_and_gpus(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        if (ctx.device(0).info().type != device_type::cpu) return;
        with_strategy({.strategy = sort_strategy::chunk_an_item, .chunk = 100}, "small tiles",
                      [&] { body(ctx); });
        with_strategy({.strategy = sort_strategy::chunk_a_group}, "tiles of groups", [&] { body(ctx); });
    });
}

/// A vector between others' elements, which must stay.
template <class T>
struct surrounded {
    static constexpr std::size_t around = 1024;
    surrounded(const context& ctx, std::size_t n)
        : memory(ctx, n + 2 * around, T(42)),
          size(n),
          own(as_vector(memory.elements().range(around, n + around))) {}
    void is_intact() const {
        const auto host = on_host(memory);
        for (std::size_t k = 0; k < around; ++k) {
            ASSERT_EQ(host[k], T(42));
            ASSERT_EQ(host[size + around + k], T(42));
        }
    }
    vector<T> memory;
    std::size_t size;
    vector<T> own;
};

TEST(V15_broken_orders, comparisons_that_are_no_order_touch_nothing_else) {
    auto random = seeded_random();
    const auto circular = function("circular", [](Int a, Int b) { return Bool(((a - b) & 3) == 1); });
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 9000), m = 1 + below(random, 9000);
        const vector<int> a(ctx, keys_of<int>(any_kind(random), random, n)),
            b(ctx, keys_of<int>(any_kind(random), random, m));
        surrounded<int> merged(ctx, n + m), set(ctx, n + m), small(ctx, 5);
        vector<std::int64_t> count(ctx, 1);
        merge_into(merged.own, a, b, circular);
        merged.is_intact();
        set_union_into(set.own, count, a, b, circular);
        set.is_intact();
        set_union_into(small.own, count, a, b, circular);
        small.is_intact();
        EXPECT_LE(std::int64_t{count[0]}, static_cast<std::int64_t>(n + m));
    });
}

template <class W>
std::vector<W> wide_ones(std::mt19937_64& random, std::size_t n, double first) {
    std::vector<W> made(n);
    for (std::size_t k = 0; k < n; ++k) {
        made[k].key = static_cast<double>(below(random, 20));
        for (std::size_t i = 0; i < std::size(made[k].rest); ++i)
            made[k].rest[i] = first + static_cast<double>(k * 1000 + i);
    }
    std::stable_sort(made.begin(), made.end(), [](const W& a, const W& b) { return a.key < b.key; });
    return made;
}
template <class W>
void wide_elements(const context& ctx, std::mt19937_64& random) {
    const auto lower = function("lower", [](Var<W> a, Var<W> b) { return Bool(a.key < b.key); });
    const auto ahead = [](const W& a, const W& b) { return a.key < b.key; };
    const auto a = wide_ones<W>(random, 1 + below(random, 150), 0),
               b = wide_ones<W>(random, 1 + below(random, 150), 1e6);
    std::vector<W> wanted(a.size() + b.size()), both;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), wanted.begin(), ahead);
    const vector<W> x(ctx, a), y(ctx, b);
    const auto same = [](const vector<W>& got, const std::vector<W>& expected) {
        const auto host = on_host(got);
        ASSERT_EQ(host.size(), expected.size());
        for (std::size_t k = 0; k < host.size(); ++k)
            ASSERT_EQ(std::memcmp(&host[k], &expected[k], sizeof(W)), 0) << k;
    };
    same(merge(x, y, lower), wanted);
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), ahead);
    same(set_union(x, y, lower), both);
    vector<W> all(ctx, wanted);
    sort(all, lower);
    same(all, wanted);
}
TEST(V15_broken_orders, elements_of_a_kilobyte) {
    auto random = seeded_random();
    as_on_cpus_and_gpus([&](const context& ctx) { wide_elements<wide_key>(ctx, random); });
}
TEST(V15_broken_orders, the_same_array_twice_and_nothing_on_both_sides) {
    on_all_contexts([&](const context& ctx) {
        vector<std::int64_t> a(ctx, {std::numeric_limits<std::int64_t>::min(), -1, 0, 0,
                                     std::numeric_limits<std::int64_t>::max()}),
            none(ctx, 0), into_none(ctx, 0), count(ctx, 1, -5);
        const auto host = on_host(a);
        expect_same(set_intersection(a, a), host);
        expect_same(set_union(a, a), host);
        expect_same(set_symmetric_difference(a, a), {});
        expect_same(set_difference(a, a), {});
        EXPECT_EQ(merge(a, a).size(), 10u);
        expect_same(merge(none, none), {});
        expect_same(set_union(none, none), {});
        set_union_into(into_none, count, none, none);
        EXPECT_EQ(std::int64_t{count[0]}, 0);
        set_union_into(into_none, count, a, none);
        EXPECT_EQ(std::int64_t{count[0]}, 5);
        set_intersection_into(into_none, count, none, a);
        EXPECT_EQ(std::int64_t{count[0]}, 0);
        merge_into(into_none, none, none);
        EXPECT_EQ(top_k(none, 0).values.size(), 0u);
        EXPECT_EQ(top_k(none, 0, ascending).positions.size(), 0u);
        EXPECT_THROW(nth_element(none, 0), usage_error);
        EXPECT_EQ(nth_element(a, 0), std::numeric_limits<std::int64_t>::min());
        EXPECT_EQ(nth_element(a, 0, descending), std::numeric_limits<std::int64_t>::max());
        EXPECT_EQ((top_k(a, 1).values[0]), std::numeric_limits<std::int64_t>::max());
        const vector<std::int64_t> offsets(ctx, {0}), two(ctx, {0, 0, 0});
        sort_segments(none, offsets);
        sort_segments(none, two, descending);
        expect_same(reduce_segments(offsets, none), {});
        expect_same(reduce_segments(two, none), {0, 0});
        // targets that are read, as views of one memory
        vector<std::int64_t> memory(ctx, 256, 1);
        // From a multiple of 512 bytes on, which all devices bind.
        const auto part = [&](std::size_t begin, std::size_t end) {
            return as_vector(memory.elements().range(begin, end));
        };
        vector<std::int64_t> left = part(64, 85), middle = part(64, 80), right = part(128, 149);
        EXPECT_THROW(merge_into(left, middle, a), usage_error);
        merge_into(right, middle, a);
        EXPECT_THROW(set_union_into(right, middle, a, a), usage_error);  // a count of 16 elements
        vector<std::int64_t> one = part(128, 129);
        EXPECT_THROW(set_union_into(right, one, a, a), usage_error);
        EXPECT_THROW(set_union_into(left, one, right, a), usage_error);
        // offsets that are extreme
        const vector<std::int64_t> wrong(ctx, {0, std::numeric_limits<std::int64_t>::max(), 5}),
            low(ctx, {0, std::numeric_limits<std::int64_t>::min(), 5});
        EXPECT_THROW(sort_segments(a, wrong), usage_error);
        EXPECT_THROW(reduce_segments(low, a), usage_error);
        const vector<std::uint64_t> huge(ctx, {0, ~std::uint64_t{0} - 3, 5});
        EXPECT_THROW(sort_segments(a, huge), usage_error);
        // keys and offsets, values alias
        vector<std::int64_t> x(ctx, {5, 3, 1, 4, 2}), at(ctx, {0, 2, 5});
        EXPECT_THROW(sort_segments_by_key(x, at, x), usage_error);
        sort_segments(at, vector<int>(ctx, {0, 3}), descending);
        expect_same(at, {5, 2, 0});
        vector<std::int64_t> self(ctx, {0, 1, 3});
        sort_segments(self, self, ascending);
        expect_same(self, {0, 1, 3});
    });
}

}  // namespace

}  // namespace balm::test

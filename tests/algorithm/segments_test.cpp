// Sorts and reductions of segments against loops over them on the host.

#include "balm/segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "balm/balm.hpp"
#include "segment_offsets.hpp"
#include "sort_ways.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
class V15_segments_types : public testing::Test {};
using segment_types = testing::Types<std::int8_t, std::uint32_t, std::int64_t, float, double, half, bool>;
TYPED_TEST_SUITE(V15_segments_types, segment_types);

TYPED_TEST(V15_segments_types, are_sorted_with_values) {
    using T = TypeParam;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n :
             {std::size_t{0}, std::size_t{1}, 1 + below(random, 300), 1 + below(random, 100000)}) {
            const sort_order order = any_order(random);
            SCOPED_TRACE(std::to_string(n) + (order == ascending ? " ascending" : " descending"));
            const std::vector<std::int32_t> offsets = offsets_of(random, n);
            const std::vector<T> x = keys_of<T>(any_kind(random), random, n);
            std::vector<std::size_t> places(n);
            std::iota(places.begin(), places.end(), std::size_t{0});
            std::vector<T> wanted;
            for_each_segment(offsets, [&](auto begin, auto end) {
                std::stable_sort(places.begin() + begin, places.begin() + end,
                                 [&](std::size_t a, std::size_t b) { return by<T>(order)(x[a], x[b]); });
                const std::vector<T> part =
                    sorted_on_host(std::vector<T>(x.begin() + begin, x.begin() + end), order);
                wanted.insert(wanted.end(), part.begin(), part.end());
            });
            const vector<std::int32_t> at(ctx, offsets);
            vector<T> keys(ctx, x.begin(), x.end());
            sort_segments(keys, at, order);
            const std::vector<T> got = on_host(keys);
            for_each_segment(offsets, [&](auto begin, auto end) {
                expect_sorted(std::vector<T>(got.begin() + begin, got.begin() + end),
                              std::vector<T>(wanted.begin() + begin, wanted.begin() + end));
            });
            if (std::any_of(x.begin(), x.end(), [](T each) { return is_nan<T>(each); })) continue;
            std::vector<unsigned> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 0u);
            vector<T> own(ctx, x.begin(), x.end());
            vector<unsigned> first(ctx, numbers);
            vector<double> second(ctx, n);
            if (n > 0) second = cast<double>(first);
            sort_segments_by_key(own, at, first, second, order);
            expect_same(own, wanted);
            expect_same(first, permuted(numbers, places));
            expect_same(second, std::vector<double>(places.begin(), places.end()));
        }
    });
}

TEST(V15_segments, are_reduced) {
    auto random = seeded_random();
    const auto last = function("last", [](dsl::Int a, dsl::Int b) { return select(b != -7, b, a); });
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n :
             {std::size_t{0}, std::size_t{1}, 1 + below(random, 300), 1 + below(random, 100000)}) {
            SCOPED_TRACE(n);
            const std::vector<std::int32_t> offsets = offsets_of(random, n);
            std::vector<int> x(n);
            for (int& each : x) each = 2 * (static_cast<int>(below(random, 1000)) - 500);
            std::vector<int> sums, greatest, lasts;
            for_each_segment(offsets, [&](auto begin, auto end) {
                sums.push_back(std::accumulate(x.begin() + begin, x.begin() + end, 0));
                greatest.push_back(begin == end ? std::numeric_limits<int>::min()
                                                : *std::max_element(x.begin() + begin, x.begin() + end));
                lasts.push_back(begin == end ? -7 : x[static_cast<std::size_t>(end - 1)]);
            });
            const vector<std::int32_t> at(ctx, offsets);
            const vector<int> v(ctx, x);
            expect_same(reduce_segments(at, v), sums);
            expect_same(reduce_segments(cast<std::int64_t>(at), max_of(v + 0)), greatest);
            expect_same(reduce_segments(at, fold_of(v, -7, last)), lasts);
            const std::vector<float> lowest = on_host(reduce_segments(at, min_of(cast<float>(v))));
            std::size_t k = 0;
            for_each_segment(offsets, [&](auto begin, auto end) {
                EXPECT_EQ(std::isnan(lowest[k]), begin == end);
                ++k;
            });
        }
    });
}

TEST(V15_segments, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, {3, 1, 2}), four(ctx, 4);
        const auto fault = [&](std::initializer_list<int> offsets) {
            return message_of<usage_error>([&] { sort_segments(x, vector<int>(ctx, offsets)); });
        };
        EXPECT_THAT(fault({}), HasSubstr("no offsets"));
        EXPECT_THAT(fault({1, 3}), HasSubstr("offsets from 1 to 3"));
        EXPECT_THAT(fault({0, 2}), HasSubstr("offsets from 0 to 2"));
        EXPECT_THAT(fault({0, 2, 1, 3}), HasSubstr("offsets[1] is 2, and offsets[2] is 1"));
        const vector<int> good(ctx, {0, 1, 3});
        EXPECT_THAT(message_of<usage_error>([&] { sort_segments_by_key(x, good, four); }),
                    HasSubstr("3 and 4 elements"));
        EXPECT_THAT(message_of<usage_error>([&] { reduce_segments(good, four); }),
                    HasSubstr("offsets from 0 to 3"));
        expect_same(x, {3, 1, 2});
    });
    if (present_devices().size() < 2) return;
    vector<int> x(context({present_devices()[0]}), {3, 1, 2});
    const vector<int> elsewhere(context({present_devices()[1]}), {0, 1, 3});
    EXPECT_THAT(message_of<usage_error>([&] { sort_segments(x, elsewhere); }), HasSubstr("the same device"));
}

TEST(V15_segments, of_three_devices) {
    run_on_three_devices("test_algorithm", "V15_segments_types/1.*:V15_segments.*");
}

}  // namespace

}  // namespace balm::test

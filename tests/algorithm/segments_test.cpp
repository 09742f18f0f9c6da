// Sorts and reductions of segments against loops over them on the host.

#include "balm/segments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
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
            wanted = as_expressions_store(wanted);
            const std::vector<T> got = as_expressions_store(on_host(keys));
            for_each_segment(offsets, [&](auto begin, auto end) {
                expect_same(std::vector<T>(got.begin() + begin, got.begin() + end),
                            std::vector<T>(wanted.begin() + begin, wanted.begin() + end));
            });
            std::vector<unsigned> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 0u);
            vector<T> own(ctx, x.begin(), x.end());
            vector<unsigned> first(ctx, numbers);
            vector<double> second(ctx, n);
            if (n > 0) second = cast<double>(first);
            sort_segments_by_key(own, at, first, second, order);
            expect_same(as_expressions_store(on_host(own)), wanted);
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

/// Many short segments around a few that several work-items of a CPU share.
std::vector<std::int64_t> offsets_around_long_ones(std::mt19937_64& random) {
    std::vector<std::int64_t> made{0};
    const std::size_t longest_short = 1 + below(random, 40);
    const auto add = [&](std::size_t length) {
        made.push_back(made.back() + static_cast<std::int64_t>(length));
    };
    for (std::size_t part = 0; part < 3; ++part) {
        for (std::size_t k = below(random, 10000); k > 0; --k) add(below(random, longest_short + 1));
        if (below(random, 4) > 0) add(30000 + below(random, 60000));
    }
    for (std::size_t k = below(random, 4); k > 0; --k) add(0);
    return made;
}

TEST(V15_segments, of_several_work_items) {
    auto random = seeded_random();
    const auto last = function("last", [](dsl::Int a, dsl::Int b) { return select(b != -100, b, a); });
    on_all_contexts([&](const context& ctx) {
        for (int round = 0; round < 3; ++round) {
            const std::vector<std::int64_t> offsets = offsets_around_long_ones(random);
            const auto n = static_cast<std::size_t>(offsets.back());
            SCOPED_TRACE(n);
            const sort_order order = any_order(random);
            std::vector<int> x(n);
            for (int& each : x) each = static_cast<int>(below(random, 33)) - 16;
            const std::vector<float> floats(x.begin(), x.end());
            std::vector<std::size_t> places(n);
            std::iota(places.begin(), places.end(), std::size_t{0});
            std::vector<std::int64_t> sums;
            std::vector<float> float_sums, least;
            std::vector<int> lasts;
            for (std::size_t k = 0; k + 1 < offsets.size(); ++k) {
                const auto begin = static_cast<std::ptrdiff_t>(offsets[k]), end = offsets[k + 1];
                sums.push_back(std::accumulate(x.begin() + begin, x.begin() + end, std::int64_t{0}));
                float_sums.push_back(static_cast<float>(sums.back()));
                lasts.push_back(begin == end ? -100 : x[static_cast<std::size_t>(end - 1)]);
                least.push_back(
                    begin == end ? 100.f : *std::min_element(floats.begin() + begin, floats.begin() + end));
                std::stable_sort(
                    places.begin() + begin, places.begin() + end,
                    [&](std::size_t a, std::size_t b) { return by<float>(order)(floats[a], floats[b]); });
            }
            const vector<std::int64_t> at(ctx, offsets);
            const vector<int> v(ctx, x);
            vector<float> f(ctx, floats);
            expect_same(reduce_segments(at, cast<std::int64_t>(v)), sums);
            expect_same(reduce_segments(at, f), float_sums);  // exact: they are small integers
            expect_same(reduce_segments(at, fold_of(v, -100, last)), lasts);
            const vector<float> lowest = reduce_segments(at, min_of(f));
            expect_same(vector<float>(select(isnan(lowest), 100.f, lowest)), least);

            std::vector<unsigned> numbers(n);
            std::iota(numbers.begin(), numbers.end(), 0u);
            vector<unsigned> moved(ctx, numbers);
            vector<float> alone(f);
            sort_segments(alone, at, order);
            sort_segments_by_key(f, at, moved, order);
            expect_same(moved, permuted(numbers, places));
            expect_same(f, permuted(floats, places));
            expect_same(alone, permuted(floats, places));
        }
    });
}

TEST(V15_segments, may_be_their_offsets) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 2 + below(random, 3000);
        std::vector<int> offsets(n);  // of segments of one element, but for the last
        std::iota(offsets.begin(), offsets.end(), 0);
        offsets.back() = static_cast<int>(n);
        const std::vector<int> others(n, 3);
        const auto reduced = [&](const std::vector<int>& x) {
            std::vector<int> made(x.begin(), x.end() - 1);
            made.back() += x.back();
            return made;
        };
        std::vector<int> sorted = offsets;
        std::swap(sorted[n - 2], sorted[n - 1]);
        vector<int> both(ctx, offsets);
        expect_same(reduce_segments(both, both), reduced(offsets));
        expect_same(reduce_segments(both, vector<int>(ctx, others)), reduced(others));
        sort_segments(both, both, descending);
        expect_same(both, sorted);
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

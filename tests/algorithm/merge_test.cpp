// Merges and set operations against those of the standard library.

#include "balm/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "balm/balm.hpp"
#include "balm/set_operations.hpp"
#include "sorted_arrays.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

/// The device's own way, with small tiles too; on a CPU also that of GPUs, which PoCL takes long to compile.
template <class Body>
void in_all_merges(Body&& body, bool of_gpus_too = true) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        if (ctx.device(0).info().type != device_type::cpu) return;
        with_strategy({.strategy = sort_strategy::chunk_an_item, .chunk = 100}, "small tiles",
                      [&] { body(ctx); });
        if (!of_gpus_too) return;
        with_strategy({.strategy = sort_strategy::chunk_a_group}, "tiles of groups", [&] { body(ctx); });
        with_strategy({.strategy = sort_strategy::tiles_look_back}, "tiles that look back",
                      [&] { body(ctx); });
    });
}

template <class T>
vector<T> on_device(const context& ctx, const std::vector<T>& x) {
    return vector<T>(ctx, x.begin(), x.end());
}
std::vector<std::pair<std::size_t, std::size_t>> pairs_of_sizes(std::mt19937_64& random) {
    const std::size_t few = 1 + below(random, 60), many = 1 + below(random, 20000);
    return {{0, 0},
            {0, few},
            {few, 0},
            {1, 1},
            {2, 3},
            {few, 500},
            {many, 3},
            {1, many},
            {1 + below(random, 5000), 1 + below(random, 5000)},
            {many, 1 + below(random, 90000)}};
}
std::string named_sizes(std::size_t n, std::size_t m, sort_order order) {
    return std::to_string(n) + " and " + std::to_string(m) + (order == ascending ? "" : " descending");
}

template <class T>
std::vector<T> merged_on_host(const std::vector<T>& a, const std::vector<T>& b, sort_order order) {
    std::vector<T> made;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made), by<T>(order));
    return made;
}
template <class T>
void merges(const context& ctx, kind how, std::mt19937_64& random, std::size_t n, std::size_t m,
            sort_order order) {
    SCOPED_TRACE(named_sizes(n, m, order));
    const auto [a, b] = sorted_arrays<T>(how, random, n, m, order);
    expect_same(merge(on_device(ctx, a), on_device(ctx, b), order), merged_on_host(a, b, order));
}

template <class T>
inline constexpr bool is_floating_type = std::is_floating_point_v<T> || std::is_same_v<T, half>;
template <class T>
class V15_merge_types : public testing::Test {};
using merged_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                    std::uint32_t, std::int64_t, std::uint64_t, float, double, half, bool>;
TYPED_TEST_SUITE(V15_merge_types, merged_types);

TYPED_TEST(V15_merge_types, elements_of_all_kinds) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_merges(
        [&](const context& ctx) {
            const sort_order order = any_order(random);  // each is a kernel to compile
            for (const auto& [n, m] : pairs_of_sizes(random))
                merges<T>(ctx, any_kind(random), random, n, m, order);
            for (const kind how : all_kinds)
                merges<T>(ctx, how, random, 1 + below(random, 9000), 1 + below(random, 9000), order);
        },
        is_floating_type<T>);
}

TEST(V15_merge, vectors_of_every_small_size) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 40 ? 1 : 1 + below(random, 500))
            merges<std::uint32_t>(ctx, any_kind(random), random, n, below(random, n + 3), any_order(random));
        for (const std::size_t n : {255, 256, 257, 3839, 3840, 3841, 4095, 4096, 4097})
            merges<float>(ctx, any_kind(random), random, n, 4096, any_order(random));
    });
}

TEST(V15_merge, millions_of_elements) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        merges<std::uint32_t>(ctx, kind::any_bits, random, 2000000 + below(random, 10000),
                              1000000 + below(random, 10000), ascending);
        merges<double>(ctx, kind::few_values, random, 30000, 2000000 + below(random, 10000), descending);
    });
}

TEST(V15_merge, values_move_with_their_keys_and_equal_ones_keep_their_order) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        for (const auto& [n, m] : pairs_of_sizes(random)) {
            const sort_order order = any_order(random);
            SCOPED_TRACE(named_sizes(n, m, order));
            const auto [a, b] = sorted_arrays<float>(kind::special, random, n, m, order);
            const std::vector<float> both = joined(a, b);
            const std::vector<std::size_t> wanted = merged_order(
                n, m, [&](std::size_t i, std::size_t j) { return by<float>(order)(both[i], both[j]); });
            std::vector<unsigned> numbers(n + m);
            std::iota(numbers.begin(), numbers.end(), 0u);
            const auto wide = keys_of<double>(kind::any_bits, random, n + m);
            const auto part = [&, first_size = n]<class T>(const std::vector<T>& of, bool is_first) {
                const auto middle = of.begin() + static_cast<std::ptrdiff_t>(first_size);
                return vector<T>(ctx, is_first ? of.begin() : middle, is_first ? middle : of.end());
            };
            const auto [keys, values] =
                merge_by_key(on_device(ctx, a), std::tuple(part(numbers, true), part(wide, true)),
                             on_device(ctx, b), std::tuple(part(numbers, false), part(wide, false)), order);
            expect_same(keys, permuted(both, wanted));
            expect_same(std::get<0>(values), permuted(numbers, wanted));
            expect_same(std::get<1>(values), permuted(wide, wanted));

            vector<float> keys_into(ctx, n + m);
            vector<unsigned> values_into(ctx, n + m);
            merge_by_key_into(std::tie(keys_into, values_into), on_device(ctx, a), part(numbers, true),
                              on_device(ctx, b), part(numbers, false), order);
            expect_same(keys_into, permuted(both, wanted));
            expect_same(values_into, permuted(numbers, wanted));
        }
    });
}

TEST(V15_merge, several_keys) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        for (const sort_order order : {ascending, descending}) {
            const std::size_t n = below(random, 9000), m = 1 + below(random, 9000);
            SCOPED_TRACE(named_sizes(n, m, order));
            using row = std::tuple<std::uint8_t, std::int64_t, std::size_t>;
            std::vector<row> rows;
            for (std::size_t k = 0; k < n + m; ++k)
                rows.emplace_back(static_cast<std::uint8_t>(below(random, 4)),
                                  static_cast<std::int64_t>(below(random, 60)) - 30, k);
            const auto ahead = [&](const row& x, const row& y) {
                const auto key = [](const row& r) { return std::tuple(std::get<0>(r), std::get<1>(r)); };
                return order == ascending ? key(x) < key(y) : key(y) < key(x);
            };
            const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(n);
            std::stable_sort(rows.begin(), middle, ahead);
            std::stable_sort(middle, rows.end(), ahead);
            std::vector<row> wanted = rows;
            std::inplace_merge(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(n), wanted.end(),
                               ahead);
            const auto column = [&]<std::size_t K>(const std::vector<row>& of, std::size_t first,
                                                   std::size_t end, std::integral_constant<std::size_t, K>) {
                std::vector<std::tuple_element_t<K, row>> made;
                for (std::size_t k = first; k < end; ++k) made.push_back(std::get<K>(of[k]));
                return made;
            };
            const auto device_column = [&](std::size_t first, std::size_t end, auto k) {
                return on_device(ctx, column(rows, first, end, k));
            };
            constexpr std::integral_constant<std::size_t, 0> zero;
            constexpr std::integral_constant<std::size_t, 1> one;
            constexpr std::integral_constant<std::size_t, 2> two;
            const auto a0 = device_column(0, n, zero), b0 = device_column(n, n + m, zero);
            const auto a1 = device_column(0, n, one), b1 = device_column(n, n + m, one);
            const auto a2 = device_column(0, n, two), b2 = device_column(n, n + m, two);
            const auto [keys, values] = merge_by_key(std::tie(a0, a1), a2, std::tie(b0, b1), b2, order);
            expect_same(std::get<0>(keys), column(wanted, 0, n + m, zero));
            expect_same(std::get<1>(keys), column(wanted, 0, n + m, one));
            expect_same(values, column(wanted, 0, n + m, two));
        }
    });
}

TEST(V15_merge, structures_by_a_comparison) {
    auto random = seeded_random();
    const auto heavier =
        function("heavier", [](Var<particle> a, Var<particle> b) { return Bool(a.mass > b.mass); });
    in_all_merges([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 9000), m = 1 + below(random, 9000);
        SCOPED_TRACE(named_sizes(n, m, ascending));
        const auto ahead = [](const particle& x, const particle& y) { return x.mass > y.mass; };
        const auto made = [&](std::size_t count, std::size_t first) {
            std::vector<particle> list(count);
            for (std::size_t k = 0; k < count; ++k)
                list[k] = {static_cast<float>(below(random, 300)), static_cast<std::int32_t>(first + k)};
            std::stable_sort(list.begin(), list.end(), ahead);
            return list;
        };
        const std::vector<particle> a = made(n, 0), b = made(m, n);
        std::vector<particle> wanted(n + m);
        std::merge(a.begin(), a.end(), b.begin(), b.end(), wanted.begin(), ahead);
        expect_same(merge(vector<particle>(ctx, a), vector<particle>(ctx, b), heavier), wanted);
        std::vector<particle> both;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), ahead);
        expect_same(set_intersection(vector<particle>(ctx, a), vector<particle>(ctx, b), heavier), both);
    });
}

TEST(V15_merge, expressions_and_views) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, {7, 1, 5, 3, 9, 11}), y(ctx, {0, 1, 2});
        expect_same(merge(x(slice(1, 4, 2)), 2 * y + 1), {1, 1, 3, 3, 5});
        expect_same(merge(sorted(x), y), {0, 1, 1, 2, 3, 5, 7, 9, 11});
        vector<int> into(ctx, 6);
        merge_into(into, y, y + 4);
        expect_same(into, {0, 1, 2, 4, 5, 6});
    });
}

TEST(V15_merge, arrays_that_are_not_sorted_touch_nothing_else) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 20000), m = 1 + below(random, 20000);
        const auto a = keys_of<int>(kind::any_bits, random, n), b = keys_of<int>(kind::any_bits, random, m);
        constexpr std::size_t around = 1024;
        vector<int> memory(ctx, n + m + 2 * around, 42);
        vector<int> into = as_vector(memory.elements().range(around, n + m + around));
        merge_into(into, on_device(ctx, a), on_device(ctx, b));
        vector<std::int64_t> count(ctx, 1);
        set_union_into(into, count, on_device(ctx, a), on_device(ctx, b));
        const auto host = on_host(memory);
        for (std::size_t k = 0; k < around; ++k) {
            EXPECT_EQ(host[k], 42);
            EXPECT_EQ(host[n + m + around + k], 42);
        }
    });
}

TEST(V15_merge, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        vector<int> a(ctx, {1, 2, 3}), b(ctx, {2, 4}), five(ctx, 5), four(ctx, 4), empty;
        const auto fault = [&](const auto& body) { return message_of<usage_error>(body); };
        EXPECT_THAT(fault([&] { merge_into(four, a, b); }),
                    HasSubstr("merge_into of 3 and 2 elements has a target of 4"));
        EXPECT_THAT(fault([&] { merge_into(a, a, b); }), HasSubstr("has a target that it also reads"));
        EXPECT_THAT(fault([&] { merge(a, empty); }), HasSubstr("that has no device"));
        EXPECT_THAT(fault([&] { merge_into(empty, a, b); }), HasSubstr("that has no device"));
        EXPECT_THAT(fault([&] { merge_by_key(a, b, b, a); }),
                    HasSubstr("arrays of 3 and 2 elements that are sorted together"));
        EXPECT_THAT(fault([&] { merge_by_key_into(std::tie(five, five), a, a, b, b); }),
                    HasSubstr("the same target twice"));
        vector<std::int64_t> two(ctx, 2);
        EXPECT_THAT(fault([&] { set_union_into(five, two, a, b); }), HasSubstr("has 2 elements"));
    });
}

// ---- set operations

template <class T, class F>
std::vector<T> on_host_by(F&& operation, const std::vector<T>& a, const std::vector<T>& b, sort_order order) {
    std::vector<T> made;
    operation(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(made), by<T>(order));
    return made;
}
template <class T>
void combines(const context& ctx, const std::vector<T>& a, const std::vector<T>& b, sort_order order) {
    SCOPED_TRACE(named_sizes(a.size(), b.size(), order));
    const vector<T> x = on_device(ctx, a), y = on_device(ctx, b);
    const auto host = [&](const auto& operation) { return on_host_by<T>(operation, a, b, order); };
    {
        SCOPED_TRACE("union");
        expect_same(set_union(x, y, order), host([](auto... each) { std::set_union(each...); }));
    }
    {
        SCOPED_TRACE("intersection");
        expect_same(set_intersection(x, y, order),
                    host([](auto... each) { std::set_intersection(each...); }));
    }
    {
        SCOPED_TRACE("difference");
        expect_same(set_difference(x, y, order), host([](auto... each) { std::set_difference(each...); }));
    }
    SCOPED_TRACE("symmetric difference");
    expect_same(set_symmetric_difference(x, y, order),
                host([](auto... each) { std::set_symmetric_difference(each...); }));
}

TYPED_TEST(V15_merge_types, sets_of_all_kinds) {
    using T = TypeParam;
    auto random = seeded_random();
    in_all_merges(
        [&](const context& ctx) {
            for (const auto& [n, m] : pairs_of_sizes(random)) {
                const sort_order order = any_order(random);
                const auto [a, b] = sorted_arrays<T>(any_kind(random), random, n, m, order);
                combines(ctx, a, b, order);
            }
        },
        false);
}

TEST(V15_sets, runs_of_equal_elements_of_all_lengths) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        for (int turn = 0; turn < 3; ++turn) {
            // Runs that end in a tile, fill it, and pass over several of them.
            std::vector<int> a, b;
            for (int value = 0; a.size() + b.size() < 20000; ++value) {
                const std::size_t most = std::size_t{1} << below(random, 13);
                a.insert(a.end(), below(random, most), value);
                b.insert(b.end(), below(random, below(random, 3) == 0 ? 3 : most), value);
            }
            combines(ctx, a, b, ascending);
        }
    });
}

TEST(V15_sets, every_small_size_with_multiplicities) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 30 ? 1 : 1 + below(random, 900)) {
            const auto [a, b] =
                sorted_arrays<std::uint32_t>(below(random, 2) == 0 ? kind::few_values : kind::any_bits,
                                             random, n, below(random, n + 3), ascending);
            combines(ctx, a, b, ascending);
        }
    });
}

TEST(V15_sets, into_targets_with_less_room_than_results) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 9000), m = 1 + below(random, 9000);
        const auto [a, b] = sorted_arrays<int>(kind::few_values, random, n, m, ascending);
        const std::vector<int> wanted =
            on_host_by<int>([](auto... each) { std::set_union(each...); }, a, b, ascending);
        for (const std::size_t room :
             {n + m, wanted.size(), wanted.size() / 2, std::size_t{1}, std::size_t{0}}) {
            SCOPED_TRACE(room);
            vector<int> into(ctx, room, -7);
            vector<std::int64_t> count(ctx, 1);
            set_union_into(into, count, on_device(ctx, a), on_device(ctx, b));
            EXPECT_EQ(static_cast<std::size_t>(std::int64_t{count[0]}), wanted.size());
            std::vector<int> expected(
                wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(std::min(room, wanted.size())));
            expected.resize(room, -7);
            expect_same(into, expected);
        }
    });
}

/// Enough tiles for runs of tiles, where tiles look back.
TEST(V15_sets, into_targets_of_many_tiles) {
    auto random = seeded_random();
    in_all_merges([&](const context& ctx) {
        const std::size_t n = 100'000 + below(random, 100'000), m = 100'000 + below(random, 100'000);
        const auto arrays = sorted_arrays<int>(kind::low_bits, random, n, m, ascending);
        const std::vector<int>&a = arrays.first, &b = arrays.second;
        const vector<int> p = on_device(ctx, a), q = on_device(ctx, b);
        const auto check = [&](const char* words, auto into_targets, auto on_host) {
            SCOPED_TRACE(words);
            std::vector<int> wanted = on_host_by<int>(on_host, a, b, ascending);
            vector<int> into(ctx, n + m, -7);
            vector<std::int64_t> count(ctx, 1);
            into_targets(into, count, p, q);
            EXPECT_EQ(static_cast<std::size_t>(std::int64_t{count[0]}), wanted.size());
            wanted.resize(n + m, -7);
            expect_same(into, wanted);
        };
        check(
            "union", [](auto&... each) { set_union_into(each...); },
            [](auto... each) { std::set_union(each...); });
        check(
            "intersection", [](auto&... each) { set_intersection_into(each...); },
            [](auto... each) { std::set_intersection(each...); });
        check(
            "difference", [](auto&... each) { set_difference_into(each...); },
            [](auto... each) { std::set_difference(each...); });
        check(
            "symmetric difference", [](auto&... each) { set_symmetric_difference_into(each...); },
            [](auto... each) { std::set_symmetric_difference(each...); });
    });
}

TEST(V15_sets, several_keys_and_expressions) {
    on_all_contexts([](const context& ctx) {
        const vector<int> i(ctx, {0, 0, 1, 2}), j(ctx, {1, 2, 0, 5}), k(ctx, {0, 1, 1}), l(ctx, {2, 0, 1});
        const auto [both_i, both_j] = set_intersection(std::tie(i, j), std::tie(k, l));
        expect_same(both_i, {0, 1});
        expect_same(both_j, {2, 0});
        expect_same(set_difference(2 * i, 2 * k), {0, 4});
    });
}

TEST(V15_sets, of_three_devices) {
    run_on_three_devices("test_algorithm", "V15_merge.several_keys:V15_merge.vectors*:V15_sets.several*");
}

}  // namespace

}  // namespace balm::test

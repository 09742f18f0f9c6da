// Binary search, conditional gathers and scatters, and differences of neighbours against the standard
// library.

#include "balm/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "algorithm/exact_numbers.hpp"
#include "algorithm/sort_ways.hpp"
#include "balm/balm.hpp"
#include "balm/gather.hpp"
#include "support/devices.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
class V15_search_types : public testing::Test {};
TYPED_TEST_SUITE(V15_search_types, number_types);

TYPED_TEST(V15_search_types, bounds_in_vectors_of_every_small_size) {
    using T = TypeParam;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (std::size_t size = 0; size <= 4097; size += size < 20 ? 1 : 1 + below(random, 1000)) {
            SCOPED_TRACE(size);
            std::vector<T> sorted(size), needles(1 + below(random, 300));
            const std::size_t distinct = 1 + below(random, 100);
            for (T& each : sorted) each = static_cast<T>(below(random, distinct));
            for (T& each : needles) each = static_cast<T>(below(random, 110));
            std::sort(sorted.begin(), sorted.end());
            const vector<T> s(ctx, sorted), n(ctx, needles);
            std::vector<std::int64_t> low, high;
            for (const T& each : needles) {
                low.push_back(std::lower_bound(sorted.begin(), sorted.end(), each) - sorted.begin());
                high.push_back(std::upper_bound(sorted.begin(), sorted.end(), each) - sorted.begin());
            }
            EXPECT_EQ(values_of<std::int64_t>(lower_bound(s, n)), low);
            EXPECT_EQ(values_of<std::int64_t>(upper_bound(s, n)), high);
        }
    });
}

TEST(V15_search, needles_that_are_expressions_among_extreme_values) {
    on_all_contexts([](const context& ctx) {
        using limits = std::numeric_limits<std::int64_t>;
        const vector<std::int64_t> sorted(ctx, {limits::min(), -1, 0, 0, 0, 7, limits::max()});
        const vector<std::int64_t> x(ctx, {limits::min(), limits::max(), 0, 8, -2});
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(sorted, x)),
                  (std::vector<std::int64_t>{0, 6, 2, 6, 1}));
        EXPECT_EQ(values_of<std::int64_t>(upper_bound(sorted, x) - lower_bound(sorted, x)),
                  (std::vector<std::int64_t>{1, 1, 3, 0, 0}));
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(sorted, element_index(-1, 3))),
                  (std::vector<std::int64_t>{1, 2, 5}));
        EXPECT_THAT(
            message_of<usage_error>([&] { static_cast<void>(lower_bound(vector<std::int64_t>(), x)); }),
            HasSubstr("device"));
    });
}

/// Numbers around the powers of two, where types end or lose precision, halves, infinities and NaNs.
template <class T>
T number_at_a_border(std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    const int exponent = static_cast<int>(below(random, 70));
    const int step = static_cast<int>(below(random, 3)) - 1;
    if constexpr (std::is_floating_point_v<T>) {
        if (below(random, 8) == 0) return special_value<T>(random);
        T made = std::ldexp(T(1), exponent - 2);
        if (step != 0) made = std::nextafter(made, static_cast<T>(step) * limits::max());
        if (below(random, 4) == 0) made += T(0.5);
        return below(random, 2) == 0 ? made : -made;
    } else {
        const std::uint64_t power = exponent < 64 ? std::uint64_t{1} << exponent : 0;
        const std::uint64_t bits = power + static_cast<std::uint64_t>(std::int64_t{step});
        return static_cast<T>(below(random, 2) == 0 ? bits : 0 - bits);
    }
}
template <class T, class X>
void searches_for(const context& ctx, std::mt19937_64& random, std::type_identity<X>) {
    SCOPED_TRACE(std::string(typeid(X).name()) + " among " + typeid(T).name());
    std::vector<T> sorted(300);
    std::vector<X> needles(400);
    for (T& each : sorted) each = number_at_a_border<T>(random);
    for (X& each : needles) each = number_at_a_border<X>(random);
    std::sort(sorted.begin(), sorted.end(), is_less_exactly<T, T>);
    std::vector<std::int64_t> low, high, counts(sorted.size() - 1);
    for (const X each : needles) {
        low.push_back(std::lower_bound(sorted.begin(), sorted.end(), each, is_less_exactly<T, X>) -
                      sorted.begin());
        high.push_back(std::upper_bound(sorted.begin(), sorted.end(), each, is_less_exactly<X, T>) -
                       sorted.begin());
        const auto bin = static_cast<std::size_t>(high.back() - 1);
        if (high.back() > 0 && bin < counts.size() && !is_nan(each)) ++counts[bin];
    }
    const vector<T> s(ctx, sorted);
    const vector<X> n(ctx, needles);
    EXPECT_EQ(values_of<std::int64_t>(lower_bound(s, n)), low);
    EXPECT_EQ(values_of<std::int64_t>(upper_bound(s, n)), high);
    EXPECT_EQ(values_of<std::int64_t>(histogram(n, s)), counts);
}

TYPED_TEST(V15_search_types, needles_of_other_types_compare_exactly) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto search_for = [&](auto... types) { (searches_for<TypeParam>(ctx, random, types), ...); };
        search_for(std::type_identity<std::uint8_t>(), std::type_identity<std::int32_t>(),
                   std::type_identity<std::uint32_t>(), std::type_identity<std::int64_t>(),
                   std::type_identity<std::uint64_t>(), std::type_identity<float>(),
                   std::type_identity<double>());
    });
}

TEST(V15_search, needles_beyond_the_elements_types) {
    on_all_contexts([](const context& ctx) {
        const vector<std::int32_t> few(ctx, {0, 1, 2, 3});
        const vector<std::int64_t> far(ctx, {4294967297, -4294967295, 2});
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(few, far)), (std::vector<std::int64_t>{4, 0, 2}));
        const vector<std::int64_t> wide(ctx, {9007199254740992, 9007199254740993, 9007199254740994});
        const vector<double> doubles(ctx, {9007199254740992.0, 9007199254740994.0, std::nan("")});
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(wide, doubles)), (std::vector<std::int64_t>{0, 2, 3}));
        EXPECT_EQ(values_of<std::int64_t>(upper_bound(wide, doubles)), (std::vector<std::int64_t>{1, 3, 3}));
        const vector<half> halves(ctx, {half(0.5f), half(1.f), half(-65504.f)});
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(few, halves)), (std::vector<std::int64_t>{1, 1, 0}));
        // NaNs are last, as balm::sort leaves them.
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const vector<float> sorted(ctx, {1, 2, -nan, nan}), x(ctx, {1.5f, 2, nan, -nan});
        EXPECT_EQ(values_of<std::int64_t>(lower_bound(sorted, x)), (std::vector<std::int64_t>{1, 1, 2, 2}));
        EXPECT_EQ(values_of<std::int64_t>(upper_bound(sorted, x)), (std::vector<std::int64_t>{1, 2, 4, 4}));
    });
}

TEST(V15_search, gather_if_and_scatter_if) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 50000);
        SCOPED_TRACE(n);
        std::vector<double> x(n), gathered(n), scattered(n, -1.0);
        std::vector<int> where(n), order(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t k = 0; k < n; ++k) {
            x[k] = static_cast<double>(below(random, 1000));
            // Positions that are not read may be anything.
            where[k] = below(random, 3) == 0 ? std::numeric_limits<int>::min() : order[k];
        }
        for (std::size_t k = 0; k < n; ++k) {
            gathered[k] = where[k] < 0 ? static_cast<double>(k) : x[static_cast<std::size_t>(where[k])];
            if (where[k] >= 0) scattered[static_cast<std::size_t>(where[k])] = x[k];
        }
        const vector<double> v(ctx, x);
        const vector<int> p(ctx, where);
        EXPECT_EQ(values_of<double>(gather_if(v, p, p >= 0, cast<double>(element_index()))), gathered);
        EXPECT_EQ(values_of<double>(gather_if(v, p, p >= 0, 0.5) - v), [&] {
            std::vector<double> made(n);
            for (std::size_t k = 0; k < n; ++k)
                made[k] = (where[k] < 0 ? 0.5 : x[static_cast<std::size_t>(where[k])]) - x[k];
            return made;
        }());
        if (ctx.size() > 1) return;  // functions that write memory write that of one device
        vector<double> to(ctx, n, -1.0);
        scatter_if(to, p, v, p >= 0);
        EXPECT_EQ(values_of<double>(to), scattered);
        scatter_if(to, p, 2.0, p >= 0);
        EXPECT_EQ(sum(to == 2.0),
                  std::count_if(where.begin(), where.end(), [](int each) { return each >= 0; }));
        EXPECT_THAT(message_of<usage_error>([&] { scatter_if(to, p, to + 1.0, p >= 0); }),
                    HasSubstr("scatter_if reads the vector that it writes"));
    });
}

TEST(V15_search, adjacent_differences) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n :
             {std::size_t{0}, std::size_t{1}, std::size_t{2}, 1 + below(random, 100000)}) {
            SCOPED_TRACE(n);
            std::vector<int> x(n), wanted(n);
            for (int& each : x) each = static_cast<int>(below(random, 1000));
            std::adjacent_difference(x.begin(), x.end(), wanted.begin());
            const vector<int> v(ctx, x);
            EXPECT_EQ(values_of<int>(adjacent_difference(v)), wanted);
            for (int& each : wanted) each = 2 * each;
            EXPECT_EQ(values_of<int>(adjacent_difference(2 * v)), wanted);
            std::vector<std::uint8_t> bytes(n);
            for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(below(random, 256));
            for (std::size_t k = 0; k < n; ++k) wanted[k] = k == 0 ? bytes[0] : bytes[k] - bytes[k - 1];
            EXPECT_EQ(values_of<int>(adjacent_difference(vector<std::uint8_t>(ctx, bytes))), wanted);
        }
    });
}

TEST(V15_search, over_three_devices) { run_on_three_devices("test_algorithm", "V15_search.*"); }

}  // namespace

}  // namespace balm::test

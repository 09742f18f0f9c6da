// The first elements of an order, and elements of a rank, against std::stable_sort on the host.

#include "balm/top_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "sort_ways.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

template <class T>
void finds_first(const context& ctx, const std::vector<T>& x, std::size_t k, sort_order order) {
    SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(x.size()) +
                 (order == ascending ? " ascending" : " descending"));
    std::vector<std::size_t> wanted = order_on_host(x, order);
    const vector<T> v(ctx, x.begin(), x.end());
    if (!x.empty()) {
        const std::size_t rank = std::min(k, x.size() - 1);
        const T own = nth_element(v, rank, order), other = x[wanted[rank]];
        EXPECT_EQ(std::memcmp(&own, &other, sizeof(T)), 0) << "rank " << rank;
    }
    wanted.resize(k);
    const auto [values, positions] = top_k(v, k, order);
    expect_same(as_expressions_store(on_host(values)), permuted(x, wanted));
    expect_same(positions, std::vector<std::int64_t>(wanted.begin(), wanted.end()));
}

template <class T>
class V15_top_k_types : public testing::Test {};
using top_types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                                 std::uint64_t, float, double, half, bool>;
TYPED_TEST_SUITE(V15_top_k_types, top_types);

TYPED_TEST(V15_top_k_types, elements_of_all_kinds) {
    using T = TypeParam;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const kind how : all_kinds) {
            const std::size_t n = 1 + below(random, 60000);
            const std::vector<T> x = as_expressions_store(keys_of<T>(how, random, n));
            finds_first(ctx, x, below(random, std::min<std::size_t>(n, 100)), any_order(random));
            finds_first(ctx, x, below(random, n + 1), any_order(random));
        }
    });
}

TEST(V15_top_k, vectors_of_every_small_size) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (std::size_t n = 0; n <= 4097; n += n < 30 ? 1 : 1 + below(random, 400))
            finds_first(ctx, keys_of<std::uint32_t>(any_kind(random), random, n), below(random, n + 1),
                        any_order(random));
    });
}

TEST(V15_top_k, of_millions_few_and_many) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1000000 + below(random, 10000);
        std::vector<float> uniform(n);
        std::uniform_real_distribution<float> draw(0.f, 1.f);
        for (float& each : uniform) each = draw(random);
        finds_first(ctx, uniform, 10, descending);
        finds_first(ctx, uniform, n / 2, ascending);
        finds_first(ctx, keys_of<std::uint64_t>(kind::low_bits, random, n), 1000, ascending);
        finds_first(ctx, keys_of<std::int32_t>(kind::two_values, random, n), 20000, descending);
    });
}

TEST(V15_top_k, by_a_comparison_and_of_expressions) {
    auto random = seeded_random();
    const auto heavier =
        function("heavier", [](Var<particle> a, Var<particle> b) { return Bool(a.mass > b.mass); });
    on_all_contexts([&](const context& ctx) {
        std::vector<particle> x(1 + below(random, 3000));
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] = {static_cast<float>(below(random, 100)), static_cast<std::int32_t>(k)};
        const vector<particle> v(ctx, x);
        const std::size_t k = below(random, x.size());
        const particle nth = nth_element(v, k, heavier);
        const auto [values, positions] = top_k(v, k, heavier);
        std::stable_sort(x.begin(), x.end(),
                         [](const particle& a, const particle& b) { return a.mass > b.mass; });
        EXPECT_EQ(nth.number, x[k].number);
        const auto host = on_host(values);
        for (std::size_t i = 0; i < k; ++i) {
            EXPECT_EQ(host[i].number, x[i].number);
            EXPECT_EQ(positions[i], x[i].number);
        }
        const vector<int> y(ctx, {3, -8, 5, 0, -5});
        expect_same(top_k(balm::abs(y), 3).positions, {1, 2, 4});
        EXPECT_EQ(nth_element(y * 2, 2), 0);
        EXPECT_EQ(nth_element(y(slice(0, 3)), 0, descending), 5);
        EXPECT_EQ(top_k(y, 0).values.size(), 0u);
    });
}

TEST(V15_top_k, of_many_nans_that_differ_in_their_bits) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        std::vector<float> x(30000);
        for (float& each : x) each = from_bits<float>(0x7f800001 + below(random, 0x7fffff));
        finds_first(ctx, x, 1 + below(random, x.size()), any_order(random));
    });
}

TEST(V15_top_k, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {1, 2, 3});
        EXPECT_THAT(message_of<usage_error>([&] { top_k(x, 4); }),
                    HasSubstr("cannot take the first 4 elements of an array of 3"));
        EXPECT_THAT(message_of<usage_error>([&] { nth_element(x, 3); }), HasSubstr("rank 3 is out of range"));
    });
}

TEST(V15_top_k_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm", "V15_top_k.by*:V15_top_k.vectors*");
}

}  // namespace

}  // namespace balm::test

// Functions that write memory in expressions, and expressions that are evaluated for that alone.

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using namespace balm::dsl;

constexpr std::size_t many = 10007;

TEST(V19_atomics, count_in_expressions) {
    auto random = seeded_random();
    const auto x = random_values<std::uint32_t>(random, many);
    const auto add_to_bin =
        balm::function("add_to_bin(bin, bins)", [](UInt bin, Mixed<int> bins) { atomic_add(bins[bin], 1); });
    on_all_contexts([&](const context& ctx) {
        const vector<std::uint32_t> X(ctx, std::span<const std::uint32_t>(x));
        vector<int> bins(ctx, 64, 0);
        std::vector<int> wanted(64);
        for (int turn = 0; turn < 3; ++turn) {
            eval(add_to_bin(X % 64u, bins));
            for (std::uint32_t v : x) ++wanted[v % 64];
        }
        const auto got = bins.to_host();
        EXPECT_EQ(std::vector<int>(got.begin(), got.end()), wanted);
        bins = 0;
        eval(add_to_bin(cast<std::uint32_t>(element_index(3, 5)), bins));
        for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(bins[k], k >= 3 && k < 8);
        eval(add_to_bin(cast<std::uint32_t>(element_index(0, 0)), bins));
        EXPECT_EQ(bins[0], 0);
    });
}

TEST(V19_atomics, beside_a_value_through_a_pointer) {
    const auto ticket = balm::function("ticket(next)", [](Ptr<int> next) { return atomic_add(next[0], 1); });
    const auto scatter = balm::function("scatter(x, to, sum)", [](Int x, Out<int> to, Mixed<int> sum) {
        to[x] = 2 * x;
        return atomic_add(sum[0], x);
    });
    on_all_contexts([&](const context& ctx) {
        vector<int> next(ctx, 1, 0), tickets(ctx, many), seen(ctx, many, -1), sum(ctx, 1, 0);
        tickets = let(element_index(), [&](auto) { return ticket(next) + 0 * cast<int>(element_index()); });
        EXPECT_EQ(next[0], static_cast<int>(many));
        // What was written is there for what comes next, on the device and on the host.
        vector<int> before = scatter(tickets, seen, sum);
        const auto got = seen.to_host();
        for (std::size_t k = 0; k < many; ++k) ASSERT_EQ(got[k], 2 * static_cast<int>(k));
        EXPECT_EQ(sum[0], static_cast<int>(many * (many - 1) / 2));
        vector<int> after = seen - 2 * cast<int>(element_index());
        EXPECT_EQ(max(abs(after)), 0);
    });
}

TEST(V19_atomics, structures_are_written_through_functions) {
    const auto fill = balm::function("fill(i, v)", [](Index i, Mixed<balm::float4> v) {
        v[i].yz = Float2(cast<float>(i), 2.f * cast<float>(i));
    });
    on_all_contexts([&](const context& ctx) {
        vector<balm::float4> v(ctx, 100, balm::float4{1, 1, 1, 1});
        eval(fill(element_index(10, 20), v));
        const auto got = v.to_host();
        for (std::size_t k = 0; k < 100; ++k) {
            const auto f = static_cast<float>(k);
            EXPECT_EQ(got[k],
                      k >= 10 && k < 30 ? (balm::float4{1, f, 2 * f, 1}) : (balm::float4{1, 1, 1, 1}));
        }
    });
}

TEST(V19_eval, prints) {
    const auto show = balm::function("show(x)", [](Int x) { print("x = {}\n", x); });
    on_all_contexts([&](const context& on) {
        context ctx = on;
        std::ostringstream text;
        ctx.print_to(text);
        const vector<int> X(ctx, {5, 7, 9});
        eval(show(X));
        ctx.device(0).finish();
        EXPECT_EQ(text.str(), "x = 5\nx = 7\nx = 9\n");
    });
}

TEST(V19_eval, checks_on_every_device) {
    const auto is_small =
        balm::function("is_small(i, x)", [](Index i, Int x) { check(x < 10, "element {} is {}", i, x); });
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t n = 5000;
        vector<int> x(ctx, n, 3);
        eval(is_small(element_index(), x));
        for (const std::size_t k : {std::size_t{0}, n / 2, n - 1}) {
            x.set(k, 12);
            const std::string said = message_of<check_error>([&] {
                eval(is_small(element_index(), x));
                for (std::size_t d = 0; d < ctx.size(); ++d) ctx.device(d).finish();
            });
            EXPECT_THAT(said, HasSubstr("element " + std::to_string(k) + " is 12"));
            x.set(k, 4);
        }
    });
}

TEST(V19_eval, says_what_is_wrong) {
    const auto put = balm::function("put(i, to)", [](Index i, Mixed<int> to) {
        to[i] = 1;
        return 2 * i;
    });
    on_all_contexts([&](const context& ctx) {
        vector<int> x(ctx, 8, 0);
        vector<std::int64_t> y(ctx, 8);
        EXPECT_THAT(message_of<usage_error>([&] { eval(put(element_index(), x)); }),
                    HasSubstr("the size of an expression is unknown"));
        EXPECT_TRUE((put(element_index(), x) + 1).writes_memory());
        EXPECT_FALSE((x + 1).writes_memory());
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(sum(put(element_index(0, 8), x))); }),
                    HasSubstr("a function in an expression that is reduced or scanned writes memory"));
        const auto into_itself = balm::function("into_itself(i, to)", [](Index i, Mixed<int> to) {
            to[i] = 1;
            return Int(3);
        });
        EXPECT_THAT(message_of<usage_error>([&] { x = into_itself(element_index(), x); }),
                    HasSubstr("writes elements of the vector that the expression is assigned to"));
        vector<int> part = as_vector(x.elements());
        EXPECT_THAT(message_of<usage_error>([&] { y = put(element_index(), x) + part; }),
                    HasSubstr("shares elements with another vector"));
        y = put(element_index(), x);
        EXPECT_EQ(y[7], 14);
        EXPECT_EQ(x[7], 1);
    });
}

}  // namespace
}  // namespace balm::test

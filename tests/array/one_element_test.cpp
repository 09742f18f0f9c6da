// Expressions of one element beside others of many: the one is read for each of these, as a scalar.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <vector>

#include "balm/interop.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(V4_one_element, is_a_scalar_beside_many) {
    on_all_contexts([](const context& ctx) {
        const std::size_t n = 1000;
        vector<float> x(ctx, n), y(ctx, n);
        x = element_index();
        const vector<float> one(ctx, 1, 3.f), two(ctx, 1, 0.5f);
        y = x * one;
        expect_each(y.to_host(), [](std::size_t i) { return 3.f * static_cast<float>(i); });
        y = one - two * x + one * two;
        expect_each(y.to_host(), [](std::size_t i) { return 4.5f - 0.5f * static_cast<float>(i); });
        y = select(one > two, one + two, two) + x;
        expect_each(y.to_host(), [](std::size_t i) { return 3.5f + static_cast<float>(i); });
        y = clamp(one * 100, two, x);
        expect_each(y.to_host(), [](std::size_t i) { return i < 300 ? static_cast<float>(i) : 300.f; });
        x *= one + 1;
        expect_each(x.to_host(), [](std::size_t i) { return 4.f * static_cast<float>(i); });
        EXPECT_EQ((one + x).size(), n);
        EXPECT_EQ((one + two).size(), 1u);
        EXPECT_EQ(balm::sum(x * two), 999000.f);
        EXPECT_EQ(balm::dot(one, x), 12 * 499500.f);
        vector<float> made = two + x;
        EXPECT_EQ(made.size(), n);
    });
}

TEST(V4_one_element, may_be_of_a_view_an_index_or_a_short_vector) {
    on_all_contexts([](const context& ctx) {
        const std::size_t rows = 3, columns = 5, n = rows * columns;
        vector<std::int32_t> x(ctx, n), y(ctx, n);
        x = element_index();
        auto M = view(x, {rows, columns});
        y = M + x(slice(7, 8));
        expect_each(y.to_host(), [](std::size_t i) { return i + 7; });
        EXPECT_EQ((M(slice(1, 2), slice(2, 3)) + M).extents(), shape(rows, columns));
        y = M(slice(1, 2), slice(2, 3)) * M;
        expect_each(y.to_host(), [](std::size_t i) { return 7 * i; });
        y = element_index(4, 1) + x;
        expect_each(y.to_host(), [](std::size_t i) { return i + 4; });
        vector<balm::float2> pairs(ctx, 4, balm::float2{1, 2});
        const vector<balm::float2> pair(ctx, 1, balm::float2{3, 4});
        const vector<float> factor(ctx, 1, 2.f);
        pairs = pairs * pair + pair * factor;
        EXPECT_EQ(balm::sum(lane<0>(pairs)), 36);
        EXPECT_EQ(balm::sum(lane<1>(pairs)), 64);
        auto plus = balm::function("plus", [](dsl::Float a, dsl::Float b) { return a + b; });
        vector<float> z = plus(factor, lane<0>(pairs));
        EXPECT_THAT(z.to_host(), ElementsAre(11, 11, 11, 11));
    });
}

TEST(V4_one_element, leaves_indices_and_random_numbers_beside_it_one_for_each_element) {
    on_all_contexts([](const context& ctx) {
        const std::size_t n = 300;
        vector<float> x(ctx, n, 1.f), y(ctx, n), z(ctx, n);
        const vector<float> one(ctx, 1, 2.f);
        y = x + one * element_index();
        expect_each(y.to_host(), [](std::size_t i) { return 1 + 2 * i; });
        y = (element_index(5) + one) * x;
        expect_each(y.to_host(), [](std::size_t i) { return 7 + i; });
        y = one * cast<float>(element_index(5, 1)) + x;
        expect_each(y.to_host(), [](std::size_t) { return 11; });
        EXPECT_EQ(balm::sum(one * element_index(3)), 6);
        y = x * (one * balm::uniform<float>()(element_index(), 7));
        z = 2 * balm::uniform<float>()(element_index(), 7);
        EXPECT_TRUE(balm::all(y == z));
        y = let(one + element_index(), [&](auto a) { return a * a + x; });
        expect_each(y.to_host(), [](std::size_t i) { return (2 + i) * (2 + i) + 1; });
        y = x[element_index() * 0] + one[element_index() * 0] * element_index();
        expect_each(y.to_host(), [](std::size_t i) { return 1 + 2 * i; });
    });
}

TEST(V4_one_element, may_be_computed_before_the_expression) {
    on_all_contexts([](const context& ctx) {
        const std::size_t n = 120;
        vector<float> x(ctx, n), y(ctx, n);
        x = element_index();
        y = x - balm::sum(view(x, {1, n}), balm::along(1)) / float(n);
        expect_each(y.to_host(), [](std::size_t i) { return static_cast<float>(i) - 59.5f; });
        y = balm::sum(view(x, {1, n}), balm::along(1)) - x * balm::max(view(x, {1, n}), balm::along(1));
        expect_each(y.to_host(), [](std::size_t i) { return 7140.f - 119.f * static_cast<float>(i); });
        y = balm::inclusive_scan(x * vector<float>(ctx, 1, 2.f));
        expect_each(y.to_host(), [](std::size_t i) { return static_cast<float>(i * (i + 1)); });
    });
}

TEST(V4_one_element, of_the_target_is_read_before_it_is_written) {
    on_all_devices([](const device& on) {
        const context ctx(std::vector{on});
        auto buffer = on.mixed_buffer<float>(100);
        vector<float> x = as_vector(buffer.range(0, 100)), first = as_vector(buffer.range(0, 1));
        x = element_index(2, 100);
        x = x * first;
        expect_each(x.to_host(), [](std::size_t i) { return 2 * static_cast<float>(i + 2); });
        x = x + x(slice(0, 1));
        expect_each(x.to_host(), [](std::size_t i) { return 2 * static_cast<float>(i + 2) + 4; });
    });
}

TEST(V4_one_element, is_not_a_target_of_many_and_not_many_by_itself) {
    on_all_contexts([](const context& ctx) {
        vector<float> x(ctx, 4, 1.f), one(ctx, 1, 2.f);
        EXPECT_THROW(one = x + one, usage_error);
        EXPECT_THROW(one = x + element_index(0, 1), usage_error);
        EXPECT_THROW(one += x, usage_error);
        EXPECT_THROW(x = one, usage_error);
        EXPECT_THROW(x = one + 1, usage_error);
        EXPECT_THROW(x = x + vector<float>(ctx, 2, 1.f), usage_error);
        vector<float> nothing(ctx, 0);
        nothing = nothing + one;
        EXPECT_TRUE(nothing.empty());
        EXPECT_EQ(balm::sum(nothing * one), 0);
    });
}

TEST(V4_one_element, is_read_in_the_same_kernel_whatever_its_value) {
    on_all_devices([](const device& on) {
        const context ctx(std::vector{on});
        vector<float> x(ctx, 8, 1.f), y(ctx, 8);
        EXPECT_THAT(generated_source(x * vector<float>(ctx, 1, 2.f)), HasSubstr("[0]"));
        for (const float value : {2.f, 3.f}) {
            vector<float> one(ctx, 1, value);
            y = x * one;
            EXPECT_THAT(y.to_host(), testing::Each(value));
        }
    });
}

/// A random expression, and what it is of element i.
struct drawn {
    expr<std::uint32_t> device;
    std::function<std::uint32_t(std::size_t)> host;
};

class drawing {
public:
    drawing(const context& ctx, std::mt19937_64& random, std::size_t n) : random_(random) {
        for (const std::size_t size : {n, n, std::size_t{1}, std::size_t{1}}) {
            hosts_.emplace_back(size);
            for (std::uint32_t& each : hosts_.back()) each = static_cast<std::uint32_t>(random());
            vectors_.emplace_back(ctx, hosts_.back());
        }
    }

    drawn draw(int depth) {
        if (depth == 0 || random_() % 5 == 0) return leaf();
        const drawn a = draw(depth - 1), b = draw(depth - 1);
        switch (random_() % 4) {
            case 0: return {a.device + b.device, [=](std::size_t i) { return a.host(i) + b.host(i); }};
            case 1: return {a.device * b.device, [=](std::size_t i) { return a.host(i) * b.host(i); }};
            case 2: return {a.device ^ b.device, [=](std::size_t i) { return a.host(i) ^ b.host(i); }};
            default:
                return {select(a.device < b.device, b.device, a.device - b.device), [=](std::size_t i) {
                            return a.host(i) < b.host(i) ? b.host(i) : a.host(i) - b.host(i);
                        }};
        }
    }
    /// Of n elements, whatever the expression has.
    drawn draw_many() {
        const drawn many = of(vectors_[0], hosts_[0]), any = draw(3);
        if (random_() % 2 == 0)
            return {any.device + many.device, [=](std::size_t i) { return any.host(i) + many.host(i); }};
        return {many.device - any.device, [=](std::size_t i) { return many.host(i) - any.host(i); }};
    }

private:
    static drawn of(const vector<std::uint32_t>& v, const std::vector<std::uint32_t>& host) {
        return {expr<std::uint32_t>(+v), [host](std::size_t i) { return host[host.size() == 1 ? 0 : i]; }};
    }
    drawn leaf() {
        const std::size_t k = random_() % 4, n = hosts_[0].size(), at = random_() % n;
        const std::uint32_t number = static_cast<std::uint32_t>(random_() % 1000);
        const auto same = [](std::uint32_t value) { return [=](std::size_t) { return value; }; };
        switch (random_() % 6) {
            case 0: {
                const auto first = static_cast<std::int64_t>(at);
                return {+vectors_[0](slice(first, first + 1)), same(hosts_[0][at])};
            }
            case 1:
                return {cast<std::uint32_t>(element_index(number)),
                        [=](std::size_t i) { return number + static_cast<std::uint32_t>(i); }};
            case 2: return {cast<std::uint32_t>(element_index(number, 1)), same(number)};
            case 3: return {balm::argument(number), same(number)};
            default: return of(vectors_[k], hosts_[k]);
        }
    }

    std::mt19937_64& random_;
    std::vector<std::vector<std::uint32_t>> hosts_;
    std::vector<vector<std::uint32_t>> vectors_;
};

TEST(V4_one_element, of_random_expressions_is_a_scalar_wherever_it_is) {
    auto random = seeded_random();
    for (int k = 0; k < 20; ++k) {
        const std::size_t n = 1 + random() % 200;
        const auto state = random;
        on_all_contexts([&](const context& ctx) {
            random = state;
            const drawn made = drawing(ctx, random, n).draw_many();
            const auto got = vector<std::uint32_t>(made.device).to_host();
            ASSERT_EQ(got.size(), n);
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(got[i], made.host(i)) << "element " << i << " of case " << k;
        });
    }
}

}  // namespace

}  // namespace balm::test

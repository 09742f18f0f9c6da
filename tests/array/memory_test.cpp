// Vectors as memory in expressions: any element read at any position, by an index and by functions.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

template <class T>
vector<T> on_device(const context& where, const host_array<T>& values) {
    return vector<T>(where, std::span<const T>(values));
}

TEST(V12_memory_in_expressions, is_read_at_any_position) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {1u, 31u, 4097u, 100000u}) {
            const auto values = random_values<double>(random, n);
            host_array<std::uint32_t> order{shape(n)};
            for (std::uint32_t& at : order) at = static_cast<std::uint32_t>(random() % n);
            const vector<double> x = on_device(ctx, values);
            const vector<std::uint32_t> where = on_device(ctx, order);
            vector<double> y(ctx, n);
            y = x[static_cast<std::int64_t>(n) - 1 - balm::element_index()];
            expect_each(y.to_host(), [&](std::size_t i) { return values[n - 1 - i]; });
            y = x[where];
            expect_each(y.to_host(), [&](std::size_t i) { return values[order[i]]; });
            y = select(x < x[where], x, x[where]) - x[balm::element_index() * 0];
            expect_each(y.to_host(), [&](std::size_t i) {
                return (values[i] < values[order[i]] ? values[i] : values[order[i]]) - values[0];
            });
            const vector<double> made = x[where] * 2;  // as many as there are positions
            EXPECT_EQ(made.size(), n);
            EXPECT_EQ(balm::max(x[where]), [&] {
                double most = values[order[0]];
                for (std::size_t i = 0; i < n; ++i) most = std::fmax(most, values[order[i]]);
                return most;
            }());
        }
    });
}

TEST(V12_memory_in_expressions, that_is_assigned_to_is_read_as_it_was) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 70001;
        const auto values = random_values<std::int32_t>(random, n);
        vector<std::int32_t> x = on_device(ctx, values);
        x = x[static_cast<std::int64_t>(n) - 1 - balm::element_index()];
        expect_each(x.to_host(), [&](std::size_t i) { return values[n - 1 - i]; });
        x ^= x[(balm::element_index() + 1) % static_cast<std::int64_t>(n)];
        expect_each(x.to_host(),
                    [&](std::size_t i) { return values[n - 1 - i] ^ values[n - 1 - (i + 1) % n]; });
    });
}

TEST(V12_memory_in_expressions, is_given_whole_to_functions) {
    const auto distances =
        balm::function("distances(i, n, x, y)", [](Long i, Int n, In<float> x, Ptr<const double> y) {
            Double sum = 0.0;
            Ptr<const double> at = y + 1;
            for (Int j : range(n)) sum += abs(cast<double>(x[i] - x[j])) * at[-1 + j];
            return sum;
        });
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 333;
        host_array<float> x{shape(n)};
        host_array<double> y{shape(n)};
        for (std::size_t i = 0; i < n; ++i) {
            x[i] = static_cast<float>(random() % 1000);
            y[i] = static_cast<double>(random() % 1000);
        }
        const vector<float> on_x = on_device(ctx, x);
        const vector<double> on_y = on_device(ctx, y);
        const auto expected = [&](std::size_t i) {
            double sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += std::fabs(static_cast<double>(x[i] - x[j])) * y[j];
            return sum;
        };
        vector<double> f(ctx, n);
        f = distances(balm::element_index(), static_cast<int>(n), on_x, on_y) + on_x;
        expect_each(f.to_host(), [&](std::size_t i) { return expected(i) + x[i]; });
        // Fewer elements than the memory has, and a reduction, which knows how many from element_index.
        vector<double> first(ctx, 10);
        first = distances(balm::element_index(), static_cast<int>(n), on_x, on_y);
        expect_each(first.to_host(), expected);
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) total += expected(i);
        EXPECT_DOUBLE_EQ(balm::sum(distances(balm::element_index(0, n), static_cast<int>(n), on_x, on_y)),
                         total);
        // The target itself as memory.
        vector<double> z = on_device(ctx, y);
        z = distances(balm::element_index(), static_cast<int>(n), on_x, z);
        expect_each(z.to_host(), expected);
    });
}

TEST(V12_memory_in_expressions, says_nothing_of_the_size) {
    const auto first = balm::function("first", [](In<int> x) { return x[0]; });
    on_all_contexts([&](const context& ctx) {
        const vector<int> x(ctx, {5, 6, 7});
        EXPECT_THAT(message_of<usage_error>([&] { const vector<int> y = first(x); }), HasSubstr("how many"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)balm::sum(first(x)); }), HasSubstr("how many"));
        vector<int> y(ctx, 2);
        y = first(x);
        expect_each(y.to_host(), [](std::size_t) { return 5; });
        const vector<int> none;
        EXPECT_THAT(message_of<usage_error>([&] { y = first(none); }), HasSubstr("no elements"));
    });
}

}  // namespace

}  // namespace balm::test

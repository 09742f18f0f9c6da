// Vectors as memory in expressions: any element read at any position, by an index and by functions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernel/run.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

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

TEST(V19_constant_memory, is_read_at_positions) {
    auto random = seeded_random();
    const std::size_t n = 4099;
    const host_array<float> weights = random_values(random, 16, -1.f, 1.f);
    const host_array<float> values = random_values(random, n, -1.f, 1.f);
    on_all_contexts([&](const context& ctx) {
        const vector<float> w = on_device(ctx, weights), x = on_device(ctx, values);
        const auto i = balm::element_index(0, n);
        const auto block = [&](std::size_t k) { return weights[k / 1024]; };
        vector<float> y(ctx, n);
        y = constant_memory(w)[i / 1024] * x;
        expect_each(y.to_host(), [&](std::size_t k) { return block(k) * values[k]; });
        // The same table read in another way, too, and one that is assigned to.
        y = constant_memory(w)[i / 1024] + w[i % 16];
        expect_each(y.to_host(), [&](std::size_t k) { return block(k) + weights[k % 16]; });
        vector<float> z = x;
        z = constant_memory(z)[n - 1 - i];
        expect_each(z.to_host(), [&](std::size_t k) { return values[n - 1 - k]; });
        EXPECT_EQ(balm::max(constant_memory(w)[i / 1024]),
                  *std::max_element(weights.begin(), weights.begin() + 5));
        const vector<float> none;
        EXPECT_THAT(message_of<usage_error>([&] { y = constant_memory(none)[i]; }), HasSubstr("no elements"));
    });
}

TEST(V19_constant_memory, is_taken_where_there_is_room) {
    on_all_contexts([&](const context& ctx) {
        if (devices_are_together()) return;
        const device_info& device = ctx.device(0).info();
        const auto source_with = [&](std::size_t size) {
            const vector<float> table(ctx, size, 1.f), x(ctx, 100, 1.f);
            return balm::generated_source(constant_memory(table)[balm::element_index() % 3] * x);
        };
        const bool is_opencl = device.api == backend::opencl;
        EXPECT_EQ(source_with(16).find("constant float*") != std::string::npos, is_opencl);
        if (is_opencl && device.constant_memory < (std::uint64_t{1} << 28)) {
            EXPECT_THAT(source_with(device.constant_memory / sizeof(float) + 1),
                        Not(HasSubstr("constant float*")));
        }
    });
}

TEST(V12_memory_in_expressions, says_nothing_of_the_size) {
    const auto first = balm::function("first", [](In<int> x) { return x[0]; });
    on_all_contexts([&](const context& ctx) {
        const vector<int> x(ctx, {5, 6, 7});
        EXPECT_THAT(message_of<usage_error>([&] { const vector<int> y = first(x); }),
                    HasSubstr("the size of an expression is unknown"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)balm::sum(first(x)); }),
                    HasSubstr("the size of an expression is unknown"));
        vector<int> y(ctx, 2);
        y = first(x);
        expect_each(y.to_host(), [](std::size_t) { return 5; });
        const vector<int> none;
        EXPECT_THAT(message_of<usage_error>([&] { y = first(none); }), HasSubstr("no elements"));
    });
}

}  // namespace

}  // namespace balm::test

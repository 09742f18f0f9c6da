// Several vectors assigned by one kernel: ties and multivectors.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

TEST(V16_ties, assign_several_vectors_at_once) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 10007;
        const auto a = random_values<double>(random, n), b = random_values<double>(random, n);
        vector<double> x(ctx, std::span<const double>(a)), y(ctx, std::span<const double>(b));
        vector<float> z(ctx, n);
        vector<std::int32_t> k(ctx, n);
        tie(x, y, z, k) = std::tuple(x + y, x - y, 2.5f, cast<std::int32_t>(balm::element_index()));
        expect_each(x.to_host(), [&](std::size_t i) { return a[i] + b[i]; });
        expect_each(y.to_host(), [&](std::size_t i) { return a[i] - b[i]; });
        expect_each(z.to_host(), [](std::size_t) { return 2.5f; });
        expect_each(k.to_host(), [](std::size_t i) { return static_cast<std::int32_t>(i); });
        tie(x, y) += std::tuple(1.0, x);
        expect_each(x.to_host(), [&](std::size_t i) { return a[i] + b[i] + 1.0; });
        expect_each(y.to_host(), [&](std::size_t i) { return a[i] - b[i] + (a[i] + b[i]); });
    });
}

TEST(V16_ties, exchange_vectors_and_views) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 60;
        const auto a = random_values<double>(random, n * n), b = random_values<double>(random, n * n);
        vector<double> x(ctx, std::span<const double>(a)), y(ctx, std::span<const double>(b));
        tie(x, y) = tie(y, x);
        expect_each(x.to_host(), [&](std::size_t i) { return b[i]; });
        expect_each(y.to_host(), [&](std::size_t i) { return a[i]; });
        // Columns of one matrix, which no element shares, and a column with a row.
        auto M = view(x, {n, n});
        tie(M(balm::all, 3), M(balm::all, 7)) = std::tuple(M(balm::all, 7), M(balm::all, 3));
        tie(M(balm::all, 20), y[balm::element_index(0, n)]) =
            std::tuple(M(5, balm::all), M(balm::all, 6) + 1.0);
        expect_each(x.to_host(), [&](std::size_t i) {
            const std::size_t row = i / n, column = i % n;
            const auto exchanged = [&](std::size_t r, std::size_t c) {
                return b[r * n + (c == 3 ? 7 : c == 7 ? 3 : c)];
            };
            return column == 20 ? exchanged(5, row) : exchanged(row, column);
        });
        expect_each(y.to_host(), [&](std::size_t i) { return i < n ? b[i * n + 6] + 1.0 : a[i]; });
    });
}

TEST(V16_ties, are_one_kernel_that_computes_what_is_shared_once) {
    if (devices_are_together()) GTEST_SKIP() << "a kernel for each device";
    on_all_contexts([&](const context& ctx) {
        vector<float> x(ctx, 1000, 2.f), y(ctx, 1000, 3.f), p(ctx, 1000), q(ctx, 1000);
        int loads = 0, kernels_seen = 0;
        kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) {
            ++kernels_seen;
            for (const auto& block : f.blocks)
                for (const ir::value_id v : block) loads += f.code[v].op == ir::opcode::load;
        });
        tie(p, q) = std::tuple(x * y + 1.5f, x * y - 1.5f);
        compile_kernels_with_nvrtc_again();
        EXPECT_EQ(kernels_seen, 1);
        EXPECT_EQ(loads, 2);
        EXPECT_THAT(p.to_host(), testing::Each(7.5f));
        EXPECT_THAT(q.to_host(), testing::Each(4.5f));
        EXPECT_EQ(compilations_of([&] { tie(p, q) = std::tuple(y * x + 2.5f, y * x - 0.5f); }), 0);
    });
}

TEST(V16_ties, make_empty_vectors_and_refuse_what_does_not_fit) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 1.0), y(ctx, 11, 1.0), a, b;
        tie(a, b) = std::tuple(2 * x, x + 2);
        EXPECT_EQ(a[9], 2.0);
        EXPECT_EQ(b[0], 3.0);
        EXPECT_THAT(message_of<usage_error>([&] { tie(x, y) = std::tuple(1.0, 2.0); }),
                    HasSubstr("10 and 11"));
        EXPECT_THAT(message_of<usage_error>([&] { tie(x, a) = std::tuple(y, 2.0); }), HasSubstr("11"));
        EXPECT_THAT(message_of<usage_error>([&] { tie(x, x) = std::tuple(1.0, 2.0); }),
                    HasSubstr("targets 0 and 1 of one assignment overlap"));
        auto M = view(x, {2, 5});
        EXPECT_THAT(
            message_of<usage_error>([&] { tie(M(0, balm::all), M(balm::all, 0)) = std::tuple(1.0, 2.0); }),
            HasSubstr("must be equal"));
    });
}

TEST(V16_multivectors, compute_component_by_component) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 5003;
        std::vector<host_array<double>> a, b;
        multivector<double, 3> x(ctx, n), v(ctx, n);
        for (std::size_t k = 0; k < 3; ++k) {
            a.push_back(random_values<double>(random, n));
            b.push_back(random_values<double>(random, n));
            x(k).write(a[k]);
            v(k).write(b[k]);
        }
        const std::array<double, 3> gravity{0.5, -1.5, -9.75};
        const double dt = 0.125;
        multivector<double, 3> y = x + dt * v;
        for (std::size_t k = 0; k < 3; ++k)
            expect_each(y(k).to_host(), [&](std::size_t i) { return std::fma(dt, b[k][i], a[k][i]); });
        v += gravity;
        v *= 2.0;
        y = max(-v, x(1)) + balm::each([](const auto& p, double g) { return p * g; }, x, gravity);
        for (std::size_t k = 0; k < 3; ++k)
            expect_each(y(k).to_host(), [&](std::size_t i) {
                return std::fma(a[k][i], gravity[k], std::fmax(-((b[k][i] + gravity[k]) * 2.0), a[1][i]));
            });
        y = 3.0;
        y(1) = 4.0;
        EXPECT_THAT(balm::sum(y), testing::ElementsAre(3.0 * n, 4.0 * n, 3.0 * n));
        const std::array<double, 3> most = balm::max(x);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(most[k], *std::max_element(a[k].begin(), a[k].end()));
        y = x;  // a copy
        EXPECT_EQ(y(2).to_host(), std::span<const double>(a[2]));
    });
}

}  // namespace

}  // namespace balm::test

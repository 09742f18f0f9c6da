// On which devices and queues statements, reductions and expressions without vectors are computed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// The sum of 0, 1, … n - 1.
constexpr std::int64_t sum_below(std::int64_t n) { return n * (n - 1) / 2; }

TEST(V10_expressions_without_vectors, are_computed_on_a_context) {
    on_all_contexts([](const context& ctx) {
        constexpr std::int64_t n = 100003;
        std::vector<double> weights(ctx.size());
        for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = static_cast<double>(k + 1);
        for (const context& where : {ctx, ctx.weighted(weights)}) {
            const auto indices = on(where, element_index(0, n));
            EXPECT_EQ(balm::sum(indices), sum_below(n));
            EXPECT_EQ(balm::sum(indices * 2 + 1), 2 * sum_below(n) + n);
            EXPECT_EQ(balm::max(1 + indices), n);
            EXPECT_EQ(balm::arg_max(-on(where, element_index(5, n))).position, 0u);
            EXPECT_EQ(balm::sum(indices, policy::portable), sum_below(n));
            const vector<std::int64_t> made(indices);
            EXPECT_EQ(made.context(), ctx);
            if (ctx.size() > 1) {
                EXPECT_EQ(made.context().weights(), where.weights());
            }
            expect_each(made.to_host(), [](std::size_t i) { return static_cast<std::int64_t>(i); });
            const vector<std::int64_t> scanned(balm::inclusive_scan(indices));
            EXPECT_EQ(scanned.context(), ctx);
            EXPECT_EQ(scanned[n - 1], sum_below(n));
            const auto rows = view(indices, {n, 1});
            EXPECT_EQ(vector<std::int64_t>(balm::sum(rows, balm::along(1))).context(), ctx);
            EXPECT_EQ(vector<std::int64_t>(balm::sum(rows, balm::along(0)))[0], sum_below(n));
            EXPECT_EQ(vector<std::int64_t>(balm::sorted(-indices))[0], 1 - n);
        }
        // It says where, not how many; and a target says where by itself.
        EXPECT_THAT(message_of<usage_error>([&] { (void)balm::sum(on(ctx, element_index())); }),
                    HasSubstr("the size of an expression is unknown"));
        vector<std::int64_t> x(ctx, 10);
        x = on(ctx, element_index(3));
        EXPECT_EQ(x[9], 12);
        EXPECT_EQ(balm::sum(on(ctx, x)), balm::sum(x));
    });
}

TEST(V10_expressions_without_vectors, are_operands_of_transforms_and_products) {
    on_all_devices([](const device& dev) {
        const context twice = context({dev, dev}).weighted({1, 3});
        constexpr std::size_t n = 8;
        const auto ramp = view(on(twice, cast<double>(element_index(0, n * n))), {n, n});
        const vector<double> squared(balm::matmul(ramp, ramp));
        EXPECT_EQ(squared.context().weights(), twice.weights());
        expect_each(squared.to_host(), [](std::size_t at) {
            double sum = 0;
            for (std::size_t k = 0; k < n; ++k)
                sum += static_cast<double>((at / n * n + k) * (k * n + at % n));
            return sum;
        });
        // A row is its first element and 0, 1, … 7, whose transform is -4 + 4 i cot(π k / 8).
        const auto transformed = vector<std::complex<double>>(balm::fft(ramp, balm::along(1))).to_host();
        ASSERT_EQ(transformed.size(), n * n);
        for (std::size_t at = 0; at < n * n; ++at) {
            const double k = static_cast<double>(at % n), row = static_cast<double>(at / n);
            const std::complex<double> wanted =
                at % n == 0 ? std::complex<double>(8 * 8 * row + 28)
                            : std::complex<double>(-4, 4 / std::tan(3.14159265358979323846 * k / 8));
            EXPECT_NEAR(std::abs(transformed[at] - wanted), 0, 1e-12) << at;
        }
    });
}

TEST(V10_expressions_without_vectors, are_refused_on_other_devices_than_their_vectors) {
    const auto& devices = present_devices();
    if (devices.size() < 2) GTEST_SKIP() << "one device";
    const context first({devices[0]}), second({devices[1]});
    const vector<int> x(first, 10, 1);
    EXPECT_THAT(message_of<usage_error>([&] { (void)balm::sum(on(second, x + 1)); }),
                HasSubstr("an expression combines a vector on"));
    EXPECT_THAT(message_of<usage_error>(
                    [&] { (void)balm::sum(on(first, element_index(0, 3)) + on(second, element_index())); }),
                HasSubstr("an expression combines a vector on"));
}

TEST(V10_expressions_without_vectors, are_computed_where_a_reduction_goes) {
    for (const device& each : present_devices()) {
        SCOPED_TRACE(words(each));
        const context where(std::vector<device>{each});
        vector<std::int64_t> total(where, 1), most(where, 1);
        reduce_into(std::tie(total, most), sum_of(element_index(0, 1001)),
                    max_of(element_index(0, 1001) * 2));
        EXPECT_EQ(total[0], sum_below(1001));
        EXPECT_EQ(most[0], 2000);
    }
}

TEST(V10_expressions_without_vectors, have_effects_on_a_context) {
    using namespace balm::dsl;
    const auto count = balm::function("count", [](Long i, Mixed<int> bins) { atomic_add(bins[i % 7], 1); });
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        vector<int> bins(ctx, 7, 0);
        balm::eval(count(on(ctx, element_index(0, 700)), bins));
        expect_each(bins.to_host(), [](std::size_t) { return 100; });
    });
}

TEST(G4_queue_scopes, take_what_names_no_queue) {
    const auto add = kernel<1>("add", [](dsl::In<int> a, dsl::Out<int> b) {
        dsl::Index i = dsl::global_id(0);
        b[i] = a[i] + 1;
    });
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        const queue own = dev.queue();
        queue other = dev.make_queue(), third = dev.make_queue();
        vector<int> x(ctx, 1000, 1), y(ctx, 1000);
        {
            const queue_scope on(other);
            EXPECT_EQ(dev.queue(), other);
            y = x + 1;
            EXPECT_EQ(balm::sum(y), 2000);
            dev.execute(add(x, y), {1000});
            {
                const queue_scope inner(third);
                EXPECT_EQ(dev.queue(), third);
                x = y;
            }
            EXPECT_EQ(dev.queue(), other);
        }
        EXPECT_EQ(dev.queue(), own);
        expect_each(x.to_host(), [](std::size_t) { return 2; });
    });
}

TEST(G4_queue_scopes, let_statements_pass_what_the_own_queue_waits_for) {
    on_all_devices([&](const device& dev) {
        const context ctx(std::vector<device>{dev});
        queue other = dev.make_queue();
        vector<int> x(ctx, 1000, 1), y(ctx, 1000);
        dev.finish();
        user_event gate;
        dev.queue().record(gate);  // the device's own queue stands still
        {
            const queue_scope on(other);
            y = 3 * x;
            EXPECT_EQ(balm::sum(y), 3000);  // waits for `other` alone
        }
        gate.complete();
        dev.finish();
    });
}

TEST(G4_queue_scopes, are_of_a_device_and_a_thread) {
    on_all_contexts([](const context& ctx) {
        std::vector<queue> queues;
        for (const device& each : ctx.devices()) queues.push_back(each.make_queue());
        vector<double> x(ctx, 10001, 1.0);
        {
            std::vector<std::unique_ptr<queue_scope>> scopes;
            for (const queue& each : queues) scopes.push_back(std::make_unique<queue_scope>(each));
            for (std::size_t k = 0; k < queues.size(); ++k) EXPECT_EQ(ctx.device(k).queue(), queues[k]);
            std::thread([&] {
                for (std::size_t k = 0; k < queues.size(); ++k)
                    EXPECT_FALSE(ctx.device(k).queue() == queues[k]);
            }).join();
            x = x + 1.0;
            EXPECT_EQ(balm::sum(x), 20002.0);
            scopes.erase(scopes.begin());  // not the last one first
            EXPECT_FALSE(ctx.device(0).queue() == queues[0]);
            if (queues.size() > 1) {
                EXPECT_EQ(ctx.device(1).queue(), queues[1]);
            }
        }
        EXPECT_EQ(balm::sum(x), 20002.0);
    });
}

/// What the tests of several devices run on a machine of one, too.
TEST(V1_contexts_of_one_device_several_times, compute_what_one_computes) {
    auto random = seeded_random();
    on_all_devices([&](const device& dev) {
        const context one(std::vector<device>{dev}), thrice({dev, dev, dev});
        EXPECT_EQ(thrice.size(), 3u);
        for (const context& where : {thrice, thrice.weighted({1, 0, 3})}) {
            constexpr std::size_t n = 10007;
            const auto values = random_values<double>(random, n, -4.0, 4.0);
            vector<double> x(where, values), y(where, n), single(one, values);
            EXPECT_EQ(x.parts().size(), 3u);
            EXPECT_EQ(x.context(), where);
            y = 2 * x[std::int64_t{n - 1} - element_index()] + x;
            expect_each(y.to_host(), [&](std::size_t i) { return 2 * values[n - 1 - i] + values[i]; });
            EXPECT_EQ(balm::sum(x, policy::portable), balm::sum(single, policy::portable));
            EXPECT_EQ(balm::max(x), balm::max(single));
            const vector<double> scanned(balm::inclusive_scan(cast<double>(cast<int>(x))));
            double total = 0;
            expect_each(scanned.to_host(),
                        [&](std::size_t i) { return total += static_cast<int>(values[i]); });
            balm::sort(x);
            std::vector<double> sorted(values.begin(), values.end());
            std::sort(sorted.begin(), sorted.end());
            EXPECT_EQ(x.to_host(), sorted);
            const sparse_matrix<double> twice = sparse_matrix<double>::from_triplets(
                where, 3, 3, std::vector<std::int64_t>{0, 1, 2}, std::vector<std::int64_t>{2, 1, 0},
                std::vector<double>{2, 3, 4});
            const vector<double> v(where, {1.0, 2.0, 3.0});
            EXPECT_EQ(vector<double>(twice * v).to_host(), std::vector<double>({6, 6, 4}));
        }
    });
}

}  // namespace

}  // namespace balm::test

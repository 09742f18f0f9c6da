// Vectors over several devices: where their elements lie, and that expressions give what one device gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "array/spread/partition.hpp"
#include "array/spread/parts.hpp"
#include "array/spread/units.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(V2_several_devices, get_elements_by_weight) {
    using array::partition;
    EXPECT_THAT(partition(1024, std::vector{1.0, 1.0}), ElementsAre(0, 512, 1024));
    EXPECT_THAT(partition(1000, std::vector{3.0, 1.0}), ElementsAre(0, 768, 1000));
    EXPECT_THAT(partition(10, std::vector{1.0, 1.0, 1.0}), ElementsAre(0, 0, 10, 10));
    EXPECT_THAT(partition(0, std::vector{1.0, 2.0}), ElementsAre(0, 0, 0));
    EXPECT_THAT(partition(6400, std::vector{0.0, 1.0, 0.0}), ElementsAre(0, 0, 6400, 6400));
    auto random = seeded_random();
    for (int turn = 0; turn < 100; ++turn) {
        std::vector<double> weights(1 + random() % 5);
        for (double& w : weights) w = static_cast<double>(random() % 100);
        weights[random() % weights.size()] += 1;
        const std::size_t n = random() % 100000;
        const auto first = partition(n, weights);
        ASSERT_EQ(first.size(), weights.size() + 1);
        EXPECT_EQ(first[0], 0u);
        EXPECT_EQ(first.back(), n);
        EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
        EXPECT_EQ(first, partition(n, weights));
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t k = 0; k < weights.size(); ++k)
            EXPECT_NEAR(static_cast<double>(first[k + 1] - first[k]),
                        weights[k] / sum * static_cast<double>(n), 128);
    }
}

TEST(V2_several_devices, have_units_of_elements_and_keep_their_weights) {
    on_all_devices([](const device& dev) {
        const context where = context({dev, dev, dev}).weighted({1, 0, 3});
        const vector<float> model(where, 6400);
        const array::unit_ranges rows = array::units_like(*model.state(), 40);
        const auto made = array::made_of_units(*model.state(), rows, 100, scalar::i32);
        const vector<int> like(array::make_like(*made, scalar::i32, 1000)), wanted(where, 1000);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_EQ(rows[k].count, std::vector<std::size_t>({10, 0, 30})[k]);
            EXPECT_EQ(made->parts()[k].first, 100 * rows[k].first);
            EXPECT_EQ(made->parts()[k].elements->size(), 100 * rows[k].count);
            EXPECT_EQ(like.parts()[k].size(), wanted.parts()[k].size());
        }
        // Of a vector without elements by its weights alone.
        const auto none = array::units_like(*vector<float>(where, 0).state(), 40);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(none[k].count, rows[k].count);
    });
}

/// What follows needs several devices: it runs in a process of its own where PoCL can be told to have them.
TEST(V2_several_devices, compute_what_one_computes) {
    run_on_three_devices(
        "test_array",
        "V2_several*:V8*:V3_scatter*:V12*:V4_expressions*:V4_*/"
        "0.*:V4_structures*:V4_halves*:V4_assignment*:V4_functions*:V4_one*:V4_parts*:V5*:V16*:V19_eval."
        "checks*:V19_constant_memory.is_read*:V10*:V24*_host:V24*f64:V24*empty:V3_shared*:V3_vectors."
        "say*:G4_queue_scopes.are*:-V8*share*");
}

TEST(V2_several_devices, have_parts_of_a_vector) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        std::vector<double> weights(ctx.size(), 1.0);
        weights.back() = 2;
        const context weighted = ctx.weighted(weights);
        for (const std::size_t n : {0u, 1u, 63u, 1000u, 100003u}) {
            const auto values = random_values<double>(random, n);
            vector<double> x(weighted, std::span<const double>(values));
            EXPECT_EQ(x.to_host(), std::span<const double>(values));
            const auto parts = x.parts();
            ASSERT_EQ(parts.size(), ctx.size());
            std::size_t first = 0;
            for (std::size_t k = 0; k < parts.size(); ++k) {
                const auto got = parts[k].read();
                expect_each(got, [&](std::size_t i) { return values[first + i]; });
                first += got.size();
            }
            EXPECT_EQ(first, n);
            for (std::size_t turn = 0; turn < 5 && n > 0; ++turn) {
                const std::size_t i = random() % n;
                EXPECT_EQ(x[i], values[i]);
                x.set(i, -1.5);
                EXPECT_EQ(x[i], -1.5);
                x.set(i, values[i]);
            }
            vector<double> y(x), z(ctx, n, 7.0);  // z may be parted otherwise
            z = x + y * 2;
            expect_each(z.to_host(), [&](std::size_t i) { return std::fma(values[i], 2.0, values[i]); });
            y = z;
            EXPECT_EQ(y.to_host(), z.to_host());
            swap(y, x);
            EXPECT_EQ(y.to_host(), std::span<const double>(values));
        }
    });
}

TEST(V2_several_devices, run_kernels_on_their_parts) {
    const auto twice = balm::kernel<1>("twice(x)", [](Mixed<float> x) {
        Index i = global_id(0);
        x[i] = 2.f * x[i];
    });
    on_all_contexts([&](const context& ctx) {
        vector<float> x(ctx, 5000);
        x = cast<float>(balm::element_index());
        for (const auto& part : x.parts())
            if (part.size() > 0) part.device().execute(twice(part), {part.size()});
        expect_each(x.to_host(), [](std::size_t i) { return 2.f * static_cast<float>(i); });
    });
}

TEST(V2_several_devices, refuse_weights_and_memory_that_make_no_sense) {
    on_all_contexts([&](const context& ctx) {
        const std::vector<double> none, zero(ctx.size(), 0.0), negative(ctx.size(), -1.0),
            right(ctx.size(), 1.0);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(ctx.weighted(none)); }),
                    HasSubstr("one finite weight per device"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(ctx.weighted(zero)); }),
                    HasSubstr("at least one positive"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(ctx.weighted(negative)); }),
                    HasSubstr("none of them negative"));
        EXPECT_EQ(ctx.weighted(right).weights(), right);
        if (ctx.size() == 1) return;
        const vector<double> x(ctx, 100, 1.0), y(context({ctx.device(0)}), 100, 1.0);
        vector<double> z(ctx, 100);
        EXPECT_THAT(message_of<usage_error>([&] { x.elements(); }), HasSubstr("x.parts()"));
        EXPECT_THAT(message_of<usage_error>([&] { z = x + y; }), HasSubstr(ctx.device(1).info().name));
    });
}

/// A view of a vector: random strides, forwards and backwards, in any order of dimensions.
struct random_view {
    std::vector<std::size_t> extents;
    std::vector<std::int64_t> apart;
    std::int64_t offset = 0;
    std::size_t size = 1;  ///< of the vector

    random_view(std::mt19937_64& random, const std::vector<std::size_t>& box)
        : extents(box), apart(box.size()) {
        std::vector<std::size_t> order(box.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (random() % 3 == 0) std::shuffle(order.begin(), order.end(), random);
        std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 3);
        offset = static_cast<std::int64_t>(random() % 200);
        std::int64_t last = offset;
        for (std::size_t k = order.size(); k-- > 0;) {
            const std::size_t d = order[k];
            const std::int64_t reach = (static_cast<std::int64_t>(extents[d]) - 1) * stride;
            const bool is_reversed = random() % 4 == 0;
            apart[d] = is_reversed ? -stride : stride;
            if (is_reversed) offset += reach;
            last += reach;
            stride = stride * static_cast<std::int64_t>(extents[d]) + static_cast<std::int64_t>(random() % 5);
        }
        size = static_cast<std::size_t>(last) + 1 + (random() % 2 == 0 ? random() % 5000 : 0);
    }
    auto of(vector<std::int32_t>& x) const { return view(x, shape(extents), strides(apart), offset); }
    std::size_t position(std::size_t flat) const {
        std::int64_t at = offset;
        for (std::size_t d = extents.size(); d-- > 0; flat /= extents[d])
            at += static_cast<std::int64_t>(flat % extents[d]) * apart[d];
        return static_cast<std::size_t>(at);
    }
};

/// Among them boxes whose pieces are divided, and views of one device's part.
TEST(V2_several_devices, store_views_in_their_parts) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const device first = ctx.device(0);
        const context places[] = {ctx, context({first, first}),
                                  context({first, first, first}).weighted({1, 0, 3})};
        for (std::size_t turn = 0; turn < case_count(8); ++turn) {
            std::vector<std::size_t> box(1 + random() % 3);
            const std::size_t most = random() % 2 == 0 ? 3000 : 150'000;
            std::size_t n = 1;
            for (std::size_t& extent : box) {
                const double root = std::pow(most, 1.0 / static_cast<double>(box.size()));
                extent = 1 + random() % static_cast<std::size_t>(2 * root);
                n *= extent;
            }
            const random_view to(random, box), from(random, box);
            const auto x = random_values<std::int32_t>(random, from.size, -1000, 1000),
                       z = random_values<std::int32_t>(random, n, -1000, 1000);
            const context& on = places[random() % std::size(places)];
            vector<std::int32_t> X(on, x), Y(on, to.size, -1), W(on, to.size, -2);
            const vector<std::int32_t> Z(on, z);
            const auto check = [&](const vector<std::int32_t>& got, std::int32_t others, auto&& wanted) {
                std::vector<std::int32_t> all(to.size, others);
                for (std::size_t i = 0; i < n; ++i) all[to.position(i)] = wanted(i);
                expect_each(got.to_host(), [&](std::size_t i) { return all[i]; });
            };
            const auto own = [&](std::size_t i) { return x[from.position(i)]; };
            SCOPED_TRACE(testing::PrintToString(box) + " by " + testing::PrintToString(to.apart) + " from " +
                         std::to_string(to.offset) + ", read by " + testing::PrintToString(from.apart));
            to.of(Y) = 2 * from.of(X);
            check(Y, -1, [&](std::size_t i) { return 2 * own(i); });
            to.of(Y) = to.of(Y) + Z;
            check(Y, -1, [&](std::size_t i) { return 2 * own(i) + z[i]; });
            to.of(W) = cast<std::int32_t>(balm::element_index());
            check(W, -2, [&](std::size_t i) { return static_cast<std::int32_t>(i); });
            tie(to.of(Y), to.of(W)) = std::tuple(from.of(X), to.of(Y));
            check(Y, -1, own);
            check(W, -2, [&](std::size_t i) { return 2 * own(i) + z[i]; });
        }
    });
}

/// Shifted reads that cross the ends of parts, from and into the middle of vectors.
TEST(V2_several_devices, read_a_few_elements_of_others) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const device first = ctx.device(0);
        for (const context& on :
             {context({first, first}), context({first, first, first}).weighted({1, 0, 3})})
            for (const std::int64_t n : {1000, 200'001}) {
                const auto x = random_values<std::int32_t>(random, static_cast<std::size_t>(n), -1000, 1000);
                const auto at = [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; };
                vector<std::int32_t> X(on, x), Y(on, static_cast<std::size_t>(n), 0);
                const auto shifted = [&](std::int64_t by) { return X(slice(7 + by, n - 7 + by)); };
                Y(slice(7, n - 7)) = shifted(-7) + 3 * shifted(0) - shifted(7);
                expect_each(Y.to_host(), [&](std::size_t k) {
                    const auto i = static_cast<std::int64_t>(k);
                    return i < 7 || i >= n - 7 ? 0 : at(i - 7) + 3 * at(i) - at(i + 7);
                });
                const vector<std::int32_t> small(shifted(1) - shifted(-3) + shifted(-6));
                expect_each(small.to_host(), [&](std::size_t k) {
                    const auto i = static_cast<std::int64_t>(k) + 7;
                    return at(i + 1) - at(i - 3) + at(i - 6);
                });
                // Ranges that overlap by half.
                const std::int64_t half = n / 2;
                const vector<std::int32_t> far(X(slice(0, half)) + X(slice(n / 4, n / 4 + half)));
                expect_each(far.to_host(), [&](std::size_t k) {
                    const auto i = static_cast<std::int64_t>(k);
                    return at(i) + at(i + n / 4);
                });
                // In place, and backwards.
                X(slice(1, n - 1)) = 2 * X(slice(1, n - 1)) + Y(slice(n - 2, 0, -1));
                const auto y = Y.to_host();
                expect_each(X.to_host(), [&](std::size_t k) {
                    const auto i = static_cast<std::int64_t>(k);
                    return i == 0 || i == n - 1 ? at(i) : 2 * at(i) + y[static_cast<std::size_t>(n - 1 - i)];
                });
            }
    });
}

// Parts begin where a block of four random numbers need not.
TEST(V12_parts, have_the_random_numbers_of_their_elements) {
    on_all_contexts([](const context& ctx) {
        const uniform<std::uint32_t> number;
        for (const std::size_t n : {80, 1001, 4099}) {
            const vector<float> x(ctx, n, 0.f);
            vector<double> z(ctx, n);
            z = cast<double>(number(element_index(), 54)) + x;
            const auto got = z.to_host();
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], number(i, 54)) << i << " of " << n;
        }
    });
}

}  // namespace

}  // namespace balm::test

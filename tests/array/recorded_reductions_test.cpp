// Reductions of a recording that join the statements before and after them.

#include <gtest/gtest.h>

#include <tuple>

#include "algorithm/reduce_ways.hpp"
#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
constexpr std::size_t many = 70000;  // elements of several work-groups, on every device

TEST(B4_recorded_reductions, join_the_statements_that_feed_them) {
    const auto statements = [](world& w) {
        w.c = w.a * w.b;
        const vector<float> product = w.c * w.a;
        sum_into(w.s, product * w.b + w.c);
        w.a = w.c * 0.5f - w.a;
    };
    expect_recorded_alike(statements, 1);
    expect_recorded_alike(statements, 2, many);
}

TEST(B4_recorded_reductions, share_a_pass) {
    const auto statements = [](world& w) {
        w.d = w.d * w.e;
        sum_into(w.f, w.d * w.e);
        w.e -= w.d;
        sum_into(w.g, w.d * w.e);
    };
    expect_recorded_alike(statements, 1);
    expect_recorded_alike(statements, 2, many);
    expect_recorded_alike(
        [](world& w) {
            sum_into(w.s, w.a * w.b);
            sum_into(w.t, w.a * w.b - w.a);
            balm::reduce_into(std::tie(w.f, w.g), balm::max_of(w.d), balm::sum_of(w.d * w.e));
        },
        4, many);
}

TEST(B4_recorded_reductions, reduce_what_the_statement_before_stores) {
    expect_recorded_alike(
        [](world& w) {
            w.a = w.a * 0.5f + w.b;  // read and written: no element may be computed twice
            min_into(w.s, w.a);
            w.b = w.b + 1.f;
            max_into(w.t, w.b * w.a);
        },
        4, many);  // on GPUs, the reductions divide the elements differently
}

TEST(B4_recorded_reductions, contract_products_that_all_elements_share) {
    expect_recorded_alike(
        [](world& w) {
            w.a = w.a * 0.5f - w.s * 0.37f;
            w.b = w.b - w.a * 0.11f;
            sum_into(w.t, w.a * w.b + w.s * 0.71f);
        },
        2, many);
}

TEST(B4_recorded_reductions, take_no_more_local_memory_than_there_is) {
    const shapes_of_gpus there(true);
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> one(ctx, 5000);
        one = 1.0;
        vector<balm::double4> x(ctx, 5000);
        x = compose<balm::double4>(one, 2.0 * one, 3.0 * one, 4.0 * one);
        std::vector<vector<balm::double4>> sums;
        for (int k = 0; k < 70; ++k) sums.emplace_back(ctx, 1);
        const recording step = record(ctx, [&] {
            for (auto& each : sums) sum_into(each, x);
        });
        step.repeat(2);
        for (auto& each : sums) EXPECT_EQ(each.to_host()[0].w, 20000.0);
    });
}

TEST(B4_recorded_reductions, let_statements_of_one_element_follow) {
    const auto statements = [](world& w) {
        vector<double> length(w.ctx, 1), factor(w.ctx, 1);
        sum_into(length, w.d * w.e);
        factor = w.g / length;
        w.d += 0.01 * factor * w.e;
        w.e -= 0.02 * factor * w.d;
        sum_into(w.f, w.e * w.e);
        factor = w.f / w.g + w.f * w.f;
        w.g = w.f * 0.5;
        w.d = w.e + factor * w.d;
    };
    expect_recorded_alike(statements, 5);
    expect_recorded_alike(statements, 5, many);
}

TEST(B4_recorded_reductions, keep_the_order_of_results) {
    expect_recorded_alike(
        [](world& w) {
            sum_into(w.s, w.a);
            w.t = w.s + 1.f;
            w.s = w.t * 2.f;     // over the result
            w.b = w.a * w.s;     // reads it
            sum_into(w.s, w.b);  // writes it again
            w.t = 3.f;           // which the statement before last but one has read
            w.a = w.t * w.a;
        },
        9, many);
}

TEST(B4_recorded_reductions, read_other_elements_before_they_are_overwritten) {
    expect_recorded_alike(
        [](world& w) {
            const auto index = balm::element_index(0, many);
            sum_into(w.s, w.a[(index + 7) % std::int64_t{many}] * w.b);
            w.a = w.b + 1.f;  // other work-items have read a
            max_into(w.t, w.b[std::int64_t{many} - 1 - index]);
            w.c = w.a - w.b;
            w.b = w.c * 0.5f;
        },
        6, many);
}

TEST(B4_recorded_reductions, round_functions_as_each_statement_does) {
    expect_recorded_alike(
        [](world& w) {
            w.b = sin(w.a);
            sum_into(w.s, w.b * w.a);
            w.t = exp(w.s * 0.001f);  // of one element: a scalar or a vector
            w.c = tanh(w.b) - w.a;
            sum_into(w.f, cast<double>(w.c));  // of two types: not in vectors
            w.k = cast<std::int32_t>(cos(w.c) * 100.f);
            max_into(w.t, exp(w.c));
        },
        14, many);
}

TEST(B4_recorded_reductions, find_positions_and_fold) {
    const auto longer = function("longer(x, y)", [](Float x, Float y) { return hypot(x, y); });
    expect_recorded_alike(
        [=](world& w) {
            w.a = w.a + w.b;
            fold_into(w.s, w.a, 0.f, longer);
            all_into(w.flag, w.a < 100.f);
            w.c = w.a * 2.f;
            product_into(w.t, 1.f + w.c * 0.00001f);
            balm::sum_into(w.q, cast<std::int64_t>(w.k));
        },
        10, many);
}

TEST(B4_recorded_reductions, combine_in_the_portable_order) {
    expect_recorded_alike(
        [](world& w) {
            w.c = w.a * w.b;
            sum_into(w.s, w.c * w.a, balm::policy::portable);
            sum_into(w.t, w.c, balm::policy::portable);
            sum_into(w.f, w.d);
        },
        4, many);
}

TEST(B4_recorded_reductions, divide_as_gpus_do) {
    const shapes_of_gpus there(true);
    expect_recorded_alike(
        [](world& w) {
            w.c = w.a * w.b + w.s;
            sum_into(w.t, w.c * w.a);
            w.s = w.t * 0.001f;
            w.e = w.d * 0.5 + cast<double>(w.c);
            sum_into(w.f, w.e * w.d);
            max_into(w.g, w.e);
        },
        6, many);
}

TEST(B4_recorded_reductions, are_read_through_other_vectors_of_the_memory) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        auto buffer = on.mixed_buffer<float>(1);
        vector<float> total = as_vector(buffer.range(0, 1)), alias = as_vector(buffer.range(0, 1));
        vector<float> x(ctx, n), after(ctx, 1);
        x = 1.f;
        total = -1.f;
        const recording step = record(ctx, [&] {
            x *= 2.f;
            sum_into(total, x);
            after = alias + 1.f;
        });
        step.repeat(2);
        EXPECT_EQ(after[0], 4.f * n + 1.f);
    });
}

TEST(B4_recorded_reductions, are_not_computed_if_nobody_reads_them) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, n);
        x = 1.0;
        const recording step = record(ctx, [&] {
            x *= 2.0;
            vector<double> unread(ctx, 1);
            sum_into(unread, x);
        });
        EXPECT_EQ(step.size(), 1u) << step.describe();
        step.repeat(2);
        expect_each(x.to_host(), [](std::size_t) { return 4.0; });
    });
}

}  // namespace

}  // namespace balm::test

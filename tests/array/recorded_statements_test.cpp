// Statements of a recording that become one kernel.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <tuple>

#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
TEST(B4_recordings, fuse_statements_over_the_same_elements) {
    expect_recorded_alike(
        [](world& w) {
            w.b -= 0.1f * w.a;
            w.a += 0.1f * w.b;
            w.c = w.a * w.b + w.c * 0.5f;
        },
        1);
}

TEST(B4_recordings, round_as_each_statement_does) {
    expect_recorded_alike(
        [](world& w) {
            w.c = w.a * w.b;
            w.a = w.c + w.b;  // no fma
            const vector<float> product = w.a * w.b;
            w.c = product - w.c;    // nor here, where it is not stored
            w.b = w.a * w.b + w.c;  // one
            w.d = w.d * w.e;
            w.e = w.d * w.e + w.d - w.e;  // one of the two sums
            w.c = w.c * w.a - w.b * w.a;
        },
        1);
}

TEST(B4_recordings, convert_as_stores_and_loads_do) {
    expect_recorded_alike(
        [](world& w) {
            w.d = w.a * w.b;
            w.a = cast<float>(w.d / 3.0);
            w.d = w.a;  // a float by now
            w.k = cast<std::int32_t>(w.d * 1000.0);
            w.m = cast<std::uint8_t>(w.k);  // modulo 256
            w.k = w.k + cast<std::int32_t>(w.m);
            w.e = cast<double>(w.m);
        },
        1);
}

TEST(B4_recordings, do_not_store_vectors_that_nobody_can_read) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const recording step = expect_recorded_alike(
            ctx,
            [](world& w) {
                const auto slope = [](const vector<double>& x) { return sqrt(1.0 + x * x); };
                vector<double> k1 = slope(w.d);
                vector<double> k2 = slope(w.d + 0.05 * k1);
                vector<double> k3 = slope(w.d + 0.05 * k2);
                vector<double> k4 = slope(w.d + 0.1 * k3);
                w.d += 0.1 / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            },
            random());
        EXPECT_EQ(step.size(), 1u) << step.describe();
    });
}

TEST(B4_recordings, integrate_as_the_host_does) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        std::vector<double> from(n);
        for (std::size_t i = 0; i < n; ++i) from[i] = 0.25 * static_cast<double>(i % 7);
        vector<double> x(ctx, from), v(ctx, n);
        v = 0.0;
        const recording step = record(ctx, [&] {
            v -= 0.125 * x;  // exact: no rounding for these steps
            x += 0.5 * v;
        });
        EXPECT_EQ(step.size(), 1u);
        step.repeat(4);
        expect_each(x.to_host(), [&](std::size_t i) {
            double place = from[i], speed = 0;
            for (int k = 0; k < 4; ++k) {
                speed -= 0.125 * place;
                place += 0.5 * speed;
            }
            return place;
        });
    });
}

TEST(B4_recordings, copy_and_fill_within_the_kernel) {
    expect_recorded_alike(
        [](world& w) {
            w.c = w.a;
            w.a = w.b;
            w.b = w.c;
            w.c = 1.5f;
            w.c += w.a;
            w.k = 7;
            tie(w.a, w.b) = std::tuple(w.b - 1.f, w.a);
        },
        1);
}

TEST(B4_recordings, keep_the_order_of_other_elements) {
    expect_recorded_alike(
        [](world& w) {
            w.c = 2.f * w.a;
            w.b = w.c[n - 1 - balm::element_index()];  // all of c must be there
            w.a = w.b[(balm::element_index() + 5) % n] + w.a;
            w.b = w.a * 0.5f;  // and a's statement must have read b
            w.c[n - 1 - balm::element_index()] = w.b;
            auto M = view(w.b, {32, 32});
            M(balm::all, 3) = M(balm::all, 7);
            w.b = w.b + w.c;
        },
        8);
}

TEST(B4_recordings, read_other_elements_of_vectors_that_stay) {
    expect_recorded_alike(
        [](world& w) {
            w.b = w.a[(balm::element_index() + 1) % n] - w.a;
            w.c = w.a[(balm::element_index() + n - 1) % n] + w.b;
            w.d = cast<double>(w.b) * cast<double>(w.c);
        },
        1);
}

TEST(B4_recordings, call_functions) {
    expect_recorded_alike(
        [](world& w) {
            w.a = sin(w.a) + exp(-(w.b * w.b));
            w.b = cos(w.a) * tanh(w.b);
            auto bend = function("bend(x)", [](Float x) { return x * x * 0.25f + x; });
            w.c = bend(w.a) * w.s;
            w.a = bend(w.c) + 1.f;
        },
        3);
}

TEST(B4_recordings, round_functions_as_each_statement_does) {
    expect_recorded_alike(
        [](world& w) {
            vector<bool> flags(w.ctx, n);
            w.b = sin(w.a);
            flags = w.k > 0 && w.a > 0.f;
            w.c = exp(w.b) * tanh(w.a);
            flags = select(w.b > 0.f, flags, w.c > 0.f);
            w.e = log(abs(w.d) + 1.0);
            w.m = select(flags, w.m, cast<std::uint8_t>(w.k));
            w.a = w.c + w.a[n - 1 - balm::element_index()];
        },
        7);
}

TEST(B4_recordings, keep_what_the_next_replay_reads) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> y(ctx, n), state(ctx, n);
        y = 0.0;
        state = 1.0;
        const recording step = record(ctx, [&] {
            vector<double> own = std::move(state);  // nobody can read it afterwards but the recording
            y += own;
            own = own * 2.0;
        });
        step.repeat(3);
        expect_each(y.to_host(), [](std::size_t) { return 7.0; });
    });
}

TEST(B4_recordings, call_functions_with_effects_whose_results_nobody_reads) {
    on_all_devices([&](const device& on) {
        context ctx({on});
        std::ostringstream text;
        ctx.print_to(text);
        vector<int> x(ctx, 2);
        x = balm::element_index();
        const auto said = function("said(x)", [](Int x) {
            print("{} ", x);
            return x + 1;
        });
        const recording step = record(ctx, [&] { vector<int> more = said(x); });
        step();
        on.finish();
        EXPECT_EQ(text.str(), "0 1 ");
    });
}

}  // namespace

}  // namespace balm::test

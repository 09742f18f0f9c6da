// Recordings of algorithms, kernels, copies and reads, in queues and threads; and what they refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

TEST(B4_recordings, reduce_into_vectors) {
    expect_recorded_alike(
        [](world& w) {
            sum_into(w.s, w.a * w.b);
            w.a = w.a + 0.001f * w.s * w.b;
            max_into(w.s, w.a);
            w.b = w.b / (1.f + abs(w.s));
        },
        6);
}

TEST(B4_recordings, run_algorithms) {
    expect_recorded_alike(
        [](world& w) {
            w.c = balm::inclusive_scan(w.a);
            balm::sort(w.b);
            w.d = balm::inclusive_scan(cast<double>(w.c) * 0.125);
            w.k = balm::inclusive_scan(balm::max_of(w.k));
            auto M = view(w.a, {32, 32});
            vector<float> rows(w.ctx, 32);
            rows = balm::sum(M, balm::along(1));
            M = M - 0.01f * view(rows, {32, 1}).broadcast({32, 32});
        },
        60);
}

TEST(B4_recordings, run_algorithms_that_move_elements) {
    expect_recorded_alike(
        [](world& w) {
            balm::sort_by_key(w.a, w.k, w.b);
            balm::sort_by_key(w.m, w.d, balm::descending);
            vector<std::int64_t> found(w.ctx, 1);
            balm::copy_if_into(w.c, found, w.b, w.b > 0.f);
            w.e = w.e + cast<double>(found);
            balm::sort(w.k);
            vector<std::int32_t> heads(w.ctx, n);
            heads = 0;
            balm::reduce_by_key_into(std::tie(heads, w.b), found, w.k, w.a);
            w.k = heads;
            w.s = cast<float>(found);
        },
        90);
}

TEST(B4_recordings, run_algorithms_on_neighbours) {
    expect_recorded_alike(
        [](world& w) {
            w.c = balm::convolve(balm::border::mirror, w.a, {0.25f, 0.5f, 0.25f});
            w.b = w.c + 0.1f * balm::stencil(
                                   balm::border::clamp,
                                   [](const auto& u) { return u(-1) - 2.0f * u(0) + u(1); }, w.a);
            w.a = w.b * 0.5f;
            w.d = balm::uniform<double>()(balm::element_index(), 7) - w.e;
            const auto A = view(w.a, {32, 32}), B = view(w.b, {32, 32});
            view(w.c, {32, 32}) = balm::matmul(A, B.transpose());
            w.k = balm::histogram(w.c, n, -8.0, 8.0);
        },
        30);
}

TEST(B4_recordings, transform_and_multiply) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const auto values = random_values<float>(random, 2 * n);
        const auto rows = balm::sparse_matrix<double>::from_triplets(ctx, 3, 3, std::vector<int>{0, 1, 2, 2},
                                                                     std::vector<int>{1, 2, 0, 2},
                                                                     std::vector<double>{1, 2, 3, 4});
        vector<std::complex<float>> z(ctx, n), f(ctx, n), g(ctx, n);
        vector<double> x(ctx, std::vector<double>{1, 2, 3}), y(ctx, 3), direct(ctx, 3);
        std::vector<std::complex<float>> given(n);
        for (std::size_t i = 0; i < n; ++i) given[i] = {values[i], values[n + i]};
        z = given;
        const auto statements = [&](vector<std::complex<float>>& into, vector<double>& product) {
            into = balm::fft(z);
            into = balm::ifft(into) * 2.f;
            product = rows * x;
            product += transposed(rows) * x;  // the transposed matrix is made once, not recorded
        };
        const recording step = record(ctx, [&] { statements(f, y); });
        step.repeat(2);
        statements(g, direct);
        const auto a = f.to_host(), b = g.to_host();
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], b[i]) << i;
        expect_each(y.to_host(), [&, wanted = direct.to_host()](std::size_t i) { return wanted[i]; });
        vector<double> later(ctx, 3);
        later = transposed(rows) * x;
        expect_each(later.to_host(), [](std::size_t i) { return std::array<double, 3>{9, 1, 16}[i]; });
    });
}

TEST(B4_recordings, launch_copy_and_write) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto add = kernel<1>("add(x, y)", [](In<float> x, InOut<float> y) {
            y[global_id(0)] = x[global_id(0)] + y[global_id(0)];
        });
        const auto values = random_values<float>(random, n);
        auto x = on.mixed_buffer<float>(n), y = on.mixed_buffer<float>(n), z = on.mixed_buffer<float>(n);
        std::vector<float> given(values.begin(), values.end());
        z.fill(0.f);
        const recording step = record(context({on}), [&] {
            const event written = x.write(given);
            y.fill(2.f);
            const event added = on.execute(add(x, y), {n}, written);
            on.execute(add(y, z), {n}, added);  // its event is discarded: it does not wait
            z.range(0, n / 2).copy_to(x.range(n / 2, n));
        });
        std::fill(given.begin(), given.end(), 0.f);  // the values were copied
        step.repeat(2);
        expect_each(z.read(), [&](std::size_t i) { return (values[i] + 2.f) + (values[i] + 2.f); });
        expect_each(x.read(),
                    [&](std::size_t i) { return i < n / 2 ? values[i] : 2 * (values[i - n / 2] + 2.f); });
    });
}

TEST(B4_recordings, read_to_the_host_with_every_replay) {
    on_all_devices([&](const device& on) {
        auto x = on.mixed_buffer<int>(n);
        x.fill(1);
        const auto twice = kernel<1>("twice(x)", [](InOut<int> x) { x[global_id(0)] = 2 * x[global_id(0)]; });
        auto seen = on.pinned_array<int>(n);
        const recording step = record(context({on}), [&] {
            on.execute(twice(x), {n});
            const event read = x.read_into(seen);
        });
        for (int k = 1; k <= 4; ++k) {
            step();
            on.finish();
            EXPECT_EQ(seen[n - 1], 1 << k);
        }
    });
}

TEST(B4_recordings, read_into_memory_of_their_own) {
    on_all_devices([&](const device& on) {
        auto x = on.mixed_buffer<int>(n);
        std::optional<pending_read<int>> later;
        const recording step = record(context({on}), [&] {
            x.fill(5);
            later.emplace(x.read_async());
        });
        EXPECT_THAT(fault_of([&] { static_cast<void>(later->get()); }), HasSubstr("replay it"));
        step();
        EXPECT_EQ(later->get()[n - 1], 5);
    });
}

TEST(B4_recordings, go_on_after_a_failed_check) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        auto x = on.mixed_buffer<int>(4);
        x.fill(3);
        const auto below_four = kernel<1>("below_four(x)", [](InOut<int> x) {
            check(x[global_id(0)] < 4, "too large");
            x[global_id(0)] += 1;
        });
        const recording step = record(ctx, [&] { on.execute(below_four(x), {4}); });
        step();
        step();
        EXPECT_THROW(step(), check_error);  // that of the second replay, which this one waits for
        x.fill(0);
        step();
        EXPECT_EQ(x.read()[3], 1);
    });
}

TEST(B4_recordings, print_with_every_replay) {
    on_all_devices([&](const device& on) {
        context ctx({on});
        std::ostringstream text;
        ctx.print_to(text);
        auto x = on.mixed_buffer<int>(4);
        x.fill(0);
        const auto shout = kernel<1>("shout(x)", [](InOut<int> x) {
            x[global_id(0)] = x[global_id(0)] + 1;
            print("{} ", x[global_id(0)]);
        });
        const recording step = record(ctx, [&] { on.execute(shout(x), {4}); });
        EXPECT_EQ(text.str(), "");
        step.repeat(3);
        on.finish();
        EXPECT_EQ(text.str(), "1 1 1 1 2 2 2 2 3 3 3 3 ");
    });
}

TEST(B4_recordings, nest) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const std::uint64_t seed = random();
        world direct(ctx, seed), recorded(ctx, seed);
        const recording inner = record(ctx, [&] { recorded.a += recorded.b * 0.5f; });
        const recording outer = record(ctx, [&] {
            inner.repeat(2);
            recorded.b = recorded.a - recorded.b;
            inner();
        });
        outer.repeat(2);
        for (int k = 0; k < 2; ++k) {
            for (int j = 0; j < 2; ++j) direct.a += direct.b * 0.5f;
            direct.b = direct.a - direct.b;
            direct.a += direct.b * 0.5f;
        }
        expect_same(recorded, direct);
    });
}

TEST(B4_recordings, use_several_devices) {
    if (!devices_are_together())
        return run_on_three_devices("test_array", "B4_recordings.use_several_devices");
    const context ctx(present_devices());
    const std::uint64_t seed = balm::test::seed();
    world direct(ctx, seed), recorded(ctx, seed);
    const auto statements = [](world& w) {
        w.a = w.a * 0.5f + w.b;
        w.b = w.a[n - 1 - balm::element_index()];
        w.c = balm::inclusive_scan(w.a);
        w.a = view(view(w.c, {32, 32})(balm::all, balm::reversed), {n}) + w.b;
    };
    const recording step = record(ctx, [&] { statements(recorded); });
    step.repeat(times);
    for (int k = 0; k < times; ++k) statements(direct);
    expect_same(recorded, direct);
}

TEST(B4_recordings, are_replayed_in_named_queues) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n), y(ctx, n);
        x = 1.f;
        queue other = on.make_queue();
        const recording step = record(ctx, [&] {
            x += 1.f;
            const queue_scope there(other);
            y = 2.f * x;
        });
        step();
        expect_each(y.to_host(), [](std::size_t) { return 4.f; });
        {
            const queue_scope there(other);
            step();
        }
        expect_each(y.to_host(), [](std::size_t) { return 6.f; });
    });
}

TEST(B4_recordings, are_replayed_by_several_threads) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, n);
        x = 0.0;
        const recording step = record(ctx, [&] {
            vector<double> more = x + 1.0;
            vector<double> sum(ctx, 1);
            sum_into(sum, more);
            x = more;
        });
        {
            std::vector<std::jthread> threads;
            for (int k = 0; k < 4; ++k)
                threads.emplace_back([&] {
                    queue own = on.make_queue();
                    const queue_scope here(own);
                    step.repeat(25);
                });
        }
        expect_each(x.to_host(), [](std::size_t) { return 100.0; });
    });
}

TEST(B4_recordings, outlive_names_and_are_destroyed_in_flight) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> sum(ctx, n);
        sum = 0.0;
        {
            const recording step = [&] {
                vector<double> ones(ctx, std::vector<double>(n, 1.0)), two(ctx, n);
                return record(ctx, [&] {
                    two = ones[balm::element_index()] + ones;
                    balm::sort(two);
                    sum += two;
                });
            }();
            step.repeat(50);
        }
        expect_each(sum.to_host(), [](std::size_t) { return 100.0; });
    });
}

// ---- what is refused

TEST(B4_recordings, refuse_what_needs_a_result) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n), y(ctx, n);
        x = 1.f;
        auto b = on.mixed_buffer<float>(n);
        b.fill(1.f);
        const auto refused = [&](auto&& statements) {
            const std::string fault = fault_of([&] { record(ctx, statements); });
            x = 1.f;  // this thread records no longer
            return fault;
        };
        const auto needs = HasSubstr("A recording cannot read memory");
        EXPECT_THAT(refused([&] { static_cast<void>(balm::sum(x)); }), needs);
        EXPECT_THAT(refused([&] { static_cast<void>(x.to_host()); }), needs);
        EXPECT_THAT(refused([&] { static_cast<void>(float(x[3])); }), needs);
        EXPECT_THAT(refused([&] { static_cast<void>(b.read()); }), needs);
        EXPECT_THAT(refused([&] { static_cast<void>(balm::copy_if(x, x > 0.f)); }), needs);
        EXPECT_THAT(refused([&] { static_cast<void>(b.map()); }),
                    testing::Not(HasSubstr("nothing was refused")));
        EXPECT_THAT(refused([&] { b.read_async().get(); }), HasSubstr("cannot wait for memory"));
        EXPECT_THAT(refused([&] { record(ctx, [] {}); }), HasSubstr("records already"));
        EXPECT_THAT(refused([&] { event(b.write(std::vector<float>(n))).on_complete([] {}); }),
                    HasSubstr("given a callback"));
        EXPECT_THAT(refused([&] { event(b.write(std::vector<float>(n))).profile(); }),
                    HasSubstr("has no timestamps"));
    });
}

TEST(B4_recordings, refuse_what_they_would_have_to_compute_first) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, 3), y(ctx, 3);
        EXPECT_THAT(fault_of([&] {
                        record(ctx, [&] {
                            const auto A = sparse_matrix<double>::from_triplets(
                                ctx, 3, 3, std::vector<int>{0, 1, 2, 2}, std::vector<int>{1, 2, 0, 2},
                                std::vector<double>{1, 2, 3, 4});
                            y = transposed(A) * x;
                        });
                    }),
                    HasSubstr("make it before"));
        const auto shout = kernel<1>("shout(x)", [](InOut<double> x) { print("{} ", x[global_id(0)]); });
        const recording prints = record(ctx, [&] { on.execute(shout(x), {1}); });
        EXPECT_THAT(fault_of([&] { record(ctx, [&] { prints(); }); }),
                    HasSubstr("cannot be replayed within"));
    });
}

TEST(B4_recordings, leave_no_trace_of_what_threw) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n);
        x = 1.f;
        EXPECT_THROW(record(ctx,
                            [&] {
                                x += 1.f;
                                balm::sort(x);
                                x += 1.f;
                                throw std::runtime_error("the program's own");
                            }),
                     std::runtime_error);
        expect_each(x.to_host(), [](std::size_t) { return 1.f; });
    });
}

TEST(B4_recordings, refuse_events_after_the_recording) {
    on_all_devices([&](const device& on) {
        auto b = on.mixed_buffer<float>(n);
        event written;
        const recording step = record(context({on}), [&] {
            written = b.write(std::vector<float>(n, 1.f));
            written.wait();  // does nothing
            on.finish();
        });
        EXPECT_THAT(fault_of([&] { written.wait(); }), HasSubstr("replay it"));
        EXPECT_THAT(fault_of([&] { event(b.write(std::vector<float>(n), written)).wait(); }),
                    HasSubstr("replay it"));
        step();
        EXPECT_EQ(b.read()[n - 1], 1.f);
    });
}

TEST(B4_recordings, refuse_freed_memory) {
    on_all_devices([&](const device& on) {
        auto b = on.mixed_buffer<float>(n);
        const recording step = record(context({on}), [&] { b.fill(1.f); });
        step();
        b.free();
        EXPECT_THAT(fault_of([&] { step(); }), HasSubstr("freed"));
    });
}

TEST(B4_recordings, take_only_their_devices) {
    on_all_devices([&](const device& on) {
        for (const device& other : present_devices()) {
            if (other == on) continue;
            vector<float> x(context({other}), n);
            EXPECT_THAT(fault_of([&] { record(context({on}), [&] { x = 1.f; }); }),
                        HasSubstr("is another one"));
        }
    });
}

}  // namespace

}  // namespace balm::test

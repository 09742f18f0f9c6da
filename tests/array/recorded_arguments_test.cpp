// Recordings with arguments, temporaries, conditions, and what describe() says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "array/recorded_world.hpp"

namespace balm::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// One step of a leapfrog, with a kernel that cannot be fused.
void kick_and_drift(const auto& h, auto& x, auto& v) {
    v -= h * sin(x);
    x += h * v;
    v = v * 0.5 + balm::inclusive_scan(x) * 0.001;
}

TEST(B4_recorded_arguments, replace_numbers_and_vectors) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const auto given = random_values<double>(random, 2 * n);
        const std::vector<double> first(given.begin(), given.begin() + n),
            second(given.begin() + n, given.end());
        vector<double> x(ctx, first), v(ctx, second), y(ctx, first), w(ctx, second);
        const auto step = record(
            ctx, [](const auto& h, auto& a, auto& b) { kick_and_drift(h, a, b); }, 0.5, x, v);
        expect_each(x.to_host(), [&](std::size_t i) { return first[i]; });  // nothing has run
        const double widths[] = {0.5, 0.25, 0.25, 1e-3};
        for (int k = 0; k < 12; ++k) {
            const double h = widths[k % 4];
            if (k % 2 == 0) {
                step(h, x, v);
                kick_and_drift(h, y, w);
            } else {
                step(h, v, x);
                kick_and_drift(h, w, y);
            }
        }
        step.with(0.1, x, v).repeat(3);
        for (int k = 0; k < 3; ++k) kick_and_drift(0.1, y, w);
        expect_each(x.to_host(), [wanted = y.to_host()](std::size_t i) { return wanted[i]; });
        expect_each(v.to_host(), [wanted = w.to_host()](std::size_t i) { return wanted[i]; });
    });
}

TEST(B4_recorded_arguments, may_be_new_vectors_each_time) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n, 1.f), y(ctx, n, 0.f);
        const auto step = record(
            ctx, [](const auto& from, auto& to, const auto& by) { to = by * from; }, std::as_const(x), y,
            std::int32_t{3});
        for (int k = 0; k < 11; ++k) {  // more than the recording keeps
            const vector<float> from(ctx, n, static_cast<float>(k));
            vector<float> to(ctx, n);
            step(from, to, k);
            step(from, to, k + 1);
            expect_each(to.to_host(), [&](std::size_t) { return static_cast<float>(k * (k + 1)); });
        }
        expect_each(y.to_host(), [](std::size_t) { return 0.f; });
        step(x, y, 2);
        expect_each(y.to_host(), [](std::size_t) { return 2.f; });
    });
}

TEST(B4_recorded_arguments, are_replaced_in_copies_fills_products_and_kernels) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const auto twice = kernel<1>(
            "twice(x)", [](dsl::InOut<float> x) { x[dsl::global_id(0)] = 2.f * x[dsl::global_id(0)]; });
        const auto statements = [&](auto& x, auto& y, auto& m) {
            on.execute(twice(x), {x.size()});
            view(y, {16, 16}) = balm::matmul(view(x, {16, 16}), view(m, {16, 16}));
            m = y;
            x.write(std::vector<float>(256, 3.f));
            view(x, {256})(balm::slice(0, 16)) = 7.f;
        };
        vector<float> x(ctx, 256), y(ctx, 256), m(ctx, 256);
        const auto fill = [](auto& a, auto& b, auto& c) {
            a = balm::cast<float>(balm::element_index() % std::int64_t{5});
            b = 0.f;
            c = balm::cast<float>(balm::element_index() % std::int64_t{3});
        };
        fill(x, y, m);
        const auto step = record(ctx, statements, x, y, m);
        vector<float> a(ctx, 256), b(ctx, 256), c(ctx, 256);
        fill(a, b, c);
        for (int k = 0; k < 3; ++k) {
            step(a, b, c);
            statements(x, y, m);
            for (const auto& [one, other] : {std::tie(a, x), std::tie(b, y), std::tie(c, m)})
                expect_each(one.to_host(), [wanted = other.to_host()](std::size_t i) { return wanted[i]; });
        }
    });
}

TEST(B4_recorded_arguments, are_arguments_of_recorded_calls) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n, 1.f), y(ctx, n, 10.f);
        const auto add = record(
            ctx, [](const auto& by, auto& to) { to = to + by; }, 1.f, x);
        const recording both = record(ctx, [&] {
            add(2.f, x);
            add(3.f, y);
        });
        add(100.f, y);  // another number in between
        both.repeat(2);
        expect_each(x.to_host(), [](std::size_t) { return 5.f; });
        expect_each(y.to_host(), [](std::size_t) { return 116.f; });
    });
}

TEST(B4_recorded_arguments, of_several_threads_stay_together) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<std::int32_t> x(ctx, n, 0);
        const auto add = record(
            ctx, [](const auto& by, auto& to) { to = to * 3 + by; }, 0, x);
        std::vector<vector<std::int32_t>> of_thread;
        for (int t = 0; t < 3; ++t) of_thread.emplace_back(ctx, n, 0);
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&, t] {
                for (int k = 0; k < 12; ++k) add(10 * t + k, of_thread[static_cast<std::size_t>(t)]);
            });
        for (std::thread& each : threads) each.join();
        for (int t = 0; t < 3; ++t) {
            std::int32_t wanted = 0;
            for (int k = 0; k < 12; ++k) wanted = wanted * 3 + 10 * t + k;
            expect_each(of_thread[static_cast<std::size_t>(t)].to_host(),
                        [&](std::size_t) { return wanted; });
        }
    });
}

TEST(B4_recorded_arguments, may_be_on_several_devices) {
    if (!devices_are_together())
        return run_on_three_devices("test_array", "B4_recorded_arguments.may_be_on_several_devices");
    const context both({present_devices()[0], present_devices()[1]});
    vector<float> x(both, n, 1.f), y(both, n, 2.f), z(both, n, 0.f);
    const auto step = record(
        both, [](const auto& by, auto& a, auto& b) { b = by * a + b; }, 2.f, x, y);
    step(2.f, x, y);
    step(3.f, y, z);
    expect_each(z.to_host(), [](std::size_t) { return 12.f; });
    const vector<float> single(context({present_devices()[0]}), n);
    EXPECT_THAT(fault_of([&] {
                    vector<float> one = single;
                    step(1.f, one, y);
                }),
                HasSubstr("argument 2 of the recording was recorded with a vector on 2 devices"));
}

TEST(B4_recorded_arguments, that_cannot_take_the_place_of_others_are_refused) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n, 1.f), y(ctx, n, 2.f), other(ctx, n, 3.f), none;
        const auto step = record(
            ctx, [&](auto& a, auto& b) { b = a + other; }, x, y);
        EXPECT_THAT(
            fault_of([&] {
                vector<float> shorter(ctx, n - 1);
                step(x, shorter);
            }),
            HasSubstr(
                "argument 2 of the recording was recorded with a vector of 1024 elements, and is one of "
                "1023"));
        EXPECT_THAT(fault_of([&] { step(none, y); }),
                    HasSubstr("argument 1 of the recording is a vector without"));
        EXPECT_THAT(fault_of([&] { step(x, x); }), HasSubstr("shares its memory with another argument"));
        EXPECT_THAT(fault_of([&] { step(x, other); }), HasSubstr("uses a vector"));
        EXPECT_THAT(fault_of([&] {
                        record(
                            ctx, [](auto&) {}, none);
                    }),
                    HasSubstr("has no device"));
        const auto same = record(
            ctx, [](auto& a, auto& b) { b = 2.f * a; }, x, x);
        EXPECT_THAT(fault_of([&] { same(x, y); }), HasSubstr("shares its memory"));
        const auto longer = on.mixed_buffer<float>(2 * n);
        EXPECT_THAT(fault_of([&] {
                        vector<float> part = balm::as_vector(longer);
                        step(part, y);
                    }),
                    HasSubstr("elements"));
        step(x, y);  // nothing was lost
        expect_each(y.to_host(), [](std::size_t) { return 4.f; });
        same(y, y);
        expect_each(y.to_host(), [](std::size_t) { return 8.f; });
    });
}

template <class T>
void expect_assigned(const context& ctx, const T& first, const T& second) {
    vector<T> x(ctx, 3, first), y(ctx, 3, first);
    const auto step = record(
        ctx, [](const auto& value, auto& to) { to = value[0 * balm::element_index()]; }, first, x);
    step(second, y);
    const T got = y.to_host()[2], kept = x.to_host()[2];
    EXPECT_EQ(std::memcmp(&got, &second, sizeof got), 0);
    EXPECT_EQ(std::memcmp(&kept, &first, sizeof kept), 0);
}

TEST(B4_recorded_arguments, are_elements_of_every_type) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        expect_assigned(ctx, 0.5f, -1.5f);
        expect_assigned(ctx, half(0.5f), half(-1.5f));
        expect_assigned(ctx, std::int8_t{-3}, std::int8_t{5});
        expect_assigned(ctx, std::uint64_t{3}, ~std::uint64_t{5});
        expect_assigned(ctx, false, true);
        expect_assigned(ctx, std::complex<float>(1, 2), std::complex<float>(-3, 4));
        expect_assigned(ctx, balm::float4{1, 2, 3, 4}, balm::float4{5, 6, 7, 8});
        vector<std::int64_t> x(ctx, n, std::int64_t{1});
        const std::size_t count = 2;
        const auto step = record(
            ctx, [](const auto& by, auto& to) { to = to * cast<std::int64_t>(by); }, count, x.share());
        step(count, x.share());
        step(std::size_t{5}, x);
        expect_each(x.to_host(), [](std::size_t) { return std::int64_t{10}; });
    });
}

TEST(B4_recorded_arguments, are_kept_by_what_with_returns) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n, 0.f), y(ctx, n, 0.f);
        const auto add = record(
            ctx, [](const auto& by, auto& to) { to = to + by; }, 0.f, x);
        const recording one = add.with(1.f, x), ten = add.with(10.f, x), hundred = add.with(100.f, y);
        one();
        hundred();
        ten.repeat(2);
        one();
        expect_each(x.to_host(), [](std::size_t) { return 22.f; });
        expect_each(y.to_host(), [](std::size_t) { return 100.f; });
    });
}

// A thread's replays share the vectors that the statements declare with those of others.
TEST(B4_recorded_arguments, of_several_queues_stay_together) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t many = 1 << 15;
        vector<std::int32_t> x(ctx, many, 0);
        const auto step = record(
            ctx,
            [](auto& a) {
                const vector<std::int32_t> sums = balm::inclusive_scan(a);
                const vector<std::int32_t> same = balm::inclusive_scan(sums - sums + a);
                a = same - sums + a + 1;
            },
            x);
        std::vector<vector<std::int32_t>> of_thread;
        for (int t = 0; t < 2; ++t) of_thread.emplace_back(ctx, many, 0);
        std::vector<std::thread> threads;
        for (vector<std::int32_t>& mine : of_thread)
            threads.emplace_back([&] {
                queue own = on.make_queue();
                const queue_scope there(own);
                step.with(mine).repeat(20);
                own.finish();
            });
        for (std::thread& each : threads) each.join();
        for (const vector<std::int32_t>& mine : of_thread)
            expect_each(mine.to_host(), [](std::size_t) { return 20; });
    });
}

// Whichever vectors the last replay had.
TEST(B4_recorded_arguments, are_read_to_the_host) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        constexpr std::size_t many = 1 << 18;
        vector<float> x(ctx, many, 1.f), y(ctx, many, 5.f);
        std::optional<pending_read<float>> later;
        const auto step = record(
            ctx, [&](auto& a) { later.emplace(a.elements().read_async()); }, x);
        step(y);
        expect_each(later->get(), [](std::size_t) { return 5.f; });
        step(x);
        expect_each(later->get(), [](std::size_t) { return 1.f; });
        y = 2.f;
        step(x);
        step(y);  // into the same memory, which get() left there
        expect_each(later->get(), [](std::size_t) { return 2.f; });
    });
}

TEST(B4_recorded_arguments, of_kernels_that_print_are_refused) {
    on_all_devices([&](const device& on) {
        std::ostringstream shown;
        context ctx({on});
        ctx.print_to(shown);
        const auto prints = kernel<1>("prints(x)", [](dsl::In<float> x) { dsl::print("x is {}\n", x[0]); });
        vector<float> x(ctx, n, 1.f), y(ctx, n, 2.f);
        const auto step = record(
            ctx, [&](auto& a) { on.execute(prints(a), {1}); }, x);
        step(x);
        EXPECT_THAT(fault_of([&] { step(y); }), HasSubstr("prints or checks"));
        on.finish();
        EXPECT_EQ(shown.str(), "x is 1\n");
    });
}

// ---- conditions

TEST(B4_recorded_conditions, end_the_replays) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, n, 2.0), rest(ctx, 1, 1.0);
        const recording newton = record(ctx, [&] {  // the root of 2
            x = 0.5 * (x + 2.0 / x);
            balm::max_into(rest, abs(x * x - 2.0));
        });
        double at = 2;
        std::size_t wanted = 0;
        do {
            at = 0.5 * (at + 2 / at);
            ++wanted;
        } while (!(std::abs(at * at - 2) < 1e-10));
        EXPECT_EQ(newton.until(rest < 1e-10, 100), wanted);
        expect_each(x.to_host(), [&](std::size_t) { return at; });
        x = 2.0;
        EXPECT_EQ(newton.until(rest < 1e-10, 2), 2u);
        EXPECT_EQ(newton.until(rest < 1e-10, 0), 0u);
        EXPECT_EQ(newton.until(rest < std::nan(""), 3), 3u);
        const vector<bool> always(ctx, 1, true);
        EXPECT_EQ(newton.until(always, 5), 1u);
        EXPECT_THAT(fault_of([&] { newton.until(x > 0.0, 5); }), HasSubstr("has 1024 elements"));
        EXPECT_THAT(fault_of([&] { record(ctx, [&] { newton.until(rest < 1.0, 5); }); }),
                    HasSubstr("recorded"));
        const auto with_start = record(
            ctx,
            [&](const auto& to, auto& y) {
                y = 0.5 * (y + to / y);
                balm::max_into(rest, abs(y * y - to));
            },
            2.0, x);
        vector<double> y(ctx, n, 3.0);
        EXPECT_GT(with_start.with(9.5, y).until(rest < 1e-9, 100), 1u);
        EXPECT_NEAR(y[0], std::sqrt(9.5), 1e-9);
    });
}

// Where the driver has loops, one of its commands.
TEST(B4_recorded_conditions, are_looked_at_by_the_device) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<std::int32_t> x(ctx, n, 0), y(ctx, n, 0);
        vector<std::int64_t> greatest(ctx, 1);
        vector<bool> flags(ctx, 3, false), done(ctx, 1, false), other(ctx, 1, true);
        const auto count_to = record(
            ctx,
            [&](const auto& by, auto& to) {
                to = to + by;
                view(y, {n}) = view(to, {n})(balm::reversed);
                balm::max_into(greatest, cast<std::int64_t>(y));
                done = greatest >= 100;
            },
            std::int32_t{1}, x);
        for (int k = 0; k < 3; ++k) {
            x = 0;
            EXPECT_EQ(count_to.with(7, x).until(done, 1000), 15u);
            expect_each(x.to_host(), [](std::size_t) { return 105; });
            x = 0;
            EXPECT_EQ(count_to.with(7, x).until(done, 4), 4u);
            expect_each(y.to_host(), [](std::size_t) { return 28; });
            EXPECT_EQ(count_to.with(1, x).until(done, 1), 1u);
            EXPECT_EQ(count_to.with(1, x).until(other, 50), 1u);
            EXPECT_EQ(count_to.with(1, x).until(done, 0), 0u);
            vector<std::int32_t> z(ctx, n, 50);
            EXPECT_EQ(count_to.with(10, z).until(done, ~std::size_t{0}), 5u);
            expect_each(z.to_host(), [](std::size_t) { return 100; });
            expect_each(x.to_host(), [](std::size_t) { return 30; });
        }
        EXPECT_THAT(fault_of([&] { count_to.with(1, x).until(flags, 5); }), HasSubstr("has 3 elements"));
        EXPECT_THAT(fault_of([&] { count_to.with(1, x).until(vector<bool>(), 5); }),
                    HasSubstr("has 0 elements"));
        EXPECT_EQ(record(ctx, [] {}).until(done, 5), 1u);  // holds already
        const profiler watching(on);
        x = 0;
        EXPECT_EQ(count_to.with(50, x).until(done, 9), 2u);
    });
}

// ---- temporaries

TEST(B4_recorded_temporaries, are_not_stored) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<double> x(ctx, n, 0.5), k1(ctx, n, -1.0), k2(ctx, n, -1.0), y(ctx, n);
        const auto statements = [&] {
            k1 = 2.0 * x;
            k2 = x + 0.1 * k1;
            y = k1 + k2;
        };
        const recording step = record(ctx, [&] {
            balm::temporary(k1, k2);
            statements();
        });
        EXPECT_EQ(step.size(), 1u);
        EXPECT_THAT(step.describe(), HasSubstr("writes 8192")) << "of y alone";
        step();
        const auto got = y.to_host();
        statements();
        expect_each(got, [wanted = y.to_host()](std::size_t i) { return wanted[i]; });
        balm::temporary(k1);  // nothing is recorded
        expect_each(k1.to_host(), [](std::size_t) { return 1.0; });
    });
}

TEST(B4_recorded_temporaries, that_others_read_are_stored) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        for (int kind = 0; kind < 5; ++kind) {
            const auto result = [&](bool are_recorded) {
                vector<float> x(ctx, n, 0.5f), t(ctx, n, 1.f), y(ctx, n, 0.f), s(ctx, 1, 0.f);
                const auto statements = [&] {
                    balm::temporary(t, s);
                    if (kind == 0) {  // before it is computed: what the last replay left
                        y = y + t;
                        t = x + 1.f;
                    } else if (kind == 1) {  // at other positions
                        t = x + balm::cast<float>(balm::element_index());
                        y = y + view(t, {n})(balm::reversed);
                    } else if (kind == 2) {  // by an algorithm
                        t = x + balm::cast<float>(balm::element_index());
                        y = y + balm::inclusive_scan(t);
                    } else if (kind == 3) {  // by a reduction, and what follows it
                        t = x + 1.f;
                        balm::sum_into(s, t);
                        y = y + s * t;
                    } else {  // by the statement itself
                        t += x;
                        y = t;
                    }
                    x = x + 0.25f;
                };
                if (are_recorded)
                    record(ctx, statements).repeat(3);
                else
                    for (int k = 0; k < 3; ++k) statements();
                return y.to_host();
            };
            expect_each(result(true), [wanted = result(false)](std::size_t i) { return wanted[i]; });
        }
    });
}

TEST(B4_recorded_temporaries, are_only_their_own_bytes) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        auto memory = on.mixed_buffer<float>(2 * n);
        memory.fill(-1.f);
        vector<float> t = balm::as_vector(memory.range(0, n)), kept = balm::as_vector(memory.range(n, 2 * n));
        const vector<float> x(ctx, n, 2.f);
        const recording step = record(ctx, [&] {
            balm::temporary(t);
            kept = x + 3.f;
        });
        step();
        expect_each(kept.to_host(), [](std::size_t) { return 5.f; });
    });
}

// ---- descriptions

TEST(B4_recorded_descriptions, say_what_kernels_hold_and_why_others_do_not) {
    on_all_devices([&](const device& on) {
        const context ctx({on});
        vector<float> x(ctx, n, 0.5f), y(ctx, n, 1.f), z(ctx, n, 0.f);
        vector<half> h(ctx, n);
        vector<float> most(ctx, 1);
        const std::string text = record(ctx, [&] {
                                     y = 2.f * x;
                                     z = y + 1.f;
                                     x = view(z, {n})(balm::reversed) * 3.f;
                                     h = x;
                                     max_into(most, z);
                                     view(y, {n})(balm::slice(0, 10)) = 1.f;
                                     max_into(most, view(z, {n})(balm::slice(0, 10)));
                                 }).describe();
        EXPECT_THAT(
            text,
            AllOf(HasSubstr("reads 4096 bytes, writes 8192\n    2 statements of 2 operations for each "
                            "element, alone 16384 bytes\n"),
                  HasSubstr("assigns the vectors made at recorded_arguments_test.cpp:"),
                  HasSubstr("not in the kernel before: it reads at other positions what the kernel "
                            "before writes"),
                  HasSubstr("not fused: its values are of type half"),
                  HasSubstr("not in the kernel before: kernels of reductions assign whole vectors only, "
                            "not views")));
        const without_fusion off;
        EXPECT_THAT(record(ctx, [&] { y = 2.f * x; }).describe(), HasSubstr("not fused: BALM_FUSE=0"));
    });
}

}  // namespace

}  // namespace balm::test

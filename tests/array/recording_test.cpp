// Recordings: a program of statements is executed statement by statement, recorded, and recorded without
// fusion, on equal vectors; all results must have the same bits. What the statements compute is tested
// elsewhere; two of the programs are compared with host arithmetic, too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

constexpr std::size_t n = 1024;

/// The vectors of a program.
struct world {
    explicit world(const context& on, std::uint64_t seed, std::size_t size = n) : ctx(on) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> any(-2, 2);
        const auto numbers = [&]<class T>(std::type_identity<T>, std::size_t count) {
            std::vector<T> made(count);
            for (T& each : made)
                each = static_cast<T>(std::floating_point<T> ? any(random) : 50 * any(random));
            return vector<T>(ctx, made);
        };
        for (vector<float>* each : {&a, &b, &c}) *each = numbers(std::type_identity<float>{}, size);
        for (vector<double>* each : {&d, &e}) *each = numbers(std::type_identity<double>{}, size);
        k = numbers(std::type_identity<std::int32_t>{}, size);
        m = numbers(std::type_identity<std::uint8_t>{}, size);
        for (vector<float>* each : {&s, &t}) *each = numbers(std::type_identity<float>{}, 1);
        for (vector<double>* each : {&f, &g}) *each = numbers(std::type_identity<double>{}, 1);
        q = numbers(std::type_identity<std::int64_t>{}, 1);
        h = vector<half>(ctx, size);
        h = a * 0.5f;
        z = vector<std::complex<float>>(ctx, size);
        z = balm::polar(a, b);
        p = vector<bool>(ctx, size);
        p = b > 0.f;
        flag = vector<bool>(ctx, 1);
        flag = false;
    }

    context ctx;
    vector<float> a, b, c;
    vector<double> d, e;
    vector<std::int32_t> k;
    vector<std::uint8_t> m;
    vector<float> s, t;  ///< of one element, as the next two
    vector<double> f, g;
    vector<std::int64_t> q;
    vector<half> h;
    vector<std::complex<float>> z;
    vector<bool> p, flag;  ///< flag: one element
};

template <class T>
bool is_same_element(T x, T y) {
    return is_same(x, y);
}
bool is_same_element(half x, half y) { return is_same(float(x), float(y)); }
bool is_same_element(std::complex<float> x, std::complex<float> y) {
    return is_same(x.real(), y.real()) && is_same(x.imag(), y.imag());
}

/// The first element that differs, in words; "" for none.
template <class T>
std::string difference(const vector<T>& got, const vector<T>& expected, const char* name) {
    const host_array<T> x = got.to_host(), y = expected.to_host();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!is_same_element(x[i], y[i])) return name + ("[" + std::to_string(i) + "] differs; ");
    return "";
}
std::string difference(const world& x, const world& y) {
    return difference(x.a, y.a, "a") + difference(x.b, y.b, "b") + difference(x.c, y.c, "c") +
           difference(x.d, y.d, "d") + difference(x.e, y.e, "e") + difference(x.k, y.k, "k") +
           difference(x.m, y.m, "m") + difference(x.s, y.s, "s") + difference(x.t, y.t, "t") +
           difference(x.f, y.f, "f") + difference(x.g, y.g, "g") + difference(x.q, y.q, "q") +
           difference(x.h, y.h, "h") + difference(x.z, y.z, "z") + difference(x.p, y.p, "p") +
           difference(x.flag, y.flag, "flag");
}
void expect_same(const world& got, const world& expected) { EXPECT_EQ(difference(got, expected), ""); }

/// Switches fusion off as long as it lives.
struct without_fusion {
    without_fusion() { ::setenv("BALM_FUSE", "0", 1); }
    without_fusion(const without_fusion&) = delete;
    without_fusion& operator=(const without_fusion&) = delete;
    ~without_fusion() { ::unsetenv("BALM_FUSE"); }
};

using program_text = std::function<void(world&)>;
constexpr int times = 3;

/// A program's recording with fusion, and where its results differ from those of the statements.
struct recorded_program {
    recording step;
    std::string fault;
};
recorded_program recorded_and_compared(const context& ctx, const program_text& statements, std::uint64_t seed,
                                       std::size_t size) {
    world direct(ctx, seed, size), recorded(ctx, seed, size), unfused(ctx, seed, size);
    for (int k = 0; k < times; ++k) statements(direct);
    const recording step = record(ctx, [&] { statements(recorded); });
    std::string fault = difference(recorded, world(ctx, seed, size));  // nothing has run
    step.repeat(times);
    fault += difference(recorded, direct);
    const without_fusion off;
    const recording single = record(ctx, [&] { statements(unfused); });
    for (int k = 0; k < times; ++k) single();
    if (!difference(unfused, direct).empty()) fault += "without fusion: " + difference(unfused, direct);
    EXPECT_LE(step.size(), single.size());
    return {step, fault};
}

/// Returns the recording, for further questions.
recording expect_recorded_alike(const context& ctx, const program_text& statements, std::uint64_t seed,
                                std::size_t size = n) {
    const auto [step, fault] = recorded_and_compared(ctx, statements, seed, size);
    EXPECT_EQ(fault, "");
    return step;
}

/// On every device, each with a fresh seed.
void expect_recorded_alike(const program_text& statements, std::size_t most_commands, std::size_t size = n) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const recording step = expect_recorded_alike(context({on}), statements, random(), size);
        EXPECT_LE(step.size(), most_commands) << step.describe();
    });
}

template <class F>
std::string fault_of(F&& f) {
    try {
        f();
    } catch (const usage_error& fault) {
        return fault.what();
    }
    return "nothing was refused";
}

// ---- fusion

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

// ---- reductions

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
        2, many);
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

// ---- everything else

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

// ---- random programs

struct statement {
    std::uint64_t kind;
    program_text run;
};
program_text program_of(const std::vector<statement>& all) {
    return [all](world& w) {
        for (const statement& each : all) each.run(w);
    };
}
/// The statements that remain if each is dropped whose absence leaves a difference.
std::string shortened(const context& ctx, std::vector<statement> program, std::uint64_t seed,
                      std::size_t size) {
    for (std::size_t k = program.size(); k-- > 0;) {
        std::vector<statement> less = program;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(k));
        if (!recorded_and_compared(ctx, program_of(less), seed, size).fault.empty()) program = less;
    }
    const recorded_program left = recorded_and_compared(ctx, program_of(program), seed, size);
    std::string words = left.fault + "statements of kinds";
    for (const statement& each : program) words += " " + std::to_string(each.kind);
    return words + ", as\n" + left.step.describe();
}

/// A random statement of the drawn kinds: elementwise ones of all types, other elements, aliases, reductions,
/// algorithms.
constexpr std::uint64_t kinds = 42;
program_text drawn(std::mt19937_64& random, std::uint64_t kind) {
    const auto below = [&](std::uint64_t count) { return random() % count; };
    using floats = vector<float> world::*;
    static constexpr floats names[] = {&world::a, &world::b, &world::c};
    const floats to = names[below(3)], x = names[below(3)], y = names[below(3)];
    using doubles = vector<double> world::*;
    static constexpr doubles wide[] = {&world::d, &world::e};
    const doubles into = wide[below(2)], u = wide[below(2)], v = wide[below(2)];
    const auto number = static_cast<float>(static_cast<int>(below(9)) - 4) / 4;
    static constexpr floats single[] = {&world::s, &world::t};
    static constexpr doubles wide_single[] = {&world::f, &world::g};
    const floats one = single[below(2)], other = single[below(2)];
    const doubles wide_one = wide_single[below(2)];
    const auto order = below(4) == 0 ? balm::policy::portable : balm::policy::run_to_run;
    switch (kind) {
        case 0: return [=](world& w) { w.*to = w.*x * w.*y + number; };
        case 1: return [=](world& w) { w.*to = w.*x * w.*y; };
        case 2: return [=](world& w) { w.*to += number * w.*x; };
        case 3: return [=](world& w) { w.*to = max(w.*x, w.*y) - w.*to; };
        case 4: return [=](world& w) { w.*into = w.*u * w.*v - w.*u; };
        case 5: return [=](world& w) { w.*into = cast<double>(w.*x) / (1.0 + w.*v * w.*v); };
        case 6: return [=](world& w) { w.*to = cast<float>(w.*u) * 0.5f + w.s; };
        case 7: return [=](world& w) { w.k = select(w.*x > w.*y, w.k + 1, w.k * 3 - w.k); };
        case 8: return [=](world& w) { w.m = cast<std::uint8_t>(w.k + cast<std::int32_t>(w.m)); };
        case 9: return [=](world& w) { w.*to = cast<float>(cast<std::int32_t>(w.m) - 128) / 64.f; };
        case 10: return [=](world& w) { w.*to = w.*x; };
        case 11: return [=](world& w) { w.*to = number; };
        case 12:
            return
                [=](world& w) { w.*to = (w.*x)[(balm::element_index() + 3) % w.a.size()] - w.*y * number; };
        case 13:
            return [=](world& w) {
                const vector<float> product = w.*x * w.*y;
                const vector<float> more = product + w.*to * number;
                w.*to = more - w.*x;
            };
        case 14: return [=](world& w) { tie(w.*to, w.*into) = std::tuple(w.*y * 0.5f, w.*u * w.*v + 1.0); };
        case 15: return [=](world& w) { sum_into(w.*one, w.*x * 0.001f); };
        case 16: return [=](world& w) { w.*to = tanh(balm::inclusive_scan(w.*x * 0.01f)); };
        case 17: return [=](world& w) { w.*to = sin(w.*x) * number + w.*y; };
        case 18: return [=](world& w) { w.*into = exp(-abs(w.*u)) - w.*v; };
        case 19: return [=](world& w) { w.p = select(w.k > 0, w.p, w.*x > w.*y); };
        case 20: return [=](world& w) { w.h = w.*x * number; };
        case 21: return [=](world& w) { w.*to = w.h * 2.f + w.*y; };
        case 22: return [=](world& w) { w.z = w.z * number + balm::polar(w.*x, w.*y); };
        case 23: return [=](world& w) { sum_into(w.*one, w.*x * w.*y * 0.001f, order); };
        case 24: return [=](world& w) { sum_into(w.*wide_one, w.*u * w.*v + number, order); };
        case 25: return [=](world& w) { max_into(w.*one, w.*x * w.*y); };
        case 26: return [=](world& w) { min_into(w.*wide_one, cast<double>(w.*x) - w.*u); };
        case 27: return [=](world& w) { sum_into(w.q, cast<std::int64_t>(w.k)); };
        case 28:
            return [=](world& w) {
                balm::reduce_into(order, std::tie(w.s, w.f), balm::max_of(w.*x),
                                  balm::sum_of(w.*u * w.*u * 0.001));
            };
        case 29: return [=](world& w) { w.*one = w.*other * number + w.*one; };
        case 30: return [=](world& w) { w.*one = sqrt(abs(w.*other)) / (1.f + abs(w.*one)); };
        case 31: return [=](world& w) { w.*wide_one = cast<double>(w.*one) * 0.25 - w.*wide_one * 0.125; };
        case 32: return [=](world& w) { w.*one = sin(w.*other) + cast<float>(w.q % std::int64_t{7}); };
        case 33: return [=](world& w) { w.*to = tanh(w.*x) + w.*one * w.*y * 0.001f; };
        case 34: return [=](world& w) { w.*into = w.*u * 0.5 + w.*wide_one * w.*v * 0.001; };
        case 35:
            return [=](world& w) {
                vector<float> square = w.*x * w.*x;
                vector<float> length(w.ctx, 1);
                sum_into(length, square + w.*y);
                w.*one = length * 0.001f;
                w.*to = square - w.*y;
            };
        case 39:
            return [=](world& w) {
                const auto size = static_cast<std::int64_t>(w.a.size());
                sum_into(w.*one, (w.*x)[(balm::element_index() + 5) % size] * w.*y * 0.001f);
            };
        case 40: return [=](world& w) { w.*to = w.*y * number - w.*to; };
        case 36:
            return [=](world& w) {
                static const auto around = function("around(x, i)", [](In<float> x, Index i) {
                    return x[(i + 1) % 32] * 0.25f + x[i] - x[i / 2] * x[i];
                });
                static const auto wave = function("wave(x)", [](Float x) { return sin(x) * 0.5f + x * x; });
                w.*to = around(w.*x, balm::element_index()) - wave(w.*y) * number;
            };
        case 37:
            return [=](world& w) {
                static const auto around = function("near(x, i)", [](In<double> x, Index i) {
                    return x[max(i - 3, Index(0))] * 0.25 + x[i];
                });
                w.*into = around(w.*u, balm::element_index());
                sum_into(w.*wide_one, w.*into * w.*u);
            };
        case 38: return [=](world& w) { any_into(w.flag, w.p && w.k > 10); };
        default:
            return [=](world& w) {
                auto M = view(w.*to, {w.a.size() / 32, 32});
                M(balm::all, 5) = M(balm::all, 9) * number;
            };
    }
}

TEST(B4_recordings, random_programs_have_the_same_bits) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const shapes_of_gpus there(seed() % 4 == 0);
    for_each_case(case_count(8), [&](std::size_t k) {
        std::mt19937_64 random(seed() + k);
        const device& on = present_devices()[k % present_devices().size()];
        std::vector<statement> program;
        for (std::size_t length = 3 + random() % 14; program.size() < length;) {
            const std::uint64_t kind = random() % kinds;
            program.push_back({kind, drawn(random, kind)});
        }
        constexpr std::size_t sizes[] = {n, n, 32, 96, 40960};
        const std::size_t size = sizes[random() % std::size(sizes)];
        const std::uint64_t numbers = random();
        const context ctx({on});
        if (recorded_and_compared(ctx, program_of(program), numbers, size).fault.empty()) return;
        ADD_FAILURE() << "BALM_TEST_SEED=" << seed() + k << " on " << words(on) << ", " << size
                      << " elements: " << shortened(ctx, program, numbers, size);
    });
}

}  // namespace

}  // namespace balm::test

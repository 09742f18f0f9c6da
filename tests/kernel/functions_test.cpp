// Functions: kernels that call kernels, overloads, generic C++ on both sides, functions in expressions; and
// what is refused of them.

#include <gtest/gtest.h>

#include <cmath>

#include "emit/printer.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

TEST(C9_kernels, call_kernels_of_their_own_dimensions) {
    const auto scale = balm::kernel<1>("scale(factor, in, out)",
                                       [](Int factor, In<std::int32_t> in_, Out<std::int32_t> out) {
                                           Index i = global_id(0);
                                           out[i] = factor * in_[i] + cast<int>(i);
                                       });
    const auto shift =
        balm::kernel<1>("shift", [](Local<std::int32_t> shared, Mixed<std::int32_t> both, Int by) {
            Index i = global_id(0), lid = local_id(0);
            shared[lid] = both[i];
            local_barrier();
            both[i] = shared[(lid + 1) % local_size(0)] + by;
        });
    const auto walks = balm::kernel<1>("walks", [](Long n, Mixed<std::int32_t> both) {
        for (Index i : grid_range(n)) both[i] += 7;
    });
    const auto all = balm::kernel<1>("all", [&](In<std::int32_t> a, Out<std::int32_t> out,
                                                Mixed<std::int32_t> both, Local<std::int32_t> shared) {
        IF (global_id(0) % 2 == 0) {
            scale(3, a, out);
        }
        ELSE { scale(cast<int>(a[global_id(0)]), a, out); }
        shift(shared, both, 5);
        barrier();
        shift(shared, both, 6);
        walks(640, both);
    });
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, 640, -1000, 999),
               before = random_values<std::int32_t>(random, 640, -1000, 999);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(640);
        auto both = on.mixed_buffer<std::int32_t>(640);
        both.write(std::span<const std::int32_t>(before));
        on.execute(all(in(on, a), out, both, balm::local<std::int32_t>(64)), {640}, {64});
        expect_each(out.read(), [&](std::size_t i) {
            return (i % 2 == 0 ? 3 : a[i]) * a[i] + static_cast<std::int32_t>(i);
        });
        expect_each(both.read(), [&](std::size_t i) { return before[i / 64 * 64 + (i + 2) % 64] + 11 + 7; });
    });
}

TEST(C9_kernels, that_are_called_see_the_grids_offset) {
    const auto inner =
        balm::kernel<1>("inner", [](Out<std::int64_t> out) { out[global_id(0)] = global_id(0); });
    const auto outer = balm::kernel<1>("outer", [&](Out<std::int64_t> out) { inner(out); });
    on_all_devices([&](const device& on) {
        auto out = on.mixed_buffer<std::int64_t>(100);
        out.write(std::span<const std::int64_t>(host_array<std::int64_t>(balm::shape(100))));
        on.execute(outer(out), {90}, balm::offset(10));
        const auto got = out.read();
        for (std::size_t i = 10; i < 100; ++i) EXPECT_EQ(got[i], static_cast<std::int64_t>(i));
    });
}

TEST(C9_kernels, of_other_dimensions_are_refused) {
    const auto flat = balm::kernel<1>("flat", [](Out<std::int32_t> out) { out[global_id(0)] = 1; });
    std::string fault;
    fault =
        message_of<trace_error>([&] { balm::kernel<2>("plane", [&](Out<std::int32_t> out) { flat(out); }); });
    EXPECT_THAT(fault,
                AllOf(HasSubstr("flat"), HasSubstr("1 dimension"), HasSubstr("plane"), HasSubstr("has 2")));
    fault = message_of<trace_error>([&] { balm::function("f", [&](Out<std::int32_t> out) { flat(out); }); });
    EXPECT_THAT(fault, AllOf(HasSubstr("flat"), HasSubstr("only kernels can call kernels")));
    const auto own = balm::kernel<1>("own", [](Out<std::int32_t> out) {
        LocalArray<std::int32_t, 4> tile;
        tile[0] = 1;
        out[0] = tile[0];
    });
    fault =
        message_of<trace_error>([&] { balm::kernel<1>("caller", [&](Out<std::int32_t> out) { own(out); }); });
    EXPECT_THAT(fault, AllOf(HasSubstr("own"), HasSubstr("Local")));
    const auto text = balm::source_kernel<1, void(Out<std::int32_t>)>(
        "text", "kernel void text(global int* out) { out[0] = 1; }");
    fault = message_of<trace_error>(
        [&] { balm::kernel<1>("caller", [&](Out<std::int32_t> out) { text(out); }); });
    EXPECT_THAT(fault, AllOf(HasSubstr("given as text"), HasSubstr("source_function")));
}

TEST(C9_kernels, with_a_barrier_that_depends_on_an_argument_are_refused) {
    const auto waits = balm::kernel<1>("waits", [](Int n, Out<std::int32_t> out) {
        IF (n > 3) {
            barrier();
        }
        out[0] = n;
    });
    const std::string fault = message_of<trace_error>([&] {
        balm::kernel<1>("caller",
                        [&](In<std::int32_t> a, Out<std::int32_t> out) { waits(a[global_id(0)], out); });
    });
    EXPECT_THAT(fault, HasSubstr("barrier()"));
}

TEST(C9_functions, are_called_before_inside_and_behind_a_loop_over_the_grid) {
    const auto root = function("root_or_none", [](Float x) {
        Float found = -1.f;
        IF (x >= 0.f) {
            found = sqrt(x);
        }
        return found;
    });
    const auto line = function("line", [](Float x) { return 2.f * x + 1.f; });
    const auto square = function("square", [](Float x) {
        Float made = x;
        IF (x != 1.f) {
            made = x * x;
        }
        return made;
    });
    const auto calls = balm::kernel<1>("calls", [&](Long n, In<float> x, Out<float> y, Out<float> ends) {
        const Float first = root(x[3]);
        for (Index i : grid_range(n)) y[i] = line(x[i]);
        IF (global_id(0) == 0) {
            ends[0] = first;
            ends[1] = square(x[4]);
        }
    });
    on_all_devices([&](const device& on) {
        const std::size_t n = 1000;
        std::vector<float> numbers(n);
        for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<float>(k);
        const context ctx({on});
        const vector<float> x(ctx, numbers);
        vector<float> y(ctx, n), ends(ctx, 2);
        on.execute(calls(static_cast<std::int64_t>(n), x, y, ends), {n});
        EXPECT_EQ(ends[0], std::sqrt(3.f));
        EXPECT_EQ(ends[1], 16.f);
        for (std::size_t k = 0; k < n; k += 99) EXPECT_EQ(y[k], 2 * numbers[k] + 1);
    });
}

TEST(C9_functions, of_one_name_are_told_apart) {
    const auto of_one = balm::function("area", [](Float r) { return r * r * 3.f; });
    const auto of_two = balm::function("area", [](Float a, Float b) { return a * b; });
    const auto of_ints = balm::function("area", [](Int a, Int b) { return a * b + 1; });
    const auto kernel = balm::kernel<1>("area", [&](In<float> a, Out<float> out, Out<std::int32_t> ints) {
        Index i = global_id(0);
        out[i] = of_one(a[i]) + of_two(a[i], 2.f);
        ints[i] = of_ints(cast<int>(i), 3);
    });
    auto random = seeded_random();
    const auto a = random_values<float>(random, some_items, -10.f, 10.f);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float>(some_items);
        auto ints = on.out_buffer<std::int32_t>(some_items);
        on.execute(kernel(in(on, a), out, ints), {some_items});
        const auto got = out.read();
        for (std::size_t i = 0; i < some_items; ++i) EXPECT_NEAR(got[i], a[i] * a[i] * 3 + a[i] * 2, 1e-4);
        expect_each(ints.read(), [](std::size_t i) { return 3 * static_cast<std::int32_t>(i) + 1; });
    });
}

/// Generic C++ for the host and for devices: a template, a default argument, a variadic sum, a callable.
template <class T>
T horner(const T& x, std::initializer_list<double> coefficients, double scale = 1) {
    T sum = 0;
    for (double c : coefficients) sum = sum * x + static_cast<float>(c);
    return sum * static_cast<float>(scale);
}
template <class... T>
auto sum_of_squares(const T&... x) {
    return ((x * x) + ...);
}
template <class F, class T>
T twice(F&& f, const T& x) {
    return f(f(x));
}

TEST(C9_functions, are_generic_cpp_on_host_and_device) {
    const auto both = [](const auto& x, const auto& y) {
        using T = std::remove_cvref_t<decltype(x)>;
        const auto step = [](const T& v) { return T(v * 0.5f + 1.f); };
        return T(horner<T>(x, {1, -2, 3}) + horner<T>(y, {2, 1}, 0.5) + sum_of_squares(x, y, x) +
                 twice(step, y));
    };
    const auto kernel = balm::kernel<1>("generic", [&](In<float> a, In<float> b, Out<float> out) {
        Index i = global_id(0);
        const Float x = a[i], y = b[i];
        out[i] = both(x, y);
    });
    const auto four = balm::kernel<1>("generic_lanes", [&](In<float4> a, Out<float4> out) {
        Index i = global_id(0);
        const Float4 x = a[i];
        out[i] = both(x, x);
    });
    auto random = seeded_random();
    const auto a = random_values<float>(random, some_items, -3.f, 3.f),
               b = random_values<float>(random, some_items, -3.f, 3.f);
    host_array<float4> lanes(some_items / 4);
    for (std::size_t i = 0; i < some_items; ++i) lanes[i / 4][static_cast<int>(i % 4)] = a[i];
    on_all_devices([&](const device& on) {
        const auto got = run<float>(on, kernel, some_items, in(on, a), in(on, b));
        for (std::size_t i = 0; i < some_items; ++i) EXPECT_NEAR(got[i], both(a[i], b[i]), 1e-4);
        const auto got_lanes = run<float4>(on, four, some_items / 4, in(on, lanes));
        for (std::size_t i = 0; i < some_items; ++i)
            EXPECT_NEAR(got_lanes[i / 4][static_cast<int>(i % 4)], both(a[i], a[i]), 1e-4);
    });
}

TEST(C9_functions, work_in_kernels_and_in_vector_expressions) {
    const auto falloff = balm::function("falloff(x, r)", [](Float x, Float r) {
        Float result = 0.f;
        IF (abs(x) < r) {
            result = 1.f - abs(x) / r;
        }
        return result;
    });
    auto random = seeded_random();
    const auto a = random_values<float>(random, some_items, -3.f, 3.f);
    on_all_contexts([&](context ctx) {
        balm::vector<float> x(ctx, std::vector<float>(a.begin(), a.end())), y(ctx, some_items);
        y = 2 * falloff(x, 1.5f) + falloff(x + 1, 2.f);
        const auto got = y.to_host();
        const auto on_host = [](float v, float r) { return std::abs(v) < r ? 1 - std::abs(v) / r : 0.f; };
        for (std::size_t i = 0; i < some_items; ++i)
            EXPECT_NEAR(got[i], 2 * on_host(a[i], 1.5f) + on_host(a[i] + 1, 2.f), 1e-5);
    });
}

// GPUs compute several elements per work-item: each call must load its own.
TEST(C9_functions, read_memory_for_each_element) {
    const auto element =
        balm::function("element(from, i)", [](Mixed<float> from, Long i) { return from[i]; });
    const auto slope = balm::function(
        "slope(from, i)", [&](Mixed<float> from, Long i) { return element(from, i + 1) - element(from, i); });
    const auto slopes =
        balm::kernel<1>("slopes(n, x, w, y)", [&](Long n, Mixed<float> x, In<float> w, Out<float> y) {
            for (Index i : grid_range(n)) y[i] = w[i] * slope(x, i);
        });
    const std::size_t n = some_items | 1;
    auto random = seeded_random();
    const auto a = random_values<float>(random, n + 1, -3.f, 3.f),
               w = random_values<float>(random, n, -3.f, 3.f);
    on_all_devices([&](const device& on) {
        auto x = on.mixed_buffer<float>(n + 1);
        x.write(std::span<const float>(a));
        auto y = on.out_buffer<float>(n);
        on.execute(slopes(n, x, in(on, w), y), n);
        expect_each(y.read(), [&](std::size_t i) { return w[i] * (a[i + 1] - a[i]); });
    });
}

TEST(C9_functions, without_parameters_or_of_host_values_alone_are_called_in_kernels) {
    const auto half_of = balm::function("half_of", [](Float x) { return x / 2.f; });
    const auto one = balm::function("one", [] { return Int(1); });
    const auto place = balm::function("place", [] { return global_id(0) + 1; });
    const auto ends =
        balm::function("ends", [](Float4 v, Int k) { return Float2(v.x + cast<float>(k), v.w); });
    const auto begin = balm::function("begin", [](Double x) { return Complex<double>(x, 1.0); });
    const auto say = balm::function("say", [](Int x) { print("{}\n", x); });
    const auto nested = balm::function("nested", [&](Float x) { return half_of(3.f) + x * one(); });
    const auto kernel = balm::kernel<1>("calls", [&](Out<double> out) {
        Index i = global_id(0);
        Float kept = half_of(5.f);
        kept += half_of(1);
        auto number = one();
        number += one();
        auto e = ends(balm::float4{{1, 2, 3, 4}}, 2);
        out[i] = kept + half_of(2.f) * half_of(2.f) + number + place() + nested(1.f) + e.x +
                 10.0 * ends(balm::float4{{1, 2, 3, 4}}, 2).y + begin(0.5).imag();
        IF (i == 9) {
            say(7);
        }
    });
    on_all_devices([&](const device& on) {
        expect_each(run<double>(on, kernel, 4), [](std::size_t i) {
            return 2.5 + 0.5 + 1 + 2 + static_cast<double>(i + 1) + (1.5 + 1) + (1 + 2) + 40 + 1;
        });
    });
    EXPECT_THAT(message_of<trace_error>([&] { (void)Float(half_of(2.f)); }),
                HasSubstr("outside of a kernel"));
    EXPECT_THAT(message_of<usage_error>([&] { say(1); }),
                AllOf(HasSubstr("'say'"), HasSubstr("host values")));
    EXPECT_THAT(message_of<usage_error>([&] { (void)begin(1.0).real(); }), HasSubstr("'begin'"));
}

TEST(C9_functions, without_parameters_or_of_host_values_alone_stand_in_vector_expressions) {
    const auto half_of = balm::function("half_of", [](Float x) { return x / 2.f; });
    const auto two = balm::function("two", [] { return Int(2); });
    const auto is_two = balm::function("is_two", [](Int x) { return x == 2; });
    const auto turned = balm::function("turned", [](Float4 v) { return Float4(v.wzyx); });
    on_all_contexts([&](context ctx) {
        balm::vector<float> x(ctx, {1, 2, 3}), y(ctx, 3);
        y = x * half_of(3.f) + two();
        EXPECT_EQ(y.to_host(), (host_array<float>{3.5f, 5.f, 6.5f}));
        y = half_of(8);
        EXPECT_EQ(y.to_host(), (host_array<float>{4, 4, 4}));
        y = select(x > two() && is_two(2), half_of(1.f), x);
        EXPECT_EQ(y.to_host(), (host_array<float>{1, 2, 0.5f}));
        y += half_of(2.f);
        EXPECT_EQ(y.to_host(), (host_array<float>{2, 3, 1.5f}));
        y(slice(0, 2)) = half_of(6.f);
        EXPECT_EQ(y.to_host(), (host_array<float>{3, 3, 1.5f}));
        balm::vector<float4> v(ctx, 2, float4{{1, 1, 1, 1}});
        v = v + turned(float4{{1, 2, 3, 4}});
        EXPECT_EQ(v.to_host()[1], (float4{{5, 4, 3, 2}}));
    });
}

TEST(C9_functions, of_host_values_alone_are_combined) {
    const auto half_of = balm::function("half_of", [](Float x) { return x / 2.f; });
    const auto thirds = balm::function("thirds", [](Int x) { return x / 3; });
    const auto turned = balm::function("turned", [](Float4 v) { return Float4(v.wzyx); });
    const auto kernel = balm::kernel<1>("calls", [&](Out<double> out) {
        auto kept = half_of(half_of(2.f)) + 1;
        kept += half_of(thirds(7)) * 2;
        out[global_id(0)] = kept + -half_of(2.f) + sqrt(half_of(8.f)) * 0.5 + thirds(9) / 2;
    });
    on_all_devices([&](const device& on) {
        expect_each(run<double>(on, kernel, 2), [](std::size_t) { return 1.5 + 2 - 1 + 1 + 1; });
    });
    on_all_contexts([&](context ctx) {
        balm::vector<float> x(ctx, {1, 2, 3}), y(ctx, 3);
        y = half_of(half_of(2.f)) + x;
        EXPECT_EQ(y.to_host(), (host_array<float>{1.5f, 2.5f, 3.5f}));
        y = half_of(2.f) * 2 + x;
        EXPECT_EQ(y.to_host(), (host_array<float>{3, 4, 5}));
        y = x * (1 + thirds(7)) - max(half_of(3.f), 2.f);
        EXPECT_EQ(y.to_host(), (host_array<float>{1, 4, 7}));
        y = half_of(thirds(7) * 2 - half_of(thirds(9)));
        EXPECT_EQ(y.to_host(), (host_array<float>{1.25f, 1.25f, 1.25f}));
        y = select(half_of(4.f) > 1, -half_of(x + half_of(half_of(4.f))), x);
        EXPECT_EQ(y.to_host(), (host_array<float>{-1, -1.5f, -2}));
        y += sqrt(half_of(8.f)) * half_of(2.f);
        EXPECT_EQ(y.to_host(), (host_array<float>{1, 0.5f, 0}));
        const balm::vector<std::int32_t> rounded(2 * balm::cast<std::int32_t>(x) + thirds(7) / 2);
        EXPECT_EQ(rounded.to_host(), (host_array<std::int32_t>{3, 5, 7}));
        const balm::vector<float> weak(x * (half_of(2.f) + 0.25));
        EXPECT_EQ(weak.to_host(), (host_array<float>{1.25f, 2.5f, 3.75f}));
        const balm::vector<double> wide(x * (thirds(7) + 0.25));
        EXPECT_EQ(wide.to_host(), (host_array<double>{2.25, 4.5, 6.75}));
        balm::vector<float4> v(ctx, 2, float4{{1, 1, 1, 1}});
        v = v + turned(turned(float4{{1, 2, 3, 4}}));
        EXPECT_EQ(v.to_host()[1], (float4{{2, 3, 4, 5}}));
    });
    EXPECT_THAT(message_of<trace_error>([&] { (void)Float(half_of(2.f) * 2); }),
                HasSubstr("outside of a kernel"));
}

}  // namespace
}  // namespace balm::test

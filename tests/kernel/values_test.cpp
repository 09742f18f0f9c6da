// What a device value is: the value at that point of the program. Copies, moves, captures, conversions,
// functions, names.

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <utility>

#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/printed.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

TEST(C13_values, are_those_of_their_point_of_the_program) {
    const auto kernel =
        balm::kernel<1>("points", [](In<std::int32_t> a, Mixed<std::int32_t> memory, Out<std::int32_t> out) {
            Index i = global_id(0);
            Int x = a[i];
            Int y = x;         // a copy
            auto sum = x + y;  // a value, and a variable if one writes to it
            x += 1;
            Int moved = std::move(x);
            x = x + 1;
            sum *= 2;
            Int fresh;
            Index at = i * 8;
            Int loaded = memory[i];
            memory[i] = 7;
            out[at] = y;
            out[at + 1] = sum;
            out[at + 2] = moved;
            out[at + 3] = x;
            out[at + 4] = fresh;
            out[at + 5] = loaded;
            out[at + 6] = memory[i];
            std::swap(x, y);
            out[at + 7] = x * 1000 + y;
        });
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, some_items, -99, 99);
    on_all_devices([&](const device& on) {
        auto memory = on.mixed_buffer<std::int32_t>(some_items);
        memory.write(std::span<const std::int32_t>(a));
        auto out = on.out_buffer<std::int32_t>(8 * some_items);
        on.execute(kernel(in(on, a), memory, out), {some_items});
        expect_each(out.read(), [&](std::size_t at) {
            const int x = a[at / 8];
            const int expected[] = {x, 4 * x, x + 1, x + 2, 0, x, 7, x * 1000 + x + 2};
            return expected[at % 8];
        });
    });
}

TEST(C13_values, in_one_array_read_and_written_through_two_parameters) {
    const auto kernel = balm::kernel<1>("alias", [](In<std::int32_t> a, Mixed<std::int32_t> b) {
        Index i = global_id(0);
        Int before = a[i];
        b[i] = before + 1;
        b[i] = a[i] * 10 + before;
    });
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, some_items, -99, 99);
    on_all_devices([&](const device& on) {
        auto same = on.mixed_buffer<std::int32_t>(some_items),
             other = on.mixed_buffer<std::int32_t>(some_items);
        same.write(std::span<const std::int32_t>(a));
        on.execute(kernel(in(on, a), other), {some_items});
        expect_each(other.read(), [&](std::size_t i) { return 11 * a[i]; });
        on.execute(kernel(same, same), {some_items});
        expect_each(same.read(), [&](std::size_t i) { return (a[i] + 1) * 10 + a[i]; });
    });
}

TEST(C13_values, of_captures_are_frozen_where_the_kernel_is_defined) {
    int factor = 3;
    const auto kernel = balm::kernel<1>("frozen", [&](Out<std::int32_t> out) { out[global_id(0)] = factor; });
    factor = 5;
    on_all_devices([&](const device& on) { EXPECT_EQ(run<std::int32_t>(on, kernel, 1)[0], 3); });
}

TEST(C13_values, convert_between_all_types_and_saturate) {
    const auto kernel = balm::kernel<1>("saturate", [](In<double> a, Out<std::int64_t> out) {
        Index i = global_id(0), at = i * 8;
        Double x = a[i];
        out[at] = cast<std::int8_t>(x);
        out[at + 1] = cast<std::uint8_t>(x);
        out[at + 2] = cast<std::int16_t>(cast<float>(x));
        out[at + 3] = cast<std::uint16_t>(x);
        out[at + 4] = cast<std::int32_t>(cast<float>(x));
        out[at + 5] = cast<std::uint32_t>(x);
        out[at + 6] = cast<std::int64_t>(x);
        out[at + 7] = cast<std::uint64_t>(x);
    });
    const double infinity = std::numeric_limits<double>::infinity();
    const host_array<double> a{
        0.0,   -0.5,   1.99,    -1.99,   127.0,    128.0,     255.5,
        256.0, -129.0, 65535.9, 65536.0, -40000.,  2.2e9,     -2.2e9,
        4.3e9, 9.3e18, -9.3e18, 1.9e19,  infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
    const auto saturated = []<class T>(T, double x) {
        using limits = std::numeric_limits<T>;
        if (x != x) return T(0);
        if (x >= std::ldexp(1.0, limits::digits)) return limits::max();
        return x <= static_cast<double>(limits::lowest()) ? limits::lowest() : static_cast<T>(x);
    };
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int64_t>(8 * a.size());
        on.execute(kernel(in(on, a), out), {a.size()});
        expect_each(out.read(), [&](std::size_t at) -> std::int64_t {
            const double x = a[at / 8];
            const double f = static_cast<float>(x);
            switch (at % 8) {
                case 0: return saturated(std::int8_t{}, x);
                case 1: return saturated(std::uint8_t{}, x);
                case 2: return saturated(std::int16_t{}, f);
                case 3: return saturated(std::uint16_t{}, x);
                case 4: return saturated(std::int32_t{}, f);
                case 5: return saturated(std::uint32_t{}, x);
                case 6: return saturated(std::int64_t{}, x);
                default: return static_cast<std::int64_t>(saturated(std::uint64_t{}, x));
            }
        });
    });
}

TEST(C13_values, narrow_within_a_kind_by_assignment) {
    const auto kernel =
        balm::kernel<1>("narrow", [](In<std::int64_t> a, In<double> b, Out<std::int8_t> c, Out<float> d) {
            Index i = global_id(0);
            Char small = a[i];
            c[i] = small;
            d[i] = b[i];
        });
    auto random = seeded_random();
    const auto a = random_values<std::int64_t>(random, some_items);
    const auto b = random_values<double>(random, some_items);
    on_all_devices([&](const device& on) {
        auto c = on.out_buffer<std::int8_t>(some_items);
        auto d = on.out_buffer<float>(some_items);
        on.execute(kernel(in(on, a), in(on, b), c, d), {some_items});
        expect_each(c.read(), [&](std::size_t i) { return static_cast<std::int8_t>(a[i]); });
        expect_each(d.read(), [&](std::size_t i) { return static_cast<float>(b[i]); });
    });
}

// Found wrong once: the magnitude of an unsigned number is the number, whatever surrounds it.
TEST(C10_built_ins, the_magnitude_of_an_unsigned_sum_binds_as_a_call) {
    const auto kernel = balm::kernel<1>("magnitude", [](In<std::uint32_t> a, Out<std::uint32_t> out) {
        Index i = global_id(0);
        UInt x = a[i];
        out[i] = abs(x + 3u) * 5u;
    });
    auto random = seeded_random();
    const auto a = random_values<std::uint32_t>(random, some_items);
    on_all_devices([&](const device& on) {
        expect_each(run<std::uint32_t>(on, kernel, some_items, in(on, a)),
                    [&](std::size_t i) { return (a[i] + 3u) * 5u; });
    });
}

// ---- functions --------------------------------------------------------------------------------------

TEST(C9_functions, are_called_from_kernels_and_functions_and_printed_once) {
    const auto square = balm::function("square(x)", [](Int x) { return x * x; });
    const auto hypot2 = balm::function("hypot2(x, y)", [&](Int x, Int y) { return square(x) + square(y); });
    const auto kernel = balm::kernel<1>("calls", [&](In<std::int32_t> a, Out<std::int32_t> out) {
        Index i = global_id(0);
        Int x = a[i];
        out[i] = hypot2(x, 3) + square(x + 1);
    });
    const std::string text = printed(kernel.function());
    EXPECT_EQ(text.find("int square(int x)"), text.rfind("int square(int x)"));
    EXPECT_THAT(text, HasSubstr("int square(int x)"));
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, some_items, -99, 99);
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, some_items, in(on, a)),
                    [&](std::size_t i) { return a[i] * a[i] + 9 + (a[i] + 1) * (a[i] + 1); });
    });
}

TEST(C9_functions, of_one_name_stay_apart) {
    const auto first = balm::function("shift", [](Int x) { return x + 1; });
    const auto second = balm::function("shift", [](Int x) { return x + 100; });
    const auto both = balm::function("shift", [&](Int x) { return first(x) * second(x); });
    const auto kernel = balm::kernel<1>("shift", [&](Out<std::int32_t> out) {
        Int i = global_id(0);
        out[i] = both(i) + first(i) + second(i);
    });
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, 50),
                    [](std::size_t i) { return (i + 1) * (i + 100) + 2 * i + 101; });
    });
}

TEST(C9_functions, may_be_named_as_the_printer_names_values) {
    const auto t = balm::function("t", [](Int x) { return x + 1; });
    const auto v = balm::function("v", [](Int x) { return x * 2; });
    const auto k = balm::function("k", [](Int x) { return x - 3; });
    const auto gid = balm::function("gid", [](Int x) { return x ^ 5; });
    const auto kernel = balm::kernel<1>("in(n, out)", [&](Int n, Out<std::int32_t> out) {
        Index i = global_id(0);
        Int x = i;
        x += n;
        auto once = t(x);
        Int sum = once * once + v(x);
        for (Int j : range(3)) sum += k(j) + gid(sum);
        out[i] = sum;
    });
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, 20, 4), [](std::size_t i) {
            const int x = static_cast<int>(i) + 4;
            int sum = (x + 1) * (x + 1) + 2 * x;
            for (int j = 0; j < 3; ++j) sum += j - 3 + (sum ^ 5);
            return sum;
        });
    });
}

TEST(C9_functions, with_control_flow_memory_and_no_result) {
    const auto factorial = balm::function("factorial(n)", [](Int n) {
        Int product = 1;
        IF (n < 0) {
            return_(Int(-1));
        }
        for (Int k : range(2, n + 1)) product *= k;
        return product;
    });
    const auto bump = balm::function("bump(x, i)", [](Mixed<std::int32_t> x, Index i) { x[i] += 100; });
    const auto kernel = balm::kernel<1>("use", [&](Mixed<std::int32_t> x) {
        Index i = global_id(0);
        Int before = x[i];
        bump(x, i);
        Int after = x[i];
        x[i] = factorial(before) + 1000 * after;
    });
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, some_items, -3, 9);
    on_all_devices([&](const device& on) {
        auto x = on.mixed_buffer<std::int32_t>(some_items);
        x.write(std::span<const std::int32_t>(a));
        on.execute(kernel(x), {some_items});
        expect_each(x.read(), [&](std::size_t i) {
            int product = a[i] < 0 ? -1 : 1;
            for (int k = 2; k <= a[i]; ++k) product *= k;
            return product + 1000 * (a[i] + 100);
        });
    });
}

template <class T>
T smooth_step(const T& x) {
    T two = x + x;
    return x * x * (T(3) - two);
}

TEST(C9_functions, generic_cpp_runs_on_host_and_device) {
    const auto step = balm::function("step_of", [](Double x) { return smooth_step(x); });
    const auto kernel = balm::kernel<1>("generic", [&](In<double> a, Out<double> out) {
        Index i = global_id(0);
        out[i] = step(a[i]);
    });
    auto random = seeded_random();
    const auto a = random_values<double>(random, some_items, 0.0, 1.0);
    on_all_devices([&](const device& on) {
        const auto got = run<double>(on, kernel, some_items, in(on, a));
        for (std::size_t i = 0; i < some_items; ++i) EXPECT_NEAR(got[i], smooth_step(a[i]), 1e-15);
    });
}

TEST(C9_functions, a_trace_inside_a_trace_is_its_own) {
    const auto kernel = balm::kernel<1>("outer", [](Out<std::int32_t> out) {
        Int x = global_id(0);
        const auto inner = balm::function("inner", [](Int y) { return y + 40; });
        out[global_id(0)] = inner(x);
    });
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, 10), [](std::size_t i) { return i + 40; });
    });
}

// ---- kernels at namespace scope ---------------------------------------------------------------------

const auto sound_kernel = balm::kernel<1>("sound", [](Out<std::int32_t> out) { out[global_id(0)] = 42; });
// clang-format off
const int line_of_fault = __LINE__ + 1;
const auto faulty_kernel = balm::kernel<1>("faulty", [](Out<std::int32_t> out) { out[global_id(1)] = 42; });
// clang-format on
const auto faulty_function = balm::function("faulty_function", [](Int x) {
    Index lost = global_id(7);
    return x + lost;
});

TEST(C13_kernels_at_namespace_scope, work) {
    on_all_devices([&](const device& on) { EXPECT_EQ(run<std::int32_t>(on, sound_kernel, 3)[2], 42); });
}

TEST(C13_kernels_at_namespace_scope, keep_a_fault_for_their_first_use) {
    for (int use = 0; use < 2; ++use)
        EXPECT_THAT(message_of<trace_error>([] { faulty_kernel.function(); }),
                    testing::AllOf(HasSubstr(line_of(__FILE__, line_of_fault)), HasSubstr("global_id(1)")));
    EXPECT_THAT(message_of<trace_error>([] {
                    balm::kernel<1>("k", [](Out<std::int64_t> out) { out[0] = faulty_function(Int(1)); });
                }),
                HasSubstr("global_id(7)"));
}

}  // namespace
}  // namespace balm::test

// Vector expressions against the host's own arithmetic, on every type and at sizes around a work-group's.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>
#include <list>
#include <vector>

#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(V4_expressions, at_all_sizes) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {0u, 1u, 255u, 256u, 257u, 1000003u}) {
            const auto x = random_values<double>(random, n), y = random_values<double>(random, n);
            const auto X = on_device(ctx, x), Y = on_device(ctx, y);
            vector<double> Z(ctx, n);
            Z = 2 * X - Y / 4;
            const auto got = Z.to_host();
            ASSERT_EQ(got.size(), n);
            expect_each(got, [&](std::size_t i) { return std::fma(2.0, x[i], -(y[i] / 4)); });
        }
    });
}

template <class T>
class V4_operators : public testing::Test {};
TYPED_TEST_SUITE(V4_operators, scalar_types);

TYPED_TEST(V4_operators, compute_what_the_host_computes) {
    using T = TypeParam;
    using P = decltype(T{} + T{});
    auto random = seeded_random();
    // Small enough that nothing overflows, which is not defined for signed integers.
    constexpr bool is_unsigned = std::unsigned_integral<T>;
    const auto x =
        random_values<T>(random, odd_count, T(is_unsigned ? 50 : 0), T(std::same_as<T, bool> ? 1 : 99));
    const auto y = random_values<T>(random, odd_count, T(1), T(std::same_as<T, bool> ? 1 : 50));
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x), Y = on_device(ctx, y);
        vector<P> Z = (X + Y) * (X - Y) / Y + -X;
        expect_each(Z.to_host(), [&](std::size_t i) -> P {
            const P a = x[i], b = y[i];
            return static_cast<P>(static_cast<P>(static_cast<P>((a + b) * (a - b)) / b) + static_cast<P>(-a));
        });
        vector<bool> B = (X < Y || X == Y) && !(Y >= X) && X != 3;
        expect_each(B.to_host(), [&](std::size_t i) {
            return (x[i] < y[i] || x[i] == y[i]) && !(y[i] >= x[i]) && x[i] != T(3);
        });
        vector<T> C(ctx, odd_count);
        C = select(X > Y, X, Y);
        expect_each(C.to_host(), [&](std::size_t i) { return std::max(x[i], y[i]); });
        C = X;
        expect_each(C.to_host(), [&](std::size_t i) { return x[i]; });
        if constexpr (!std::same_as<T, bool>) {
            C = min(X, Y) + abs(Y) - (+X);
            expect_each(C.to_host(), [&](std::size_t i) {
                const P a = x[i], b = y[i];
                return static_cast<T>(static_cast<P>(std::min(a, b) + b) - a);
            });
        }
    });
}

TEST(V4_integers, bits_shifts_and_remainders) {
    auto random = seeded_random();
    const auto x = random_values<std::uint32_t>(random, odd_count),
               y = random_values<std::uint32_t>(random, odd_count);
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x), Y = on_device(ctx, y);
        vector<std::uint32_t> Z = ((X & Y) | (X ^ ~Y)) + (X << (Y & 7)) + (X >> Y) + X % Y;
        expect_each(Z.to_host(), [&](std::size_t i) {
            const std::uint32_t a = x[i], b = y[i];
            return ((a & b) | (a ^ ~b)) + (a << (b & 7)) + (a >> (b % 32)) + (b ? a % b : a);
        });
    });
}

TEST(V4_built_ins, agree_with_the_c_library) {
    auto random = seeded_random();
    const auto x = random_values<double>(random, odd_count, 0.01, 5.0),
               y = random_values<double>(random, odd_count, -3.0, 3.0);
    const auto u = random_values<float>(random, odd_count, 0.01f, 5.f);
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x), Y = on_device(ctx, y);
        const auto U = on_device(ctx, u);
        vector<double> Z = sqrt(X) + sin(Y) * exp(-X) + log(X) + pow(X, Y) + atan2(Y, X) + fma(X, Y, 1);
        vector<float> W = sqrt(U) / 3 + floor(U) + fmax(U, 2);
        vector<bool> B = isnan(X / 0 - X / 0) && isfinite(Y);
        const auto z = Z.to_host();
        const auto w = W.to_host();
        for (std::size_t i = 0; i < odd_count; ++i) {
            const long double a = x[i], b = y[i];
            const long double exact = std::sqrt(a) + std::sin(b) * std::exp(-a) + std::log(a) +
                                      std::pow(a, b) + std::atan2(b, a) + (a * b + 1);
            EXPECT_NEAR(z[i], static_cast<double>(exact), 1e-14 * (1 + std::pow(x[i], y[i])));
            EXPECT_NEAR(w[i], std::sqrt(u[i]) / 3 + std::floor(u[i]) + std::fmax(u[i], 2.f), 2e-6);
        }
        expect_each(B.to_host(), [](std::size_t) { return true; });
    });
}

TEST(V4_types, mix_as_in_cpp_and_host_scalars_are_weak) {
    using i8 = vector<std::int8_t>;
    using f32 = vector<float>;
    static_assert(std::same_as<decltype(f32() * 2.0), expr<float>>);
    static_assert(std::same_as<decltype(2 * f32()), expr<float>>);
    static_assert(std::same_as<decltype(vector<std::int32_t>() * 2.5), expr<double>>);
    static_assert(std::same_as<decltype(i8() + 1), expr<std::int32_t>>);
    static_assert(std::same_as<decltype(f32() + vector<std::int64_t>()), expr<float>>);
    static_assert(std::same_as<decltype(f32() + vector<double>()), expr<double>>);
    static_assert(std::same_as<decltype(vector<bool>() + vector<bool>()), expr<std::int32_t>>);
    static_assert(std::same_as<decltype(vector<bool>() & vector<bool>()), expr<bool>>);
    static_assert(std::same_as<decltype(f32() < 1), expr<bool>>);
    static_assert(std::same_as<decltype(sin(vector<std::int32_t>())), expr<double>>);
    auto random = seeded_random();
    const auto x = random_values<std::int8_t>(random, odd_count);
    const auto b = random_values<bool>(random, odd_count);
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x);
        const auto B = on_device(ctx, b);
        vector<std::int32_t> Z = X + 200;
        expect_each(Z.to_host(), [&](std::size_t i) { return x[i] + 200; });
        Z = select(B == true, X * 1000, 7);
        expect_each(Z.to_host(), [&](std::size_t i) { return b[i] ? x[i] * 1000 : 7; });
        vector<bool> C = B && true;
        expect_each(C.to_host(), [&](std::size_t i) { return b[i]; });
    });
}

TEST(V4_arguments, keep_their_types) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto values = random_values<float>(random, 1000, -4.f, 4.f);
        const vector<float> x(ctx, values);
        const double tenth = 0.1;
        static_assert(std::same_as<decltype(x * argument(1.f)), expr<float>>);
        static_assert(std::same_as<decltype(x * argument(1)), expr<float>>);
        static_assert(std::same_as<decltype(argument(1) + argument(2u)), expr<std::uint32_t>>);
        const vector<float> weak(x * tenth);
        expect_each(weak.to_host(), [&](std::size_t i) { return values[i] * 0.1f; });
        if (ctx.device(0).info().has_double) {
            static_assert(std::same_as<decltype(x * argument(tenth)), expr<double>>);
            const vector<double> strong(x * argument(tenth));
            expect_each(strong.to_host(),
                        [&](std::size_t i) { return static_cast<double>(values[i]) * 0.1; });
        }
        // Beside small integers, and alone.
        vector<std::uint8_t> bytes(ctx, 300, std::uint8_t{200});
        EXPECT_EQ(balm::sum(bytes + argument(std::int64_t{1} << 40)), 300 * ((std::int64_t{1} << 40) + 200));
        vector<std::int64_t> y(ctx, 5);
        y = argument(std::int64_t{7}) * argument(6);
        EXPECT_EQ(balm::sum(y), 210);
        const vector<float4> v(ctx, 3, float4{1, 2, 3, 4});
        EXPECT_EQ(balm::sum(v * argument(float4{1, 0, 2, 0}))[2], 18.f);
        const vector<std::complex<float>> z(ctx, 2, {1.f, 2.f});
        EXPECT_EQ(balm::sum(real(z * argument(std::complex<float>(0, 1)))), -4.f);
        EXPECT_FALSE(argument(1.f).has_extents());
        EXPECT_THROW(static_cast<void>(argument(1.f).size()), usage_error);
    });
}

TEST(V4_arguments, of_other_values_share_a_kernel) {
    on_all_devices([](const device& dev) {
        vector<float> x(context(std::vector<device>{dev}), 100, 1.f);
        x = x * argument(2.f);
        const auto source = balm::generated_source(x * argument(3.f));
        EXPECT_EQ(source, balm::generated_source(x * argument(4.f)));
        EXPECT_EQ(source, balm::generated_source(x * 4.f));  // a plain number of the elements' type
    });
}

TEST(V4_expressions, say_their_extents) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, 12, 1);
        EXPECT_EQ((x + 1).extents(), shape(12));
        EXPECT_EQ((x + 1).size(), 12u);
        EXPECT_EQ((view(x, {3, 4}) * 2 + x).extents(), shape(3, 4));
        EXPECT_EQ(view(x, {3, 4})(all, 1).extents(), shape(3));
        EXPECT_EQ(element_index(3, 7).size(), 7u);
        EXPECT_EQ(balm::sum(view(x, {3, 4}), along(0)).extents(), shape(4));
        EXPECT_EQ(expr<int>(x)[2 * element_index(0, 5)].size(), 5u);
        EXPECT_TRUE((x + element_index()).has_extents());
        EXPECT_FALSE((element_index() * 2).has_extents());
        EXPECT_THAT(message_of<usage_error>([] { element_index().size(); }),
                    testing::HasSubstr("the size of an expression is unknown"));
    });
}

TEST(V4_casts, saturate_and_turn_nan_into_zero) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const host_array<double> x{nan, 1e30, -1e30, 3.99, -3.99, 300, -1, 0.5};
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x);
        vector<std::int32_t> Z = cast<int>(X);
        EXPECT_THAT(Z.to_host(), testing::ElementsAre(0, 2147483647, -2147483647 - 1, 3, -3, 300, -1, 0));
        vector<std::uint8_t> U = cast<unsigned char>(X);
        EXPECT_THAT(U.to_host(), testing::ElementsAre(0, 255, 0, 3, 0, 255, 0, 0));
        vector<bool> B = cast<bool>(X);
        EXPECT_THAT(B.to_host(), testing::Each(true));
    });
}

TEST(V4_assignment, compound_and_aliased) {
    auto random = seeded_random();
    const auto x = random_values<std::uint32_t>(random, odd_count),
               y = random_values<std::uint32_t>(random, odd_count);
    on_all_contexts([&](const context& ctx) {
        auto X = on_device(ctx, x);
        const auto Y = on_device(ctx, y);
        X = X + Y;
        X += 3;
        X *= Y;
        X -= X / 2;
        X ^= Y;
        X <<= 3;
        X %= 1000;
        X |= X & Y;
        X >>= 1;
        X /= 3;
        expect_each(X.to_host(), [&](std::size_t i) {
            std::uint32_t a = x[i];
            const std::uint32_t b = y[i];
            a = a + b;
            a += 3;
            a *= b;
            a -= a / 2;
            a ^= b;
            a <<= 3;
            a %= 1000;
            a |= a & b;
            a >>= 1;
            return a / 3;
        });
        X = 7;
        EXPECT_THAT(X.to_host(), testing::Each(7u));
    });
}

TEST(V4_assignment, shows_the_expression_with_the_extents_and_lines_of_its_operands) {
    on_all_contexts([&](const context& ctx) {
        const int line = __LINE__ + 1;
        vector<float> a(ctx, 4, 1.f), b(ctx, {1, 2, 3, 4, 5}), c(ctx, std::vector<float>(6));
        vector<double> d(ctx, 6);
        const auto made = [&](const char* what, int at) {
            return fmt::format("{} of {}:{}", what, __FILE__, at);
        };
        const std::string A = made("f32[4]", line), B = made("f32[5]", line), C = made("f32[6]", line),
                          D = made("f64[6]", line + 1);
        EXPECT_EQ(message_of<usage_error>([&] { c = 2 * a - sin(b); }),
                  fmt::format("an expression combines 4 elements with 5: 2 * {} with sin({})", A, B));
        EXPECT_EQ(
            message_of<usage_error>([&] { c = (a + 1.5) * a; }),
            fmt::format("an expression of 4 elements is assigned to a vector of 6 ({}:{}): ({} + 1.5) * {}",
                        __FILE__, line, A, A));
        EXPECT_EQ(message_of<usage_error>([&] { (void)sum(select(b > 0, b, d)); }),
                  fmt::format("an expression combines 5 elements with 6: {} > 0, {} with {}", B, B, D));
        EXPECT_THAT(
            message_of<usage_error>([&] {
                c = view(d, {2, 3}) + cast<double>(view(c, {3, 2}));
            }),
            HasSubstr(fmt::format("The operands: view({}, 2 x 3) with cast<f64>(view({}, 3 x 2))", D, C)));
        EXPECT_EQ(
            message_of<usage_error>([&] { a = b * element_index(2, 5) + vector<float>(); }),
            fmt::format("an expression combines 5 elements with a vector that has no elements yet: {} * "
                        "element_index(2) with f32[0]",
                        B));
    });
}

TEST(V4_assignment, refuses_other_sizes_and_names_both) {
    on_all_contexts([&](const context& ctx) {
        vector<float> a(ctx, 10), b(ctx, 20), c(ctx, 30);
        EXPECT_THAT(message_of<usage_error>([&] { c = a + b; }), AllOf(HasSubstr("10"), HasSubstr("20")));
        EXPECT_THAT(message_of<usage_error>([&] { c = a + a; }), AllOf(HasSubstr("10"), HasSubstr("30")));
        EXPECT_THAT(message_of<usage_error>([&] { a += b; }), AllOf(HasSubstr("10"), HasSubstr("20")));
        EXPECT_THAT(message_of<usage_error>([&] { a = b; }), AllOf(HasSubstr("10"), HasSubstr("20")));
        EXPECT_THAT(message_of<usage_error>([&] { (void)sum(a * b); }),
                    AllOf(HasSubstr("10"), HasSubstr("20")));
        host_array<float> h{1, 2, 3};
        EXPECT_THAT(message_of<usage_error>([&] { a.write(h); }), AllOf(HasSubstr("10"), HasSubstr("3")));
        EXPECT_THAT(message_of<usage_error>([&] { return a[10]; }), AllOf(HasSubstr("10")));
        EXPECT_THAT(message_of<usage_error>([&] {
                        vector<float> empty;
                        a = a + empty;
                    }),
                    HasSubstr("combines 10 elements with a vector that has no elements yet"));
        EXPECT_THAT(message_of<usage_error>([&] { vector<std::int64_t> z(element_index()); }),
                    HasSubstr("size"));
    });
}

TEST(V4_assignment, refuses_host_scalars_that_do_not_fit) {
    on_all_contexts([&](const context& ctx) {
        vector<std::int32_t> a(ctx, 4, 1);
        EXPECT_THAT(message_of<usage_error>([&] { a = a + 5000000000LL; }), HasSubstr("i32"));
    });
}

// As in kernels: beside unsigned elements a negative host scalar is what C++ converts it to.
TEST(V4_assignment, takes_negative_host_scalars_beside_unsigned_elements) {
    on_all_contexts([&](const context& ctx) {
        const vector<std::uint8_t> bytes(ctx, {0, 7, 255});
        const vector<std::uint32_t> words(ctx, {0, 7, 0xffffffff});
        vector<std::uint8_t> z(ctx, 3);
        z = min(bytes, -2);
        EXPECT_EQ(z.to_host(), (host_array<std::uint8_t>{0, 7, 254}));
        vector<bool> is_last(ctx, 3);
        is_last = words == std::int64_t{-1};
        EXPECT_EQ(is_last.to_host(), (host_array<bool>{false, false, true}));
        EXPECT_THAT(message_of<usage_error>([&] { z = min(bytes, 300); }), HasSubstr("u8"));
    });
}

// ---- one kernel a structure -------------------------------------------------------------------------

TEST(V7_equal_terminals, are_one_argument_and_one_load) {
    on_all_contexts([&](const context& ctx) {
        vector<float> x(ctx, 100, 3.f), y(ctx, 100, 5.f), z(ctx, 100);
        std::string printed;
        kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) {
            printed += ir::dump(f);
            EXPECT_EQ(f.parameters.size(), 4u) << "n, out and two vectors";
            EXPECT_EQ(std::count_if(f.code.begin(), f.code.end(),
                                    [](const ir::instruction& i) { return i.op == ir::opcode::load; }),
                      5);
            std::size_t loads = 0;
            for (const auto& block : f.blocks)
                for (const ir::value_id v : block) loads += f.code[v].op == ir::opcode::load;
            EXPECT_EQ(loads, 2u) << ir::dump(f);
        });
        z = (x * y - x) + floor(y) * x;
        compile_kernels_with_nvrtc_again();
        EXPECT_THAT(z.to_host(), testing::Each(3.f * 5 - 3 + 15));
    });
}

TEST(V7_equal_terminals, tell_structures_apart) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 10, 3.0), z(ctx, 10);
        z = x * x + y;
        EXPECT_EQ(z[3], 7);
        z = x * y + y;
        EXPECT_EQ(z[3], 9);
        z = y * x + y;
        EXPECT_EQ(z[3], 9);
        z = x * y + x;
        EXPECT_EQ(z[3], 8);
        x = x * y + x;
        EXPECT_EQ(x[3], 8);
        y = y * y + x;
        EXPECT_EQ(y[3], 17);
    });
}

/// The sines of the kernel that is compiled for what the body assigns.
std::size_t sines_compiled_by(const std::function<void()>& body) {
    std::size_t sines = 0;
    kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) {
        for (const auto& block : f.blocks)
            for (const ir::value_id v : block)
                sines += f.code[v].op == ir::opcode::builtin &&
                         static_cast<builtin>(f.code[v].detail) == builtin::sin;
    });
    body();
    compile_kernels_with_nvrtc_again();
    return sines;
}

// What occurs again is one value with all that it is made of, host scalars too.
TEST(V7_repeated_subexpressions, are_one_value) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 10, 3.0), z(ctx, 10);
        const auto wave = sin(1.5 * x + 0.25);
        EXPECT_EQ(sines_compiled_by([&] { z = sin(1.5 * x) * sin(1.25 * x); }), 2u);
        EXPECT_EQ(sines_compiled_by([&] { z = sin(1.5 * x) * sin(1.5 * y); }), 2u);
        EXPECT_EQ(sines_compiled_by([&] { z = wave * wave + wave * y; }), 1u);
        const double value = std::sin(3.25);
        EXPECT_NEAR(z[7], value * value + 3 * value, 1e-14);

        const auto place = element_index(4) * 3;
        z = cast<double>(place * place + element_index(5));
        for (std::size_t i = 0; i < 10; ++i)
            EXPECT_EQ(z[i], static_cast<double>(9 * (i + 4) * (i + 4) + i + 5));
        // At positions, and in several at once.
        const auto back = (2.5 * x)[9 - element_index()];
        x.set(3, 7.0);
        z = back * back - back;
        EXPECT_EQ(z[6], 17.5 * 17.5 - 17.5);
        EXPECT_EQ(z[5], 20);
        vector<double> w(ctx, 10);
        tie(z, w) = std::tuple(2.5 * x - y, 2.5 * x + y);
        EXPECT_EQ(z[3] + w[3], 35);
        EXPECT_EQ(w[3] - z[3], 6);
    });
}

TEST(V7_repeated_subexpressions, are_those_of_equal_scalars_alone) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 10, 3.0), z(ctx, 10);
        const auto both = [&](double s, double t) { z = s * x + t * y; };
        const auto twice = [&](double s, double t) { z = s * x + t * x; };
        both(2, 5);
        EXPECT_EQ(z[0], 19);
        EXPECT_EQ(compilations_of([&] { both(4, 4); }), 0) << "equal by chance";
        EXPECT_EQ(z[0], 20);
        twice(2, 5);
        EXPECT_EQ(z[0], 14);
        twice(5, 5);
        EXPECT_EQ(z[0], 20);
        twice(0.0, -0.0);
        EXPECT_EQ(z[0], 0);
        twice(7, 1);
        EXPECT_EQ(z[0], 16);
        // Many of them, of which some are equal.
        auto long_sum = 1.0 * x;
        double wanted = 2;
        for (int k = 0; k < 40; ++k) {
            long_sum = expr<double>(long_sum + (k % 7 + 0.5) * x);
            wanted += 2 * (k % 7 + 0.5);
        }
        z = long_sum;
        EXPECT_EQ(z[9], wanted);
    });
}

TEST(V21_sources, a_new_scalar_or_vector_compiles_nothing) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 20, 3.0), z(ctx, 10), w(ctx, 20);
        z = 1.5 * x - 0.25;
        double factor = 2.5;
        EXPECT_EQ(compilations_of([&] {
                      z = factor * x - 0.5;
                      w = 7 * y - factor;
                      for (int k = 0; k < 5; ++k) z = k * x - k;
                  }),
                  0);
        EXPECT_EQ(z[0], 4.0 * 2 - 4);
        EXPECT_EQ(w[0], 21 - 2.5);
        EXPECT_EQ(compilations_of([&] { z = constant(1.25) * x; }), 1);
        EXPECT_EQ(compilations_of([&] { z = constant(1.5) * x; }), 1);
        EXPECT_EQ(compilations_of([&] { z = constant(1.25) * x; }), 0);
        EXPECT_EQ(z[9], 2.5);
    });
}

TEST(V21_sources, say_what_they_compute) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 10, 3.0), z(ctx, 10);
        std::string words;
        kernels::observe_compilations(
            [&](const ir::function& f, const ir::launch_facts&) { words = f.description; });
        z = (2 * x - sin(y)) / (x + z);
        compile_kernels_with_nvrtc_again();
        EXPECT_EQ(words, "out = (s * a - sin(b)) / (a + out)");
    });
}

/// What is said of kernels while the body runs.
std::string shown_while(const std::function<void()>& body) {
    ::setenv("BALM_SHOW_KERNELS", "1", 1);
    testing::internal::CaptureStderr();
    body();
    ::unsetenv("BALM_SHOW_KERNELS");
    return testing::internal::GetCapturedStderr();
}

TEST(V21_sources, are_strings_on_request) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 10, 2.0), y(ctx, 10, 3.0);
        const std::string source = generated_source(2 * x - sin(y));
        const bool is_cuda = ctx.device(0).info().api == backend::cuda;
        EXPECT_THAT(source, HasSubstr("out = s * a - sin(b)"));
        EXPECT_THAT(source, HasSubstr(is_cuda ? "extern \"C\" __global__" : "kernel void elementwise("));
        // What is compiled for an assignment is that.
        vector<double> z(ctx, 10);
        const std::string shown = shown_while([&] { z = 2 * x - sin(y); });
        const std::string body = source.substr(source.find('{'));
        if (!devices_are_together() && !shown.empty()) {
            EXPECT_THAT(shown, HasSubstr(body));
        }
        EXPECT_THAT(message_of<usage_error>([] { generated_source(element_index()); }),
                    HasSubstr("the size of an expression is unknown"));
    });
}

TEST(V21_sources, say_why_they_are_compiled) {
    float unused = 0.8125f;  // as a constant on other devices
    on_all_contexts([&](const context& ctx) {
        if (devices_are_together()) return;
        vector<float> x(ctx, 64, 2.f), y(ctx, 64, 3.f), z(ctx, 64);
        vector<double> w(ctx, 64);
        const auto with_new_constant = [&](const auto& a, const auto& b) {
            return fma(a, b, constant(unused));
        };
        EXPECT_THAT(shown_while([&] { z = with_new_constant(x, y); }), HasSubstr("operations and types"));
        EXPECT_THAT(shown_while([&] { z = with_new_constant(x, x); }), HasSubstr("a + a is not a + b"));
        EXPECT_THAT(shown_while([&] { w = with_new_constant(x, y); }), HasSubstr("its targets"));
        EXPECT_THAT(shown_while([&] { w = with_new_constant(y, x); }), testing::IsEmpty());
        unused += 1;
    });
}

// ---- indices, constants, functions, vectors as values -----------------------------------------------

TEST(V5_element_index, counts_from_an_offset) {
    on_all_contexts([&](const context& ctx) {
        vector<std::int64_t> x(ctx, 300);
        x = element_index();
        expect_each(x.to_host(), [](std::size_t i) { return i; });
        EXPECT_EQ(compilations_of([&] { x = element_index(5); }), 0);
        expect_each(x.to_host(), [](std::size_t i) { return i + 5; });
        x = element_index(-3, 300) * 2 + x;
        expect_each(x.to_host(), [](std::size_t i) {
            return (static_cast<std::int64_t>(i) - 3) * 2 + static_cast<std::int64_t>(i) + 5;
        });
        EXPECT_THAT(message_of<usage_error>([&] { x = element_index(0, 299); }),
                    AllOf(HasSubstr("299"), HasSubstr("300")));
    });
}

TEST(V5_element_index, alone_can_be_summed) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    EXPECT_EQ(sum(element_index(0, 1000)), 499500);  // on the best device, as nothing else is said
}

TEST(V4_functions, stand_in_expressions) {
    const auto sqr = balm::function("sqr(x, y)", [](dsl::Double x, dsl::Double y) { return x * x + y * y; });
    auto random = seeded_random();
    const auto x = random_values<double>(random, odd_count, -9.0, 9.0);
    const auto y = random_values<float>(random, odd_count, -9.f, 9.f);
    on_all_contexts([&](const context& ctx) {
        const auto X = on_device(ctx, x);
        const auto Y = on_device(ctx, y);
        vector<double> Z = sqrt(sqr(X, Y)) + sqr(X + 1, 2);
        expect_each(Z.to_host(), [&](std::size_t i) {
            const double a = x[i], b = y[i];
            return std::sqrt(std::fma(a, a, b * b)) + std::fma(a + 1, a + 1, 4.0);
        });
    });
}

TEST(V3_copies, are_deep_and_moves_are_not) {
    on_all_contexts([&](const context& ctx) {
        vector<std::int32_t> a(ctx, {1, 2, 3}), b = a, c;
        b.set(0, 10);
        EXPECT_THAT(a.to_host(), testing::ElementsAre(1, 2, 3));
        EXPECT_THAT(b.to_host(), testing::ElementsAre(10, 2, 3));
        c = a;
        a = 0;
        EXPECT_THAT(c.to_host(), testing::ElementsAre(1, 2, 3));
        const auto memory = c.storage();
        vector<std::int32_t> d = std::move(c);
        EXPECT_EQ(d.storage(), memory);
        EXPECT_TRUE(c.empty());  // NOLINT(bugprone-use-after-move)
        swap(b, d);
        EXPECT_EQ(b.storage(), memory);
        EXPECT_THAT(d.to_host(), testing::ElementsAre(10, 2, 3));
        b = *&b;
        EXPECT_THAT(b.to_host(), testing::ElementsAre(1, 2, 3));
        b = d;
        d = 5;
        EXPECT_THAT(b.to_host(), testing::ElementsAre(10, 2, 3));
        vector<std::int32_t> nothing(ctx, 0), copy = nothing;
        EXPECT_EQ(copy.to_host().size(), 0u);
        vector<std::int32_t> taken;
        taken = b * 2;
        EXPECT_EQ(taken[0], 20);
    });
}

TEST(V3_copies, elements_are_read_and_set_one_by_one) {
    on_all_contexts([&](const context& ctx) {
        vector<bool> b(ctx, {true, false, true});
        b.set(1, true);
        EXPECT_TRUE(b[1]);
        EXPECT_THAT(b.to_host(), testing::ElementsAre(true, true, true));
        vector<float> f(ctx, std::vector<float>{1, 2, 3});
        f.set(2, -0.5f);
        EXPECT_EQ(f[2], -0.5f);
        EXPECT_THAT(message_of<usage_error>([&] { f.set(3, 1.f); }), HasSubstr("3"));
        std::vector<float> host(3);
        f.read(host);
        EXPECT_THAT(host, testing::ElementsAre(1, 2, -0.5f));
    });
}

TEST(V3_copies, go_by_ranges_and_iterators) {
    on_all_contexts([](const context& where) {
        balm::vector<double> x(where, {0, 1, 2, 3, 4, 5}), y(where, 4, -1.0);
        const std::list<double> list{10, 20};
        x.elements().range(1, 3).write(list.begin(), list.end());
        EXPECT_THAT(x.to_host(), testing::ElementsAre(0, 10, 20, 3, 4, 5));
        x.elements().from(4).copy_to(y.elements().until(2));
        y = y + 1;
        EXPECT_THAT(y.to_host(), testing::ElementsAre(5, 6, 0, 0));
        std::list<double> back(2);
        y.elements().until(2).read_into(back.begin(), back.end());
        EXPECT_THAT(back, testing::ElementsAre(5, 6));
        x.elements().reshaped({2, 3}).region({0, 2}, {2, 1}).fill(7);
        EXPECT_THAT(x.to_host(), testing::ElementsAre(0, 10, 7, 3, 4, 7));
        EXPECT_THROW(x.elements().from(7), usage_error);
        EXPECT_THROW(balm::vector<int>().elements(), usage_error);
    });
}

TEST(V3_copies, map_the_elements) {
    on_all_contexts([](const context& where) {
        balm::vector<int> x(where, {1, 2, 3});
        for (int& each : x.map()) each *= 10;
        x = x + 1;
        EXPECT_THAT(x.map(), testing::ElementsAre(11, 21, 31));
    });
}

TEST(V3_copies, bind_to_kernels_as_any_kind_of_memory) {
    const auto kernel =
        balm::kernel<1>("double_it", [](dsl::In<float> in, dsl::Mixed<float> mixed, dsl::Out<float> out) {
            dsl::Index i = dsl::global_id(0);
            mixed[i] += in[i];
            out[i] = 2 * in[i];
        });
    on_all_contexts([&](const context& ctx) {
        vector<float> a(ctx, 100, 3.f), b(ctx, 100, 4.f), c(ctx, 100);
        ctx.device(0).execute(kernel(a, b, c), {100});
        c = c + b;
        EXPECT_THAT(c.to_host(), testing::Each(13.f));
    });
}

}  // namespace
}  // namespace balm::test

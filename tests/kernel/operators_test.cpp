// Every operator on every scalar type, against the host's own operators: integers bit for bit, floating point
// too, since no two of them are contracted here.

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

template <class T>
using promoted = decltype(T{} + T{});
/// What results are stored as: every result of the type fits.
template <class T>
using stored = std::conditional_t<std::floating_point<T>, double, std::int64_t>;

/// Set when an oracle meets a signed overflow, which is undefined on devices as in C++: no result is judged.
bool overflows = false;

/// Integers as Balm defines them: x / 0 = 0, x % 0 = x, shift counts modulo the width.
template <class P>
struct host_operators {
    static P add(P a, P b) {
        if constexpr (std::floating_point<P>)
            return a + b;
        else {
            P r;
            if (__builtin_add_overflow(a, b, &r) && std::signed_integral<P>) overflows = true;
            return r;
        }
    }
    static P sub(P a, P b) {
        if constexpr (std::floating_point<P>)
            return a - b;
        else {
            P r;
            if (__builtin_sub_overflow(a, b, &r) && std::signed_integral<P>) overflows = true;
            return r;
        }
    }
    static P mul(P a, P b) {
        if constexpr (std::floating_point<P>)
            return a * b;
        else {
            P r;
            if (__builtin_mul_overflow(a, b, &r) && std::signed_integral<P>) overflows = true;
            return r;
        }
    }
    static P div(P a, P b) {
        if constexpr (std::floating_point<P>)
            return a / b;
        else if (b == 0)
            return 0;
        else if constexpr (std::signed_integral<P>)
            if (b == -1) return static_cast<P>(0 - static_cast<std::make_unsigned_t<P>>(a));
        return a / b;
    }
    static P rem(P a, P b) {
        if (b == 0) return a;
        if constexpr (std::signed_integral<P>)
            if (b == -1) return 0;
        return a % b;
    }
    static unsigned count(P b) { return static_cast<unsigned>(b) % (8 * sizeof(P)); }
    static P shl(P a, P b) { return static_cast<P>(static_cast<std::make_unsigned_t<P>>(a) << count(b)); }
    static P shr(P a, P b) { return static_cast<P>(a >> count(b)); }
};

template <class T>
class C10_operators : public testing::Test {};
TYPED_TEST_SUITE(C10_operators, scalar_types);

TYPED_TEST(C10_operators, compute_what_the_host_computes) {
    using T = TypeParam;
    using P = promoted<T>;
    using S = stored<T>;
    using V = Var<T>;
    static constexpr std::size_t results = 12;
    const auto kernel = balm::kernel<1>("arithmetic", [](In<T> a, In<T> b, Out<S> out) {
        Index i = global_id(0);
        V x = a[i], y = b[i];
        const std::vector<Var<S>> list{x + y,     x - y,  x * y,  x / y,  -x,    +x,
                                       x<y, x> y, x <= y, x >= y, x == y, x != y};
        for (std::size_t k = 0; k < results; ++k) out[i * results + k] = list[k];
    });
    auto random = seeded_random();
    const auto a = random_values<T>(random, some_items), b = random_values<T>(random, some_items);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<S>(some_items * results);
        on.execute(kernel(in(on, a), in(on, b), out), {some_items});
        const auto got = out.read();
        for (std::size_t i = 0; i < some_items; ++i) {
            const P x = a[i], y = b[i];
            using host = host_operators<P>;
            const std::array<S, results> expected{
                static_cast<S>(host::add(x, y)),
                static_cast<S>(host::sub(x, y)),
                static_cast<S>(host::mul(x, y)),
                static_cast<S>(host::div(x, y)),
                static_cast<S>(host::sub(std::floating_point<P> ? P(-0.0) : P(0), x)),
                static_cast<S>(x),
                S(x < y),
                S(x > y),
                S(x <= y),
                S(x >= y),
                S(x == y),
                S(x != y)};
            if (std::exchange(overflows, false)) continue;
            for (std::size_t k = 0; k < results; ++k)
                ASSERT_TRUE(is_same(got[i * results + k], expected[k]))
                    << "operator " << k << " of " << +x << " and " << +y << " gives " << got[i * results + k]
                    << ", not " << expected[k];
        }
    });
}

TYPED_TEST(C10_operators, negate_what_extremes_are_taken_of) {
    using T = TypeParam;
    if constexpr (!std::same_as<T, bool>) {
        using P = promoted<T>;
        const auto all = [](const auto& x, const auto& y, const auto& z, auto&& each) {
            each(max(max(x, -y), z), max(max(-x, y), z), max(x, max(-y, -z)), max(max(x, P(0) - y), z),
                 max(max(x, y * P(-1)), z), min(min(x, -y), -z), min(min(-x, y), z), min(x, max(-y, z)));
        };
        static constexpr std::size_t results = 8;
        const auto kernel = balm::kernel<1>("extremes", [&](In<T> a, In<T> b, In<T> c, Out<P> out) {
            Index i = global_id(0);
            const Var<P> x = cast<P>(a[i]), y = cast<P>(b[i]), z = cast<P>(c[i]);
            all(x, y, z, [&](const auto&... result) {
                std::size_t k = 0;
                ((out[i * results + k++] = result), ...);
            });
            IF (-y > x) {
                out[i * results + 7] = max(-y, z);
            }
        });
        auto random = seeded_random();
        const T least = std::is_signed_v<T> ? T(-100) : T(0);
        const auto a = random_values<T>(random, some_items, least, T(100)),
                   b = random_values<T>(random, some_items, least, T(100)),
                   c = random_values<T>(random, some_items, least, T(100));
        on_all_devices([&](const device& on) {
            auto out = on.out_buffer<P>(some_items * results);
            on.execute(kernel(in(on, a), in(on, b), in(on, c), out), {some_items});
            const auto got = out.read();
            for (std::size_t i = 0; i < some_items; ++i) {
                const P x = a[i], y = b[i], z = c[i], minus_x = P(0) - x, minus_y = P(0) - y,
                        minus_z = P(0) - z;
                const P expected[] = {std::max({x, minus_y, z}),
                                      std::max({minus_x, y, z}),
                                      std::max({x, minus_y, minus_z}),
                                      std::max({x, minus_y, z}),
                                      std::max({x, minus_y, z}),
                                      std::min({x, minus_y, minus_z}),
                                      std::min({minus_x, y, z}),
                                      minus_y > x ? std::max(minus_y, z) : std::min(x, std::max(minus_y, z))};
                for (std::size_t k = 0; k < results; ++k)
                    ASSERT_EQ(got[i * results + k], expected[k])
                        << "extreme " << k << " of " << +x << ", " << +y << ", " << +z;
            }
        });
    }
}

TYPED_TEST(C10_operators, on_truth_values_take_any_type) {
    using T = TypeParam;
    const auto kernel = balm::kernel<1>("logic", [](In<T> a, In<T> b, Out<std::uint8_t> out) {
        Index i = global_id(0);
        Var<T> x = a[i], y = b[i];
        out[i] =
            select(x && y, 1, 0) + select(x || y, 2, 0) + select(!x, 4, 0) + 8 * cast<int>(x && !(x == y));
    });
    auto random = seeded_random();
    const auto a = random_values<T>(random, some_items), b = random_values<T>(random, some_items);
    on_all_devices([&](const device& on) {
        expect_each(run<std::uint8_t>(on, kernel, some_items, in(on, a), in(on, b)), [&](std::size_t i) {
            return (a[i] && b[i] ? 1 : 0) + (a[i] || b[i] ? 2 : 0) + (!a[i] ? 4 : 0) +
                   (a[i] && a[i] != b[i] ? 8 : 0);
        });
    });
}

TYPED_TEST(C10_operators, on_integers_compute_what_the_host_computes) {
    using T = TypeParam;
    if constexpr (!std::floating_point<T> && !std::same_as<T, bool>) {
        using P = promoted<T>;
        static constexpr std::size_t results = 7;
        const auto kernel = balm::kernel<1>("bits", [](In<T> a, In<T> b, Out<std::int64_t> out) {
            Index i = global_id(0);
            Var<T> x = a[i], y = b[i];
            const std::vector<Long> list{x % y, x & y, x | y, x ^ y, x << y, x >> y, ~x};
            for (std::size_t k = 0; k < results; ++k) out[i * results + k] = list[k];
        });
        auto random = seeded_random();
        const auto a = random_values<T>(random, some_items), b = random_values<T>(random, some_items);
        on_all_devices([&](const device& on) {
            auto out = on.out_buffer<std::int64_t>(some_items * results);
            on.execute(kernel(in(on, a), in(on, b), out), {some_items});
            const auto got = out.read();
            for (std::size_t i = 0; i < some_items; ++i) {
                const P x = a[i], y = b[i];
                using host = host_operators<P>;
                const std::array<P, results> expected{
                    host::rem(x, y), static_cast<P>(x & y), static_cast<P>(x | y), static_cast<P>(x ^ y),
                    host::shl(x, y), host::shr(x, y),       static_cast<P>(~x)};
                for (std::size_t k = 0; k < results; ++k)
                    ASSERT_EQ(got[i * results + k], static_cast<std::int64_t>(expected[k]))
                        << "operator " << k << " of " << +x << " and " << +y;
            }
        });
    }
}

TYPED_TEST(C10_operators, assign_as_compound_and_step_by_one) {
    using T = TypeParam;
    if constexpr (!std::same_as<T, bool>) {
        using P = promoted<T>;
        using host = host_operators<P>;
        static constexpr std::size_t results = 9;
        const auto kernel = balm::kernel<1>("compound", [](In<T> a, In<T> b, Out<T> out) {
            Index i = global_id(0);
            Var<T> x = a[i], y = b[i];
            Index at = i * results;
            x += y;
            out[at++] = x;
            x -= 3;
            out[at++] = x;
            x *= y;
            out[at++] = x;
            x /= y;
            out[at++] = x;
            out[at++] = ++x;
            out[at++] = x++;
            out[at++] = --x;
            out[at++] = x--;
            out[at] = x;
        });
        auto random = seeded_random();
        const auto a = random_values<T>(random, some_items), b = random_values<T>(random, some_items);
        on_all_devices([&](const device& on) {
            auto out = on.out_buffer<T>(some_items * results);
            on.execute(kernel(in(on, a), in(on, b), out), {some_items});
            const auto got = out.read();
            for (std::size_t i = 0; i < some_items; ++i) {
                const T y = b[i], one = 1;
                std::array<T, results> expected{};
                expected[0] = static_cast<T>(host::add(a[i], y));
                expected[1] = static_cast<T>(host::sub(expected[0], P(3)));
                expected[2] = static_cast<T>(host::mul(expected[1], y));
                expected[3] = static_cast<T>(host::div(expected[2], y));
                expected[4] = static_cast<T>(host::add(expected[3], one));
                expected[5] = expected[4];
                expected[6] = static_cast<T>(host::sub(static_cast<T>(host::add(expected[5], one)), one));
                expected[7] = expected[6];
                expected[8] = static_cast<T>(host::sub(expected[7], one));
                if (std::exchange(overflows, false)) continue;
                for (std::size_t k = 0; k < results; ++k)
                    ASSERT_TRUE(is_same(got[i * results + k], expected[k]))
                        << "step " << k << " from " << +a[i] << " with " << +y << " gives "
                        << +got[i * results + k] << ", not " << +expected[k];
            }
        });
    }
}

TYPED_TEST(C10_operators, assign_to_elements_as_compound) {
    using T = TypeParam;
    if constexpr (!std::floating_point<T> && !std::same_as<T, bool>) {
        using P = promoted<T>;
        using host = host_operators<P>;
        const auto kernel = balm::kernel<1>("compound_bits", [](Mixed<T> x, In<T> b) {
            Index i = global_id(0);
            x[i] <<= b[i];
            x[i] ^= b[i];
            x[i] >>= b[i];
            x[i] %= b[i];
            x[i] |= 5;
            x[i] &= b[i];
        });
        auto random = seeded_random();
        const auto a = random_values<T>(random, some_items), b = random_values<T>(random, some_items);
        on_all_devices([&](const device& on) {
            auto x = on.mixed_buffer<T>(some_items);
            x.write(std::span<const T>(a));
            on.execute(kernel(x, in(on, b)), {some_items});
            expect_each(x.read(), [&](std::size_t i) {
                const T y = b[i];
                T value = static_cast<T>(host::shl(a[i], y));
                value = static_cast<T>(value ^ y);
                value = static_cast<T>(host::shr(value, y));
                value = static_cast<T>(host::rem(value, y));
                return static_cast<T>((value | 5) & y);
            });
        });
    }
}

TEST(C10_operators_between_types, take_the_common_type_as_cpp_does) {
    const auto kernel = balm::kernel<1>("mixed_types", [](In<std::int32_t> a, In<std::uint32_t> b,
                                                          In<std::int64_t> c, In<float> d, Out<double> out) {
        Index i = global_id(0);
        Int x = a[i];
        UInt y = b[i];
        Long z = c[i];
        Float w = d[i];
        const std::vector<Double> list{x + y,  x * z, y - z, z * w, cast<short>(x) * cast<signed char>(y),
                                       x / 2.0};
        for (int k = 0; k < 6; ++k) out[i * 6 + k] = list[static_cast<std::size_t>(k)];
    });
    auto random = seeded_random();
    const auto a = random_values<std::int32_t>(random, some_items, -30000, 30000);
    const auto b = random_values<std::uint32_t>(random, some_items);
    const auto c = random_values<std::int64_t>(random, some_items, -1000, 1000);
    const auto d = random_values<float>(random, some_items);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<double>(6 * some_items);
        on.execute(kernel(in(on, a), in(on, b), in(on, c), in(on, d), out), {some_items});
        expect_each(out.read(), [&](std::size_t at) -> double {
            const std::size_t i = at / 6;
            switch (at % 6) {
                case 0: return static_cast<std::uint32_t>(a[i]) + b[i];
                case 1: return static_cast<double>(a[i] * c[i]);
                case 2: return static_cast<double>(b[i] - c[i]);
                case 3: return static_cast<float>(c[i]) * d[i];
                case 4: return static_cast<short>(a[i]) * static_cast<signed char>(b[i]);
                default: return a[i] / 2.0;
            }
        });
    });
}

// ---- host scalars are weak --------------------------------------------------------------------------

TEST(C10_weak_host_scalars, keep_the_type_of_the_device_value_within_a_kind) {
    static_assert(std::same_as<decltype(Float() * 2.0), Float>);
    static_assert(std::same_as<decltype(2.0 * Float()), Float>);
    static_assert(std::same_as<decltype(Int() + 5LL), Int>);
    static_assert(std::same_as<decltype(UInt() + 1), UInt>);
    static_assert(std::same_as<decltype(Long() << 3), Long>);
    static_assert(std::same_as<decltype(Int() * 2.5), Double>);
    static_assert(std::same_as<decltype(Int() * 2.5f), Float>);
    static_assert(std::same_as<decltype(Char() + 1), Int>);
    static_assert(std::same_as<decltype(Bool() + 1), Int>);
    static_assert(std::same_as<decltype(Float() + 1), Float>);
    static_assert(std::same_as<decltype(Int() < 2.5), Bool>);
}

TEST(C10_weak_host_scalars, beside_small_integers_count_as_int) {
    const auto kernel = balm::kernel<1>("small", [](In<std::int8_t> a, Out<std::int32_t> out) {
        Index i = global_id(0);
        Char x = a[i];
        out[i * 3] = x + 200;
        out[i * 3 + 1] = select(x < 200, 1, 0);
        out[i * 3 + 2] = x * 1000;
    });
    auto random = seeded_random();
    const auto a = random_values<std::int8_t>(random, some_items);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(3 * some_items);
        on.execute(kernel(in(on, a), out), {some_items});
        expect_each(out.read(), [&](std::size_t at) {
            const int x = a[at / 3];
            return at % 3 == 0 ? x + 200 : at % 3 == 1 ? 1 : x * 1000;
        });
    });
}

TEST(C10_weak_host_scalars, all_ones_fit_unsigned_values) {
    const auto kernel = balm::kernel<1>("all_ones", [](In<std::uint32_t> a, Out<std::uint8_t> out) {
        UInt x = a[global_id(0)];
        out[global_id(0)] = x == -1;
    });
    host_array<std::uint32_t> a{0u, 1u, 0xffffffffu};
    on_all_devices([&](const device& on) {
        expect_each(run<std::uint8_t>(on, kernel, 3, in(on, a)), [](std::size_t i) { return i == 2; });
    });
}

TEST(C10_weak_host_scalars, join_device_values_on_either_side_of_a_logic_operator) {
    const bool yes = true, no = false;
    const auto kernel = balm::kernel<1>("host_flags", [=](In<std::int32_t> a, Out<std::int32_t> out) {
        Index i = global_id(0);
        Bool x = a[i] > 0;
        out[i] =
            select(x && yes, 1, 0) + select(x || no, 2, 0) + select(yes && x, 4, 0) + select(no || x, 8, 0);
    });
    host_array<std::int32_t> a{0, 1, 0, 2};
    on_all_devices([&](const device& on) {
        expect_each(run<std::int32_t>(on, kernel, 4, in(on, a)),
                    [&](std::size_t i) { return a[i] > 0 ? 15 : 0; });
    });
}

}  // namespace
}  // namespace balm::test

// convert, convert_sat and bit_cast between all scalar types in every rounding mode, against the host: whole
// numbers by the C library in long double, floating results by the processor's own rounding modes.

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <limits>
#include <vector>

#include "kernel/run.hpp"
#include "support/vectors.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

template <class T>
std::uint64_t bits_of(T x) {
    if constexpr (std::same_as<T, float>)
        return std::bit_cast<std::uint32_t>(x);
    else if constexpr (std::same_as<T, double>)
        return std::bit_cast<std::uint64_t>(x);
    else
        return static_cast<std::uint64_t>(x);
}

/// x, which holds the source's value exactly, as a T.
template <class T>
T on_host(rounding how, long double x) {
    if constexpr (std::floating_point<T>) {
        const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
        std::fesetround(modes[static_cast<int>(how)]);
        const volatile long double exact = x;
        const volatile T result = static_cast<T>(exact);
        std::fesetround(FE_TONEAREST);
        return result;
    } else {
        if (std::isnan(x)) return 0;
        const long double whole = how == rounding::nearest_even  ? std::nearbyint(x)
                                  : how == rounding::toward_zero ? std::trunc(x)
                                  : how == rounding::up          ? std::ceil(x)
                                                                 : std::floor(x);
        using limits = std::numeric_limits<T>;
        if (whole < static_cast<long double>(limits::min())) return limits::min();
        if (whole > static_cast<long double>(limits::max())) return limits::max();
        return static_cast<T>(whole);
    }
}

template <class T>
std::vector<T> values_to_convert(std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{0, 1, 2, limits::max(), limits::lowest()};
    if constexpr (std::floating_point<T>) {
        for (double x : {0.5, 1.5, 2.5, 3.7, 126.5, 127.5, 128.0, 254.5, 255.5, 32767.5, 65535.5, 16777217.0})
            values.insert(values.end(), {static_cast<T>(x), static_cast<T>(-x)});
        for (int power : {31, 32, 63, 64, 100})
            for (T sign : {T{1}, T{-1}})
                values.insert(values.end(),
                              {std::ldexp(sign, power), std::nextafter(std::ldexp(sign, power), T{0})});
        values.insert(values.end(), {limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                     limits::denorm_min(), -limits::denorm_min()});
        for (int k = 0; k < 2000; ++k)
            values.push_back(std::uniform_real_distribution<T>(-2, 2)(random) *
                             std::exp2(static_cast<T>(static_cast<int>(random() % 80) - 10)));
    } else {
        for (int k = 0; k < 2000; ++k)
            values.push_back(static_cast<T>(static_cast<T>(random()) >> random() % (8 * sizeof(T))));
    }
    return values;
}

/// Calls f with each number type in a tag.
template <class F>
void for_each_number(F&& f) {
    [&]<class... T>(const testing::Types<T...>*) {
        (f(std::type_identity<T>{}), ...);
    }(static_cast<const number_types*>(nullptr));
}
template <class F>
void for_each_mode(F&& f) {
    f(std::integral_constant<rounding, rounding::nearest_even>{});
    f(std::integral_constant<rounding, rounding::toward_zero>{});
    f(std::integral_constant<rounding, rounding::up>{});
    f(std::integral_constant<rounding, rounding::down>{});
}

/// The value's bits as 64: what the kernels give back.
template <class T>
Long bits_on_device(const Var<T>& x) {
    if constexpr (std::same_as<T, float>)
        return cast<std::int64_t>(bit_cast<std::uint32_t>(x));
    else if constexpr (std::same_as<T, double>)
        return bit_cast<std::int64_t>(x);
    else
        return cast<std::int64_t>(x);
}

template <class From>
class C10_conversions_of : public testing::Test {};
TYPED_TEST_SUITE(C10_conversions_of, number_types);

TYPED_TEST(C10_conversions_of, round_and_saturate_as_told) {
    using From = TypeParam;
    on_all_devices([](const device& on) {
        if (!on.info().has_double) return;
        auto random = seeded_random();
        const std::vector<From> values = values_to_convert<From>(random);
        const auto n = static_cast<std::int64_t>(values.size());
        std::vector<std::string> names;
        const auto kernel =
            balm::kernel<1>("conversions(n, in, out)", [&](Long n_, In<From> in_, Out<std::int64_t> out) {
                Index i = global_id(0);
                Var<From> x = in_[i];
                std::int64_t row = 0;
                for_each_number([&]<class To>(std::type_identity<To>) {
                    for_each_mode([&](auto mode) {
                        out[row++ * n_ + i] = bits_on_device(convert<To, decltype(mode)::value>(x));
                        names.push_back(std::string("convert to ") + to_string(scalar_of<To>) + ", mode " +
                                        std::to_string(static_cast<int>(mode.value)));
                        if constexpr (std::integral<To>) {
                            out[row++ * n_ + i] = bits_on_device(convert_sat<To, decltype(mode)::value>(x));
                            names.push_back("saturating " + names.back());
                        }
                    });
                });
            });
        auto out = on.out_buffer<std::int64_t>(names.size() * values.size());
        on.execute(kernel(n, in(on, host_array<From>(values)), out), {values.size()});
        const auto got = out.read();
        std::size_t row = 0, wrong = 0;
        auto judge = [&](std::uint64_t expected, std::size_t i, bool is_nan) {
            const auto result = static_cast<std::uint64_t>(got[row * values.size() + i]);
            if (result == expected || is_nan || ++wrong > 5) return;
            ADD_FAILURE() << names[row] << " of " << +values[i] << " (" << to_string(scalar_of<From>)
                          << ") gave " << result << ", not " << expected;
        };
        for_each_number([&]<class To>(std::type_identity<To>) {
            for_each_mode([&](auto mode) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const auto exact = static_cast<long double>(values[i]);
                    const bool is_nan = std::floating_point<To> && std::isnan(exact);
                    // From integer to integer a plain conversion keeps the low bits, as in C++.
                    const To plain = std::integral<From> && std::integral<To> ? static_cast<To>(values[i])
                                                                              : on_host<To>(mode, exact);
                    judge(bits_of(plain), i, is_nan);
                    if constexpr (std::integral<To>) {
                        ++row;
                        judge(bits_of(on_host<To>(mode, exact)), i, is_nan);
                        --row;
                    }
                }
                row += std::integral<To> ? 2 : 1;
            });
        });
        EXPECT_EQ(row, names.size());
        EXPECT_EQ(wrong, 0u);
    });
}

TEST(C10_bit_cast, keeps_every_bit) {
    on_all_devices([](const device& on) {
        if (!on.info().has_double) return;
        auto random = seeded_random();
        constexpr std::size_t n = 1000;
        host_array<std::uint64_t> given(n);
        for (std::uint64_t& each : given) each = random();
        // Through a double's bits, and through a float's and every integer's: no arithmetic, so nothing may
        // change but the payload of a signalling NaN.
        const auto kernel = balm::kernel<1>("casts", [](In<std::uint64_t> in_, Out<std::uint64_t> out) {
            Index i = global_id(0);
            Double d = bit_cast<double>(in_[i]);
            Long wide = bit_cast<std::int64_t>(d);
            UInt low = cast<std::uint32_t>(wide), high = cast<std::uint32_t>(wide >> 32);
            Float f = bit_cast<float>(bit_cast<int>(high));
            UShort half = bit_cast<std::uint16_t>(bit_cast<std::int16_t>(cast<std::uint16_t>(low)));
            UInt whole = (low & 0xffff0000u) | half;
            out[i] = (cast<std::uint64_t>(bit_cast<std::uint32_t>(f)) << 32) | whole;
        });
        const auto got = run<std::uint64_t>(on, kernel, n, in(on, given));
        for (std::size_t i = 0; i < n; ++i) {
            const bool nan = std::isnan(std::bit_cast<double>(given[i])) ||
                             std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(given[i] >> 32)));
            if (!nan) {
                ASSERT_EQ(got[i], given[i]);
            }
        }
    });
}

// Conversions of patterns that are 0 or 1 as integers: in loops, ptxas took them for those of truth values.
TEST(C10_bit_cast, of_conditions_is_followed_by_a_conversion_of_the_pattern) {
    on_all_devices([](const device& on) {
        if (!on.info().has_double) return;
        constexpr std::size_t n = 64, turns = 9, results = 6;
        host_array<std::int16_t> given(n * turns);
        for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::int16_t>(i % 7 % 3);
        const auto kernel =
            balm::kernel<1>("patterns", [](Int count, Int limit, In<std::int16_t> in_, Out<double> out) {
                Index i = global_id(0);
                for (Int k : range(count)) {
                    Index at = i * count + k;
                    Bool both = in_[at] != 0 && k != limit, either = in_[at] == 2 || i > limit;
                    Int number = cast<int>(both);
                    out[at * 6] = cast<double>(bit_cast<std::int64_t>(cast<double>(both)));
                    out[at * 6 + 1] = cast<double>(bit_cast<float>(cast<int>(either)));
                    out[at * 6 + 2] = cast<double>(cast<int>(bit_cast<float>(number)));
                    out[at * 6 + 3] = cast<double>(bit_cast<int>(cast<float>(either)));
                    out[at * 6 + 4] =
                        cast<double>(ceil(bit_cast<float>(cast<int>(both) & cast<int>(either))));
                    out[at * 6 + 5] =
                        cast<double>(bit_cast<std::uint64_t>(select(both, Double(1.0), Double(0.0))));
                }
            });
        auto out = on.out_buffer<double>(n * turns * results);
        on.execute(kernel(int{turns}, 4, in(on, given), out), {n});
        const auto got = out.read();
        for (std::size_t at = 0; at < n * turns; ++at) {
            const bool both = given[at] != 0 && at % turns != 4, either = given[at] == 2 || at / turns > 4;
            const float least = std::bit_cast<float>(1);
            const std::array<double, results> wanted{
                both ? 0x3ff0p48 : 0.0,  either ? double{least} : 0.0, 0.0,
                either ? 0x3f8p20 : 0.0, both && either ? 1.0 : 0.0,   both ? 0x3ff0p48 : 0.0};
            for (std::size_t k = 0; k < results; ++k)
                EXPECT_EQ(got[at * results + k], wanted[k]) << at << ' ' << k;
        }
    });
}

TEST(C10_conversions, are_the_same_in_array_expressions) {
    on_all_devices([](const device& on) {
        const context ctx({on});
        const std::vector<float> given{-1.5f, -0.5f, 0.5f, 2.5f, 300.f, -1e20f};
        const vector<float> x(ctx, given);
        vector<int> y(ctx, given.size());
        y = convert<int, rounding::up>(x);
        EXPECT_EQ(y[0], -1);
        EXPECT_EQ(y[2], 1);
        EXPECT_EQ(y[5], std::numeric_limits<int>::min());
        vector<unsigned char> bytes(ctx, given.size());
        bytes = convert_sat<unsigned char, rounding::nearest_even>(x);
        EXPECT_EQ(bytes[0], 0);
        EXPECT_EQ(bytes[3], 2);
        EXPECT_EQ(bytes[4], 255);
        y = bit_cast<int>(x);
        EXPECT_EQ(y[2], 0x3f000000);
        vector<float> z(ctx, given.size());
        z = convert<float, rounding::down>(y + 2000000001);
        EXPECT_EQ(z[2], 1.0f * on_host<float>(rounding::down, static_cast<long double>(static_cast<int>(
                                                                  0x3f000000 + 2000000001u))));
    });
}

}  // namespace

}  // namespace balm::test

// frexp, modf, fract_floor, remquo, sincos and lgamma_r: each part is right, and the parts fit together bit
// for bit.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

template <class T>
class C10_parts : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(C10_parts, floating_types);

template <class T>
std::vector<T> test_values(std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    std::vector<T> values{0,
                          1,
                          T(0.5),
                          T(1.5),
                          3,
                          limits::denorm_min(),
                          limits::min(),
                          limits::max(),
                          limits::infinity(),
                          std::nextafter(T(1), T(0))};
    for (std::size_t k = values.size(); k > 0; --k) values.push_back(-values[k - 1]);
    values.push_back(limits::quiet_NaN());
    for (int k = 0; k < 3000; ++k)
        values.push_back(std::uniform_real_distribution<T>(-2, 2)(random) *
                         std::exp2(static_cast<T>(static_cast<int>(random() % 60) - 30)));
    return values;
}

template <class T>
bool fits(const device& on) {
    return scalar_of<T> != scalar::f64 || on.info().has_double;
}

/// Runs a kernel of one operand and two results.
template <class T, class S, class R, class Kernel>
void run_parts(const device& on, const Kernel& kernel, const host_array<T>& x, host_array<S>& first,
               host_array<R>& second) {
    auto out = on.out_buffer<S>(x.size());
    auto other = on.out_buffer<R>(x.size());
    on.execute(kernel(in(on, x), out, other), {x.size()});
    first = out.read();
    second = other.read();
}

TYPED_TEST(C10_parts, of_frexp_make_up_the_value) {
    using T = TypeParam;
    on_all_devices([](const device& on) {
        if (!fits<T>(on)) return;
        auto random = seeded_random();
        const host_array<T> x(test_values<T>(random));
        const auto kernel = balm::kernel<1>("frexp_parts", [](In<T> x_, Out<T> m, Out<int> e) {
            Index i = global_id(0);
            auto [mantissa, exponent] = frexp(x_[i]);
            m[i] = mantissa;
            e[i] = exponent;
        });
        host_array<T> mantissa;
        host_array<int> exponent;
        run_parts(on, kernel, x, mantissa, exponent);
        expect_each(mantissa, [&](std::size_t i) {
            int e = 0;
            const T m = std::frexp(x[i], &e);
            EXPECT_EQ(exponent[i], std::isfinite(x[i]) ? e : 0) << x[i];
            EXPECT_TRUE(is_same(std::ldexp(mantissa[i], exponent[i]), x[i])) << x[i];
            return m;
        });
    });
}

TYPED_TEST(C10_parts, of_modf_and_fract_make_up_the_value) {
    using T = TypeParam;
    on_all_devices([](const device& on) {
        if (!fits<T>(on)) return;
        auto random = seeded_random();
        const host_array<T> x(test_values<T>(random));
        const auto by_modf = balm::kernel<1>("modf_parts", [](In<T> x_, Out<T> f, Out<T> w) {
            Index i = global_id(0);
            auto [fraction, whole] = modf(x_[i]);
            f[i] = fraction;
            w[i] = whole;
        });
        const auto by_fract = balm::kernel<1>("fract_parts", [](In<T> x_, Out<T> f, Out<T> w) {
            Index i = global_id(0);
            auto [fraction, whole] = fract_floor(x_[i]);
            f[i] = fraction;
            w[i] = whole;
        });
        host_array<T> fraction, whole;
        run_parts(on, by_modf, x, fraction, whole);
        for (std::size_t i = 0; i < x.size(); ++i) {
            T w = 0;
            const T f = std::modf(x[i], &w);
            ASSERT_TRUE(is_same(fraction[i], f) && is_same(whole[i], w)) << x[i];
            if (std::isfinite(x[i])) {
                ASSERT_EQ(fraction[i] + whole[i], x[i]);
            }
        }
        run_parts(on, by_fract, x, fraction, whole);
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_TRUE(is_same(whole[i], std::floor(x[i]))) << x[i];
            if (!std::isfinite(x[i])) continue;
            ASSERT_TRUE(fraction[i] >= 0 && fraction[i] < 1) << x[i];
            const T exact = x[i] - whole[i];  // rounds up to 1 only for tiny negative x
            ASSERT_EQ(fraction[i], exact == 1 ? std::nextafter(T(1), T(0)) : exact) << x[i];
        }
    });
}

TYPED_TEST(C10_parts, of_remquo_make_up_the_value) {
    using T = TypeParam;
    on_all_devices([](const device& on) {
        if (!fits<T>(on)) return;
        auto random = seeded_random();
        std::vector<T> x, y;
        const std::vector<T> special = test_values<T>(random);
        for (int k = 0; k < 21; ++k)
            for (int j = 0; j < 21; ++j) {
                x.push_back(special[static_cast<std::size_t>(k)]);
                y.push_back(special[static_cast<std::size_t>(j)]);
            }
        const std::size_t first_random = x.size();
        for (int k = 0; k < 3000; ++k) {
            y.push_back(std::uniform_real_distribution<T>(T(0.1), 100)(random) * (k % 2 ? 1 : -1));
            // Halves too: ties go to the even quotient.
            const T ratio = k % 3 ? std::uniform_real_distribution<T>(-63, 63)(random)
                                  : std::rint(std::uniform_real_distribution<T>(-120, 120)(random)) / 2;
            if (k % 3 == 0) y.back() = std::rint(y.back()) + 1;
            x.push_back(ratio * y.back());
        }
        const auto kernel = balm::kernel<1>("remquo_parts", [](In<T> x_, In<T> y_, Out<T> r, Out<int> q) {
            Index i = global_id(0);
            auto [rest, quotient] = remquo(x_[i], y_[i]);
            r[i] = rest;
            q[i] = quotient;
        });
        auto rests = on.out_buffer<T>(x.size());
        auto quotients = on.out_buffer<int>(x.size());
        on.execute(kernel(in(on, host_array<T>(x)), in(on, host_array<T>(y)), rests, quotients), {x.size()});
        const auto rest = rests.read();
        const auto quotient = quotients.read();
        for (std::size_t i = 0; i < x.size(); ++i) {
            int low_bits = 0;  // C promises three of them
            const T r = std::remquo(x[i], y[i], &low_bits);
            ASSERT_TRUE(is_same(rest[i], r)) << x[i] << ", " << y[i];
            if (std::isnan(r)) {
                ASSERT_EQ(quotient[i], 0);
                continue;
            }
            ASSERT_EQ(quotient[i] % 8, low_bits % 8) << x[i] << ", " << y[i];
            if (i >= first_random) {
                ASSERT_EQ(std::fma(static_cast<T>(-quotient[i]), y[i], x[i]), rest[i])
                    << x[i] << ", " << y[i];
            }
        }
    });
}

TYPED_TEST(C10_parts, of_sincos_are_sin_and_cos) {
    using T = TypeParam;
    on_all_devices([](const device& on) {
        if (!fits<T>(on)) return;
        auto random = seeded_random();
        const host_array<T> x(test_values<T>(random));
        const auto together = balm::kernel<1>("sincos_parts", [](In<T> x_, Out<T> s, Out<T> c) {
            Index i = global_id(0);
            auto [sine, cosine] = sincos(x_[i]);
            s[i] = sine;
            c[i] = cosine;
        });
        const auto sine = balm::kernel<1>("sine", [](In<T> x_, Out<T> s) {
            Index i = global_id(0);
            s[i] = sin(x_[i]);
        });
        const auto cosine = balm::kernel<1>("cosine", [](In<T> x_, Out<T> c) {
            Index i = global_id(0);
            c[i] = cos(x_[i]);
        });
        host_array<T> s, c;
        run_parts(on, together, x, s, c);
        const auto alone_s = run<T>(on, sine, x.size(), in(on, x));
        const auto alone_c = run<T>(on, cosine, x.size(), in(on, x));
        expect_each(s, [&](std::size_t i) { return alone_s[i]; });
        expect_each(c, [&](std::size_t i) { return alone_c[i]; });
    });
}

TYPED_TEST(C10_parts, of_lgamma_r_are_lgamma_and_the_sign) {
    using T = TypeParam;
    on_all_devices([](const device& on) {
        if (!fits<T>(on)) return;
        std::vector<T> given{T(-0.5), T(-1.5), T(-2.5), T(0.5), 3, T(0), T(-0.0), T(-30.25), T(-31.25), -4};
        const host_array<T> x(given);
        const auto kernel = balm::kernel<1>("lgamma_parts", [](In<T> x_, Out<T> v, Out<int> s) {
            Index i = global_id(0);
            auto [value, sign] = lgamma_r(x_[i]);
            v[i] = value;
            s[i] = sign;
        });
        host_array<T> value;
        host_array<int> sign;
        run_parts(on, kernel, x, value, sign);
        for (std::size_t i = 0; i < given.size(); ++i) {
            const bool is_pole = given[i] < 0 && given[i] == std::trunc(given[i]);
            const bool negative = !is_pole && std::signbit(std::tgamma(static_cast<long double>(given[i])));
            EXPECT_EQ(sign[i], negative ? -1 : 1) << given[i];
            const T expected = static_cast<T>(std::lgamma(static_cast<long double>(given[i])));
            if (std::isinf(expected))
                EXPECT_EQ(value[i], expected) << given[i];
            else
                EXPECT_NEAR(value[i], expected, 1e-5) << given[i];
        }
    });
}

TEST(C10_parts, of_an_integer_are_those_of_a_double) {
    on_all_devices([](const device& on) {
        if (!on.info().has_double) return;
        const auto kernel = balm::kernel<1>("integer_frexp", [](Int n, Out<double> out) {
            auto [mantissa, exponent] = frexp(n);
            auto [rest, quotient] = remquo(n, 0.75);
            out[0] = mantissa;
            out[1] = Double(exponent);
            out[2] = rest;
            out[3] = Double(quotient);
        });
        auto out = on.out_buffer<double>(4);
        on.execute(kernel(10, out), {1});
        const auto got = out.read();
        EXPECT_EQ(got[0], 0.625);
        EXPECT_EQ(got[1], 4);
        EXPECT_EQ(got[2], 0.25);
        EXPECT_EQ(got[3], 13);
    });
}

}  // namespace

}  // namespace balm::test

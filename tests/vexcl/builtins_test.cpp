// Built-in functions of OpenCL C beyond those of one result and of scalars.

#include <cmath>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

VEX_BUILTIN_FUNCTION(1, native_exp)
VEX_BUILTIN_FUNCTION(2, half_powr)

/// Calls the body with a context of one device: functions that store through pointers work on one.
template <class Body>
void on_one_device(Body&& body) {
    const vex::Context ctx(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!ctx) GTEST_SKIP() << "no device";
    body(ctx);
}

TEST(B9_vexcl_builtins, store_their_second_result) {
    on_one_device([](const vex::Context& ctx) {
        constexpr std::size_t n = 1000;
        std::vector<double> host(n);
        for (std::size_t i = 0; i < n; ++i) host[i] = (static_cast<double>(i) - 500) / 7 + 0.013;
        const vex::vector<double> x(ctx, host);
        vex::vector<double> y(ctx, n), second(ctx, n);
        vex::vector<int> whole(ctx, n);
        const auto expect = [&](const auto& of, const auto& first_of, const auto& second_of) {
            const std::vector<double> a = on_host(y);
            const auto b = on_host(of);
            for (std::size_t i = 0; i < n; ++i) {
                const double wanted = first_of(host[i]);
                ASSERT_NEAR(a[i], wanted, 1e-9 * std::max(1.0, std::abs(wanted))) << host[i];
                ASSERT_NEAR(b[i], second_of(host[i]), 1e-12) << host[i];
            }
        };
        double fraction = 0;
        int number = 0;
        y = sincos(x, &second);
        expect(
            second, [](double v) { return std::sin(v); }, [](double v) { return std::cos(v); });
        y = fract(x, &second);
        expect(
            second, [](double v) { return v - std::floor(v); }, [](double v) { return std::floor(v); });
        y = modf(2 * x, &second);
        expect(
            second, [&](double v) { return std::modf(2 * v, &fraction); },
            [](double v) { return std::trunc(2 * v); });
        y = 1 + frexp(x, &whole);
        expect(
            whole, [&](double v) { return 1 + std::frexp(v, &number); },
            [](double v) { return std::ilogb(v) + 1; });
        y = lgamma_r(x, &whole);
        expect(
            whole, [](double v) { return std::lgamma(v); },
            [](double v) { return v > 0 || std::fmod(std::floor(v), 2) == 0 ? 1 : -1; });
        y = remquo(x, 1.75, &whole);
        whole = whole & 7;
        expect(
            whole, [](double v) { return std::remainder(v, 1.75); },
            [&](double v) { return (std::remquo(v, 1.75, &number), number & 7); });

        y = vex::sincos(vex::element_index(), &second);
        EXPECT_NEAR(second[3], std::cos(3.0), 1e-12);
        vex::vector<cl_float4> lanes(ctx, n), others(ctx, n);
        lanes = cl_float4{{1, 2, 3, 4}};
        lanes = sincos(lanes, &others);
        const cl_float4 cosines = others[7];
        EXPECT_NEAR(cosines.s[3], std::cos(4.f), 1e-6);
    });
}

TEST(B9_vexcl_builtins, of_geometry_take_scalars_too) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const vex::vector<double> x(ctx, std::vector<double>{-3, 0, 2});
        vex::vector<double> y(ctx, 3);
        const auto expect = [&](double a, double b, double c) {
            EXPECT_EQ(on_host(y), (std::vector<double>{a, b, c}));
        };
        y = length(x);
        expect(3, 0, 2);
        y = normalize(x);
        expect(-1, 0, 1);
        y = distance(x, 1.0);
        expect(4, 1, 1);
        y = dot(x, x);
        expect(9, 0, 4);
        y = fast_distance(x, 3 * x);
        expect(6, 0, 4);

        vex::vector<cl_float4> v(ctx, 3);
        vex::vector<float> l(ctx, 3);
        v = cl_float4{{3, 0, 4, 0}};
        l = fast_length(v) + 10 * distance(v, 3 * v) + 1000 * dot(v, v);
        EXPECT_EQ(l[1], 5 + 100 + 25000);
        v = fast_normalize(v);
        const cl_float4 unit = v[2];
        EXPECT_NEAR(unit.s[2], 0.8, 1e-6);

        vex::multivector<double, 2> m(ctx, 3);
        m = -2.0;
        m = length(m);
        EXPECT_EQ(m(1)[2], 2);
    });
}

TEST(B9_vexcl_builtins, shuffle_lanes) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<cl_float4> v(ctx, 3), w(ctx, 3);
        vex::vector<cl_float2> pairs(ctx, 3);
        v = cl_float4{{3, 0, 4, 7}};
        w = 10 * v;
        pairs = shuffle2(v, w, cl_uint2{{4, 3}});
        cl_float2 pair = pairs[1];
        EXPECT_EQ(pair.s[0], 30);
        EXPECT_EQ(pair.s[1], 7);
        pairs = shuffle(v, cl_uint2{{6, 1}});  // bits that number no lane are ignored
        pair = pairs[0];
        EXPECT_EQ(pair.s[0], 4);
        EXPECT_EQ(pair.s[1], 0);
        v = 1 + shuffle(v, cl_uint4{{3, 2, 1, 0}});
        const cl_float4 turned = v[2];
        EXPECT_EQ(turned.s[0], 8);
        EXPECT_EQ(turned.s[3], 4);
    });
}

TEST(B9_vexcl_builtins, are_named_by_programs) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<float> x(ctx, 1000), y(ctx, 1000);
        x = vex::cast<float>(vex::element_index()) / 100;
        y = native_exp(x) + half_powr(x, 2.f);
        EXPECT_NEAR(y[300], std::exp(3.f) + 9, 0.1);
    });
}

}  // namespace

}  // namespace balm::test

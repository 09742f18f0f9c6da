// Expressions: operators, built-in functions, conversions, constants, tags, temporaries, short vectors.

#include <cmath>
#include <cstdint>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

VEX_CONSTANT(seven, 7);

/// Elementary functions are within some units of the last place of the host's, and products enter sums by one
/// fma.
void expect_near_each(const vex::vector<double>& got, const auto& wanted) {
    const std::vector<double> host = on_host(got);
    for (std::size_t i = 0; i < host.size(); ++i)
        ASSERT_NEAR(host[i], wanted(i), 1e-14 * (1 + std::abs(wanted(i)))) << i;
}
template <class T>
void expect_equal_each(const vex::vector<T>& got, const auto& wanted) {
    const std::vector<T> host = on_host(got);
    for (std::size_t i = 0; i < host.size(); ++i) ASSERT_EQ(host[i], static_cast<T>(wanted(i))) << i;
}

TEST(B9_vexcl_expressions, compute_as_c_does) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 5000;
        const std::vector<double> a = numbers<double>(random, n), b = numbers<double>(random, n);
        const std::vector<int> k = numbers<int>(random, n);
        const std::vector<float> f = numbers<float>(random, n);
        const vex::vector<double> x(ctx, a), y(ctx, b);
        const vex::vector<int> i(ctx, k);
        const vex::vector<float> g(ctx, f);
        vex::vector<double> z(ctx, n);
        z = 2 * x - y / (x + 1);
        expect_equal_each(z, [&](std::size_t e) { return 2 * a[e] - b[e] / (a[e] + 1); });
        z += 3;
        z *= x;
        z -= y;
        z /= 2;
        expect_equal_each(
            z, [&](std::size_t e) { return ((2 * a[e] - b[e] / (a[e] + 1) + 3) * a[e] - b[e]) / 2; });
        z = 5 * sin(x) + pow(y, 2.0) - atan2(x, 1 + y) + hypot(x, y);
        expect_near_each(z, [&](std::size_t e) {
            return 5 * std::sin(a[e]) + b[e] * b[e] - std::atan2(a[e], 1 + b[e]) + std::hypot(a[e], b[e]);
        });
        z = vex::if_else(x < y && !(x < 0.25), fmax(x, 0.5), -x);
        expect_equal_each(
            z, [&](std::size_t e) { return a[e] < b[e] && a[e] >= 0.25 ? std::fmax(a[e], 0.5) : -a[e]; });
        z = clamp(x, 0.25, 0.75) + select(x, y, x > 0.5);  // OpenCL's select: the last argument chooses
        expect_equal_each(
            z, [&](std::size_t e) { return std::clamp(a[e], 0.25, 0.75) + (a[e] > 0.5 ? b[e] : a[e]); });
        // A double beside floats makes doubles, ints promote, an assignment narrows.
        z = g * 0.1;
        expect_equal_each(z, [&](std::size_t e) { return double(f[e]) * 0.1; });
        vex::vector<int> j(ctx, n);
        j = 10 * x + i / 7 % 5;
        expect_equal_each(j, [&](std::size_t e) { return int(10 * a[e] + k[e] / 7 % 5); });
        j = (i << 3 | 5) ^ (i & 0x2c) ^ ~i;
        expect_equal_each(j, [&](std::size_t e) { return (k[e] << 3 | 5) ^ (k[e] & 0x2c) ^ ~k[e]; });
        j <<= 2;
        j |= 1;
        j %= 1000;
        expect_equal_each(
            j, [&](std::size_t e) { return ((((k[e] << 3 | 5) ^ (k[e] & 0x2c) ^ ~k[e]) << 2) | 1) % 1000; });
        vex::vector<cl_uchar> small(ctx, n);
        small = i + 200;
        expect_equal_each(small, [&](std::size_t e) { return static_cast<cl_uchar>(k[e] + 200); });
    });
}

TEST(B9_vexcl_expressions, have_indices_constants_and_conversions) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::size_t n = 3000;
        const std::vector<double> a = numbers<double>(random, n);
        const vex::vector<double> x(ctx, a);
        vex::vector<double> z(ctx, n);
        z = vex::element_index(100) * 0.5;
        expect_equal_each(z, [](std::size_t e) { return double(e + 100) * 0.5; });
        z = vex::constants::two_pi() * x + seven() + std::integral_constant<int, 3>();
        expect_near_each(z, [&](std::size_t e) { return 6.283185307179586476925286766559 * a[e] + 7 + 3; });
        EXPECT_EQ(double(vex::constants::euler), 0.57721566490153286060651209008240243);
        EXPECT_EQ(double(vex::constants::catalan), 0.91596559417721901505460351493238411);
        z = vex::cast<float>(x) * vex::cast<int>(10 * x);
        expect_equal_each(z, [&](std::size_t e) { return float(a[e]) * float(int(10 * a[e])); });
        vex::vector<cl_uint> bits(ctx, n);
        bits = as_uint(vex::cast<float>(x));
        expect_equal_each(bits, [&](std::size_t e) {
            const float f = float(a[e]);
            cl_uint word = 0;
            std::memcpy(&word, &f, sizeof word);
            return word;
        });
        bits = convert_uint(100 * x);
        expect_equal_each(bits, [&](std::size_t e) { return cl_uint(100 * a[e]); });
        // Of host values they are expressions, too.
        vex::vector<cl_int2> pairs(ctx, n);
        const cl_float2 given = {{4.75f, -8.5f}};
        pairs = vex::convert_int2(given) + vex::as_int2(given);
        cl_int2 words;
        std::memcpy(&words, &given, sizeof words);
        const cl_int2 got = pairs[n - 1];
        EXPECT_EQ(got.s[0], 4 + words.s[0]);
        EXPECT_EQ(got.s[1], -8 + words.s[1]);
        static_assert(std::is_same_v<decltype(x + 1)::value_type, double>);
        static_assert(std::is_same_v<decltype(x < 1)::value_type, bool>);
        static_assert(std::is_same_v<decltype(vex::cast<float>(x) * 2)::value_type, float>);
    });
}

TEST(B9_vexcl_expressions, keep_tags_and_temporaries) {
    auto random = seeded_random();
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<double> a = numbers<double>(random, 3000);
        vex::vector<double> x(ctx, a), z(ctx, a.size());
        const auto X = vex::tag<1>(x);
        const auto root = vex::make_temp<1>(sqrt(X + 1));
        const auto whole = vex::make_temp<2, int>(10 * X);
        z = root * root + vex::tag<2>(3) * whole + vex::make_temp<3>(2.5);
        expect_near_each(z, [&](std::size_t e) {
            return std::sqrt(a[e] + 1) * std::sqrt(a[e] + 1) + 3 * int(10 * a[e]) + 2.5;
        });
        X = X + vex::element_index();
        X *= 2;
        expect_equal_each(x, [&](std::size_t e) { return (a[e] + double(e)) * 2; });
    });
}

TEST(B9_vexcl_expressions, compute_with_short_vectors) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const std::size_t n = 1000;
        vex::vector<cl_float4> x(ctx, n), y(ctx, n);
        const cl_float4 c = {{1, 2, 3, 4}};
        x = vex::element_index();  // in every lane
        y = c * x + 0.5f;
        y += x;
        const std::vector<cl_float4> got = on_host(y);
        for (std::size_t i = 0; i < n; ++i)
            for (int k = 0; k < 4; ++k) ASSERT_EQ(got[i].s[k], c.s[k] * float(i) + 0.5f + float(i));
        vex::vector<float> lengths(ctx, n);
        lengths = dot(x, c);
        for (const std::size_t i : {0u, 1u, 999u}) EXPECT_EQ(lengths[i], 10 * float(i));
        vex::vector<cl_int2> pairs(ctx, n);
        const cl_int2 pair = {{3, -4}};
        pairs = pair;
        const vex::Reductor<cl_int2, vex::SUM> sum(ctx);
        EXPECT_EQ(sum(pairs).s[0], 3000);
        EXPECT_EQ(sum(pairs).s[1], -4000);
    });
}

TEST(B9_vexcl_expressions, refuse_vectors_of_other_sizes) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<int> x(ctx, 16), y(ctx, 32);
        y = 1;
        EXPECT_THROW(x = y, std::runtime_error);
        EXPECT_THROW(x = y + 1, vex::error);
    });
}

TEST(B9_vexcl_expressions, are_enqueued_to_tuples_at_once) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<double> x(ctx, 100), y(ctx, 100);
        x = 2;
        y = 3;
        auto both = std::tie(x, y);
        vex::enqueue(ctx.queue(), both) = std::make_tuple(y + 0, x + 0);
        EXPECT_EQ(x[50], 3);
        EXPECT_EQ(y[50], 2);
        vex::enqueue(ctx.queue(), both) += std::make_tuple(y, x);
        EXPECT_EQ(x[50], 5);
        EXPECT_EQ(y[50], 5);
    });
}

TEST(B9_vexcl_expressions, test_the_sign_bits_of_integer_lanes) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const std::vector<cl_int4> host{{{1, 2, 3, 4}}, {{-1, 2, 3, 4}}, {{-1, -2, -3, -4}}, {{0, 0, 0, 0}}};
        const vex::vector<cl_int4> x(ctx, host);
        vex::vector<int> some(ctx, 4), each(ctx, 4);
        some = vex::any(x);
        each = vex::all(x);
        EXPECT_EQ(on_host(some), (std::vector<int>{0, 1, 1, 0}));
        EXPECT_EQ(on_host(each), (std::vector<int>{0, 0, 1, 0}));
    });
}

TEST(B9_vexcl_expressions, compare_and_exchange) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::vector<int> counts({ctx.queue(0)}, 8), before({ctx.queue(0)}, 8);
        counts = vex::element_index() % 2;
        before = vex::atomic_cmpxchg(&counts, 1, 7);
        EXPECT_EQ(on_host(before), (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
        EXPECT_EQ(on_host(counts), (std::vector<int>{0, 7, 0, 7, 0, 7, 0, 7}));
    });
}

}  // namespace

}  // namespace balm::test

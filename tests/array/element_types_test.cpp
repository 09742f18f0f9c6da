// Vectors and expressions whose elements are short vectors, complex numbers and structures, against the
// host's own arithmetic.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <list>
#include <numbers>
#include <sstream>
#include <vector>

#include "ir/ir.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

struct colour {
    balm::uchar4 rgba;
};
BALM_STRUCT(colour, rgba)

struct body {
    balm::float3 position;
    float mass;
    double energy;
    int links[3];
    colour shade;
};
BALM_STRUCT(body, position, mass, energy, links, shade)

struct half_listed {
    float listed, unlisted;
};
BALM_STRUCT(half_listed, listed)

namespace {

using testing::HasSubstr;
using namespace balm::dsl;

// ---- random elements, and whether a device has what they need ----

template <class T>
struct element {
    static T random(std::mt19937_64& r) { return random_value<T>(r); }
    static constexpr bool needs_double = std::same_as<T, double>;
};
template <>
struct element<half> {
    static half random(std::mt19937_64& r) {
        return half(static_cast<float>(static_cast<int>(r() % 4001) - 2000) / 8);  // exactly
    }
    static constexpr bool needs_double = false;
};
template <class T, int N>
struct element<vec<T, N>> {
    static vec<T, N> random(std::mt19937_64& r) {
        vec<T, N> v{};
        for (int k = 0; k < N; ++k) v[k] = element<T>::random(r);
        return v;
    }
    static constexpr bool needs_double = element<T>::needs_double;
};
template <class T>
struct element<std::complex<T>> {
    static std::complex<T> random(std::mt19937_64& r) {
        const T real = random_value<T>(r);
        return {real, random_value<T>(r)};
    }
    static constexpr bool needs_double = element<T>::needs_double;
};
template <>
struct element<colour> {
    static colour random(std::mt19937_64& r) { return {element<uchar4>::random(r)}; }
    static constexpr bool needs_double = false;
};
template <>
struct element<body> {
    static body random(std::mt19937_64& r) {
        body b{};
        b.position = element<float3>::random(r);
        b.mass = random_value<float>(r);
        b.energy = random_value<double>(r);
        for (int& link : b.links) link = random_value<int>(r);
        b.shade = element<colour>::random(r);
        return b;
    }
    static constexpr bool needs_double = true;
};

template <class T>
std::vector<T> random_elements(std::mt19937_64& r, std::size_t count) {
    std::vector<T> made;
    for (std::size_t k = 0; k < count; ++k) made.push_back(element<T>::random(r));
    return made;
}

template <class T>
bool same(const T& a, const T& b) {
    return a == b;
}
bool same(const colour& a, const colour& b) { return a.rgba == b.rgba; }
bool same(const body& a, const body& b) {
    return a.position == b.position && a.mass == b.mass && a.energy == b.energy &&
           std::memcmp(a.links, b.links, sizeof a.links) == 0 && same(a.shade, b.shade);
}

template <class T, class Wanted>
void expect_elements(const vector<T>& x, const Wanted& wanted, int line = __builtin_LINE()) {
    const host_array<T> got = x.to_host();
    for (std::size_t k = 0; k < got.size(); ++k)
        if (!same(got[k], static_cast<T>(wanted(k)))) {
            ADD_FAILURE_AT(__FILE__, line) << "element " << k << " differs";
            return;
        }
}

template <class... T>
bool lacks_double(const context& ctx) {
    return (element<T>::needs_double || ...) && !ctx.device(0).info().has_double;
}

constexpr std::size_t count = 777;

// ---- vectors ----

template <class T>
class V2_element_types : public testing::Test {};
using element_types = testing::Types<char3, uchar16, short2, int3, uint8, long2, ulong4, float2, float3,
                                     float4, float8, float16, double2, double3, double16, half, half3, half4,
                                     std::complex<float>, std::complex<double>, colour, body>;
TYPED_TEST_SUITE(V2_element_types, element_types);

TYPED_TEST(V2_element_types, are_kept_copied_filled_and_permuted) {
    using T = TypeParam;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        if (lacks_double<T>(ctx)) return;
        for (const std::size_t n : {0u, 1u, 257u}) {
            const auto x = random_elements<T>(random, n);
            vector<T> X(ctx, x);
            ASSERT_EQ(X.size(), n);
            EXPECT_EQ(X.size_bytes(), n * sizeof(T));
            expect_elements(X, [&](std::size_t i) { return x[i]; });
            vector<T> Y(X);
            expect_elements(Y, [&](std::size_t i) { return x[i]; });
            const T value = element<T>::random(random);
            const vector<T> filled(ctx, n, value);
            expect_elements(filled, [&](std::size_t) { return value; });
            Y = value;
            expect_elements(Y, [&](std::size_t) { return value; });
            Y = X;
            expect_elements(Y, [&](std::size_t i) { return x[i]; });
            Y = X[static_cast<std::int64_t>(n) - 1 - element_index()];
            expect_elements(Y, [&](std::size_t i) { return x[n - 1 - i]; });
            if (n < 2) continue;
            // A view of every other element, to assign and to read.
            Y = value;
            Y(slice(0, 256, 2)) = X(slice(128, 256));
            expect_elements(Y, [&](std::size_t i) { return i < 256 && i % 2 == 0 ? x[128 + i / 2] : value; });
            Y(slice(0, 256, 2)) = value;
            expect_elements(Y, [&](std::size_t) { return value; });
            const vector<T> odd = X(slice(1, 257, 2));
            expect_elements(odd, [&](std::size_t i) { return x[2 * i + 1]; });
            EXPECT_TRUE(same(X[3], x[3]));
            X.set(3, value);
            EXPECT_TRUE(same(X[3], value));
            EXPECT_TRUE(same(X[2], x[2]));
            if (ctx.size() > 1) continue;  // the rest is for memory on one device
            const std::vector<T> part(x.begin(), x.begin() + 5);
            X.elements().range(10, 15).write(part);
            EXPECT_TRUE(same(X[12], x[2]));
            for (T& each : X.map()) each = value;
            expect_elements(X, [&](std::size_t) { return value; });
        }
    });
}

TEST(V2_element_types, come_from_any_range_and_from_iterators) {
    on_all_contexts([&](const context& ctx) {
        const std::array<float2, 2> two{{{1, 2}, {3, 4}}};
        expect_elements(vector<float2>(ctx, two), [&](std::size_t i) { return two[i]; });
        const float numbers[] = {1, 2, 3};
        expect_elements(vector<float>(ctx, numbers), [&](std::size_t i) { return numbers[i]; });
        const bool truths[] = {true, false, true};
        expect_elements(vector<bool>(ctx, truths), [&](std::size_t i) { return truths[i]; });
        const std::list<short> listed{4, 5, 6};
        expect_elements(vector<double>(ctx, listed.begin(), listed.end()),
                        [](std::size_t i) { return 4.0 + static_cast<double>(i); });
        const std::vector<bool> bits{true, true, false};
        expect_elements(vector<bool>(ctx, bits.begin(), bits.end()), [&](std::size_t i) { return bits[i]; });
    });
}

TEST(V2_element_types, are_given_to_kernels) {
    auto random = seeded_random();
    const auto x = random_elements<std::complex<float>>(random, count);
    const auto swap =
        balm::kernel<1>("swap(from, to)", [](In<std::complex<float>> from, Out<balm::float2> to) {
            const Index i = global_id(0);
            const CFloat z = from[i];
            to[i] = Float2(z.imag(), z.real());
        });
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        const vector<std::complex<float>> X(ctx, x);
        vector<float2> Y(ctx, count);
        on.execute(swap(X, Y), {count});
        expect_elements(Y, [&](std::size_t i) { return float2{x[i].imag(), x[i].real()}; });
        const vector<float2> same_memory = as_vector(Y.elements());
        const vector<float> first = balm::lane<0>(same_memory);
        expect_elements(first, [&](std::size_t i) { return x[i].imag(); });
    });
}

TEST(V2_element_types, are_printed) {
    on_all_contexts([&](const context& ctx) {
        const auto text = [](const auto& x) {
            std::ostringstream out;
            out << x;
            return out.str();
        };
        EXPECT_EQ(text(vector<float>()), "{}");
        EXPECT_EQ(text(vector<float>(ctx, 0)), "{}");
        EXPECT_EQ(text(vector<float>(ctx, {0.5f, -2})), "{0.5, -2}");
        EXPECT_EQ(text(vector<std::int8_t>(ctx, {65, -1})), "{65, -1}");
        EXPECT_EQ(text(vector<int3>(ctx, {int3{1, 2, 3}, int3{4, 5, 6}})), "{(1, 2, 3), (4, 5, 6)}");
        EXPECT_EQ(text(vector<std::complex<float>>(ctx, {{1, -2}})), "{(1, -2)}");
        EXPECT_EQ(text(vector<half>(ctx, {half(1.5f)})), "{1.5}");
        EXPECT_EQ(text(vector<colour>(ctx, {colour{{1, 2, 3, 4}}})), "{{rgba: (1, 2, 3, 4)}}");
        vector<int> many(ctx, 1000);
        many = cast<int>(element_index());
        EXPECT_EQ(text(many), "{0, 1, 2, 3, 4, …, 995, 996, 997, 998, 999} (1000 elements)");
        vector<int> twenty(ctx, 20);
        twenty = cast<int>(element_index());
        EXPECT_THAT(text(twenty), HasSubstr("9, 10, 11"));
        EXPECT_EQ(text(many(slice(10, 16, 2))), "{10, 12, 14}");
        EXPECT_EQ(text(twenty * 2 == 6), text(vector<bool>(twenty * 2 == 6)));
        EXPECT_EQ(text(many.to_host()), text(many));
        EXPECT_EQ(text(twenty.to_host()), text(twenty));
        EXPECT_EQ(text(host_array<std::uint8_t>{65, 1}), "{65, 1}");
        EXPECT_EQ(text(host_array<std::complex<float>>()), "{}");
    });
}

TEST(V2_element_types, come_from_host_memory_and_go_there) {
    on_all_contexts([&](const context& ctx) {
        vector<float> x(ctx, 3);
        x = std::vector<float>{1, 2, 3};
        const std::vector<float> once = x.to_host();
        EXPECT_EQ(once, (std::vector<float>{1, 2, 3}));
        x = std::array<float, 3>{4, 5, 6};
        EXPECT_EQ(std::vector<float>(x.to_host()), (std::vector<float>{4, 5, 6}));
        x = host_array<float>{7, 8, 9};
        EXPECT_EQ(x.to_host(), (host_array<float>{7, 8, 9}));
        EXPECT_THAT(message_of<usage_error>([&] { x = std::vector<float>(4); }), HasSubstr("4"));
        vector<float> nowhere;
        EXPECT_THAT(message_of<usage_error>([&] { nowhere = once; }), HasSubstr("device"));
        vector<bool> truths(ctx, {true, false});
        const std::vector<bool> bits = truths.to_host();
        EXPECT_EQ(bits, (std::vector<bool>{true, false}));
    });
}

// ---- short vectors ----

template <class T>
class V4_short_vectors : public testing::Test {};
using lane_types = testing::Types<char4, uchar8, uint2, int3, ulong3, float3, float4, float16, double2>;
TYPED_TEST_SUITE(V4_short_vectors, lane_types);

TYPED_TEST(V4_short_vectors, have_the_operators_of_the_kernel_language) {
    using V = TypeParam;
    using T = typename V::value_type;
    constexpr int lanes = V::size();
    auto random = seeded_random();
    // Small whole numbers: sums and products of them are exact, and nothing overflows.
    const auto small = [&] {
        std::vector<V> made(count);
        for (V& v : made)
            for (int k = 0; k < lanes; ++k) v[k] = static_cast<T>(1 + random() % 5);
        return made;
    };
    const auto x = small(), y = small();
    std::vector<T> s(count);
    for (T& each : s) each = static_cast<T>(1 + random() % 5);
    on_all_contexts([&](const context& ctx) {
        if (lacks_double<V>(ctx)) return;
        const vector<V> X(ctx, x), Y(ctx, y);
        const vector<T> S(ctx, s);
        vector<V> Z(ctx, count);
        const auto expect_lanes = [&](const auto& wanted, int line = __builtin_LINE()) {
            expect_elements(
                Z,
                [&](std::size_t i) {
                    V v{};
                    for (int k = 0; k < lanes; ++k) v[k] = static_cast<T>(wanted(x[i][k], y[i][k], s[i]));
                    return v;
                },
                line);
        };
        Z = X * Y + X - 3;
        expect_lanes([](T a, T b, T) { return a * b + a - 3; });
        Z = S * X + 2 * Y;
        expect_lanes([](T a, T b, T c) { return c * a + 2 * b; });
        Z = y[5] * X;
        expect_elements(Z, [&](std::size_t i) {
            V v{};
            for (int k = 0; k < lanes; ++k) v[k] = static_cast<T>(y[5][k] * x[i][k]);
            return v;
        });
        Z = X / Y;
        expect_lanes([](T a, T b, T) { return a / b; });
        Z = min(X, Y) + max(X, 3) + clamp(X, T(2), T(4));
        expect_lanes(
            [](T a, T b, T) { return std::min(a, b) + std::max(a, T(3)) + std::clamp(a, T(2), T(4)); });
        Z = select(X < Y, X, Y);
        expect_lanes([](T a, T b, T) { return std::min(a, b); });
        Z = select(S < T(3), X, T(7));
        expect_lanes([](T a, T, T c) { return c < 3 ? a : T(7); });
        Z = +X;
        Z += Y;
        Z *= 2;
        expect_lanes([](T a, T b, T) { return (a + b) * 2; });
        Z = 2;
        expect_lanes([](T, T, T) { return 2; });
        Z = S;
        expect_lanes([](T, T, T c) { return c; });
        if constexpr (std::integral<T>) {
            Z = (X & Y) | (X ^ 1) << 1;
            expect_lanes([](T a, T b, T) { return (a & b) | (a ^ 1) << 1; });
            Z = X % Y + (~X & 7);
            expect_lanes([](T a, T b, T) { return a % b + (~a & 7); });
        } else {
            Z = -X;
            expect_lanes([](T a, T, T) { return -a; });
            Z = fma(X, Y, S);
            expect_lanes([](T a, T b, T c) { return std::fma(a, b, c); });
            Z = ldexp(X, 3) + sqrt(X * X) + floor(Y / 2);
            expect_lanes([](T a, T b, T) { return a * 8 + a + std::floor(b / 2); });
        }
        vector<bool> B = all_lanes(X <= Y) || (any_lane(X == T(5)) && !all_lanes(!(X != Y)));
        expect_elements(B, [&](std::size_t i) {
            bool all = true, any = false, equal = true;
            for (int k = 0; k < lanes; ++k) {
                all = all && x[i][k] <= y[i][k];
                any = any || x[i][k] == T(5);
                equal = equal && x[i][k] == y[i][k];
            }
            return all || (any && !equal);
        });
    });
}

TYPED_TEST(V4_short_vectors, are_taken_apart_and_put_together) {
    using V = TypeParam;
    using T = typename V::value_type;
    constexpr int lanes = V::size();
    auto random = seeded_random();
    const auto x = random_elements<V>(random, count);
    on_all_contexts([&](const context& ctx) {
        if (lacks_double<V>(ctx)) return;
        const vector<V> X(ctx, x);
        const vector<T> first = balm::lane<0>(X), last = balm::lane<lanes - 1>(X);
        expect_elements(first, [&](std::size_t i) { return x[i][0]; });
        expect_elements(last, [&](std::size_t i) { return x[i][lanes - 1]; });
        const vector<vec<T, 3>> turned = balm::lanes<1, 0, lanes - 1>(X);
        expect_elements(turned, [&](std::size_t i) { return vec<T, 3>{x[i][1], x[i][0], x[i][lanes - 1]}; });
        const vector<vec<T, 4>> made = compose<vec<T, 4>>(last, balm::lanes<0, 1>(X), T(3));
        expect_elements(made, [&](std::size_t i) {
            return vec<T, 4>{x[i][lanes - 1], x[i][0], x[i][1], T(3)};
        });
        const vector<V> plain = balm::let(X, [](auto v) { return select(v == v, v, T(0)); });
        expect_elements(plain, [&](std::size_t i) { return x[i]; });
    });
}

TEST(V4_short_vectors, have_the_geometric_functions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        std::vector<float3> a(count), b(count);
        for (auto* each : {&a, &b})
            for (float3& v : *each)
                for (int k = 0; k < 3; ++k) v[k] = static_cast<float>(static_cast<int>(random() % 21) - 10);
        const vector<float3> A(ctx, a), B(ctx, b);
        const auto d = [&](std::size_t i) {
            return a[i].x * b[i].x + a[i].y * b[i].y + a[i].z * b[i].z;  // exact: small whole numbers
        };
        const auto norm_of = [](const float3& v) {
            return std::sqrt(static_cast<double>(v.x * v.x + v.y * v.y + v.z * v.z));
        };
        vector<float> F = dot(A, B);
        expect_elements(F, d);
        F = dot(A, b[7]);
        expect_elements(F,
                        [&](std::size_t i) { return a[i].x * b[7].x + a[i].y * b[7].y + a[i].z * b[7].z; });
        F = length(A);
        expect_elements(F, [&](std::size_t i) { return static_cast<float>(norm_of(a[i])); });
        F = distance(A, B);
        expect_elements(F, [&](std::size_t i) {
            return static_cast<float>(norm_of({a[i].x - b[i].x, a[i].y - b[i].y, a[i].z - b[i].z}));
        });
        vector<float3> C = cross(A, B);
        expect_elements(C, [&](std::size_t i) {
            return float3{a[i].y * b[i].z - a[i].z * b[i].y, a[i].z * b[i].x - a[i].x * b[i].z,
                          a[i].x * b[i].y - a[i].y * b[i].x};
        });
        C = normalize(A);
        const auto got = C.to_host();
        for (std::size_t i = 0; i < count; ++i)
            for (int k = 0; k < 3; ++k) {
                const double l = norm_of(a[i]);
                ASSERT_NEAR(got[i][k], l == 0 ? 0 : a[i][k] / l, 2e-7);
            }
    });
}

TEST(V4_short_vectors, are_converted) {
    auto random = seeded_random();
    const auto x = random_values<float>(random, 4 * count, -300.f, 300.f);
    std::vector<float4> v(count);
    std::memcpy(v.data(), x.data(), count * sizeof(float4));
    on_all_contexts([&](const context& ctx) {
        const vector<float4> V(ctx, v);
        vector<int4> I = cast<int>(V);
        const auto each = [&](auto f) {
            return [&v, f](std::size_t i) { return int4{f(v[i].x), f(v[i].y), f(v[i].z), f(v[i].w)}; };
        };
        expect_elements(I, each([](float f) { return static_cast<int>(f); }));
        I = cast<int4>(V);
        expect_elements(I, each([](float f) { return static_cast<int>(f); }));
        I = convert<int4, rounding::down>(V);
        expect_elements(I, each([](float f) { return static_cast<int>(std::floor(f)); }));
        const vector<uchar4> U = convert_sat<uchar4>(V);
        expect_elements(U, [&](std::size_t i) {
            const auto to = [](float f) {
                return static_cast<std::uint8_t>(std::clamp(static_cast<int>(f), 0, 255));
            };
            return uchar4{to(v[i].x), to(v[i].y), to(v[i].z), to(v[i].w)};
        });
        I = balm::bit_cast<int4>(V);
        expect_elements(I, each([](float f) { return std::bit_cast<int>(f); }));
        const vector<std::uint32_t> W = balm::bit_cast<std::uint32_t>(U);
        const auto bytes = U.to_host();
        expect_elements(W, [&](std::size_t i) { return std::bit_cast<std::uint32_t>(bytes[i]); });
        const vector<uchar4> again = balm::bit_cast<uchar4>(W);
        expect_elements(again, [&](std::size_t i) { return bytes[i]; });
    });
}

// ---- complex numbers ----

template <class T>
class V4_complex : public testing::Test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(V4_complex, precisions);

TYPED_TEST(V4_complex, arithmetic_and_functions) {
    using T = TypeParam;
    using C = std::complex<T>;
    using wide = std::complex<double>;
    auto random = seeded_random();
    const auto numbers = [&] {
        std::vector<C> made(count);
        for (C& z : made)
            z = C(random_values<T>(random, 1, T(-2), T(2))[0], random_values<T>(random, 1, T(-2), T(2))[0]);
        return made;
    };
    const auto z = numbers(), w = numbers();
    const auto x = random_values<T>(random, count, T(0.5), T(2));
    on_all_contexts([&](const context& ctx) {
        if (lacks_double<T>(ctx)) return;
        const vector<C> Z(ctx, z), W(ctx, w);
        const vector<T> X(ctx, x);
        vector<C> R(ctx, count);
        vector<T> P(ctx, count);
        const double close = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
        const auto expect = [&](const char* what, const auto& got_vector, const auto& wanted) {
            const auto got = got_vector.to_host();
            for (std::size_t i = 0; i < count; ++i) {
                const auto exact = wanted(wide(z[i]), wide(w[i]), static_cast<double>(x[i]));
                const double scale = std::max(1.0, std::abs(exact));
                ASSERT_LE(std::abs(wide(got[i]) - wide(exact)), close * scale) << what << ", element " << i;
            }
        };
        const C i_host(0, 1);
        R = Z * W + X * Z - W / 2;
        expect("sum", R, [](wide a, wide b, double c) { return a * b + c * a - b / 2.0; });
        R = Z / W + 1;
        expect("quotient", R, [](wide a, wide b, double) { return a / b + 1.0; });
        R = (Z / W) * norm(W);
        expect("scaled quotient", R, [](wide a, wide b, double) { return a / b * std::norm(b); });
        R = i_host * Z + X * i_host;
        expect("host numbers", R, [](wide a, wide, double c) { return wide(0, 1) * a + c * wide(0, 1); });
        R = 2 * Z;
        R -= W;
        R *= Z;
        expect("compound", R, [](wide a, wide b, double) { return (2.0 * a - b) * a; });
        R = conj(Z) - -W;
        expect("conj", R, [](wide a, wide b, double) { return std::conj(a) + b; });
        P = real(Z) + imag(W) * abs(Z) + arg(W) + norm(Z);
        expect("parts", P, [](wide a, wide b, double) {
            return a.real() + b.imag() * std::abs(a) + std::arg(b) + std::norm(a);
        });
        R = exp(Z) + sqrt(W) + log(Z + 3);
        expect("functions", R,
               [](wide a, wide b, double) { return std::exp(a) + std::sqrt(b) + std::log(a + 3.0); });
        R = sin(Z) * cos(W) + tanh(Z) + pow(Z + 3, W) + pow(Z, 2);
        expect("more functions", R, [](wide a, wide b, double) {
            return std::sin(a) * std::cos(b) + std::tanh(a) + std::pow(a + 3.0, b) + a * a;
        });
        R = polar(X, arg(Z));
        expect("polar", R, [](wide a, wide, double c) { return std::polar(c, std::arg(a)); });
        R = compose<C>(X, imag(Z));
        expect("compose", R, [](wide a, wide, double c) { return wide(c, a.imag()); });
        R = select(real(Z) < 0, Z, 1);
        expect("select", R, [](wide a, wide, double) { return a.real() < 0 ? a : wide(1); });
        R = select(Z == Z && Z != W, constant(C(3, 4)), W);
        expect("comparison", R, [](wide, wide, double) { return wide(3, 4); });
        R = X;
        expect("real numbers", R, [](wide, wide, double c) { return wide(c); });
        R = C(5, 6);
        expect("a value", R, [](wide, wide, double) { return wide(5, 6); });
        R = T(5);
        expect("a real value", R, [](wide, wide, double) { return wide(5); });
        if (!lacks_double<double>(ctx)) {
            vector<std::complex<double>> D = complex_cast<double>(Z) / 3;
            const auto got = D.to_host();
            for (std::size_t k = 0; k < count; ++k) ASSERT_LE(std::abs(got[k] - wide(z[k]) / 3.0), 1e-15);
        }
    });
}

// ---- structures ----

TEST(V4_structures, refuse_members_that_are_not_listed) {
    on_all_contexts([](const context& ctx) {
        vector<half_listed> all(ctx, 4);
        vector<float> out(ctx, 4);
        EXPECT_THAT(message_of<usage_error>([&] { out = field<&half_listed::unlisted>(all); }),
                    HasSubstr("the member at byte 4 of the structure half_listed, which its BALM_STRUCT"));
    });
}

TEST(V4_structures, give_their_members_and_go_through_functions) {
    auto random = seeded_random();
    const auto bodies = random_elements<body>(random, count);
    const auto pull = balm::function("pull(b, by)", [](Var<body> b, Float by) {
        Var<body> moved(b);
        moved.position.xy += by;
        moved.links[1] = moved.links[0] - moved.links[2];
        return moved;
    });
    on_all_contexts([&](const context& ctx) {
        if (lacks_double<body>(ctx)) return;
        vector<body> B(ctx, bodies);
        vector<float3> where = field<&body::position>(B);
        expect_elements(where, [&](std::size_t i) { return bodies[i].position; });
        vector<double> sum = field<&body::energy>(B) + field<&body::mass>(B);
        expect_elements(sum, [&](std::size_t i) { return bodies[i].energy + bodies[i].mass; });
        vector<uchar4> shades = field<&colour::rgba>(field<&body::shade>(B));
        expect_elements(shades, [&](std::size_t i) { return bodies[i].shade.rgba; });
        vector<float> reversed =
            field<&body::mass>(B[static_cast<std::int64_t>(count) - 1 - element_index(0, count)]);
        expect_elements(reversed, [&](std::size_t i) { return bodies[count - 1 - i].mass; });

        const auto pulled = [&](const body& from, float by) {
            body b = from;
            b.position.x += by;
            b.position.y += by;
            b.links[1] =
                static_cast<int>(static_cast<unsigned>(b.links[0]) - static_cast<unsigned>(b.links[2]));
            return b;
        };
        vector<body> moved = pull(B, 2.5f);
        expect_elements(moved, [&](std::size_t i) { return pulled(bodies[i], 2.5f); });
        moved = pull(bodies[3], field<&body::mass>(B));
        expect_elements(moved, [&](std::size_t i) { return pulled(bodies[3], bodies[i].mass); });
        B = pull(B, field<&body::mass>(B));
        expect_elements(B, [&](std::size_t i) { return pulled(bodies[i], bodies[i].mass); });
    });
}

// ---- functions, random numbers, halves ----

TEST(V6_functions, take_and_give_short_vectors_and_complex_numbers) {
    auto random = seeded_random();
    const auto x = random_elements<float4>(random, count);
    const auto s = random_values<float>(random, count);
    const auto turn = balm::function("turn(v, by)", [](Float4 v, Float4 by) { return Float4(v.wzyx * by); });
    const auto square = balm::function("square(z)", [](CFloat z) { return z * z; });
    on_all_contexts([&](const context& ctx) {
        const vector<float4> X(ctx, x);
        const vector<float> S(ctx, s);
        const auto expect = [&](const vector<float4>& got, const auto& by) {
            expect_elements(got, [&](std::size_t i) {
                const float4 b = by(i);
                return float4{x[i].w * b.x, x[i].z * b.y, x[i].y * b.z, x[i].x * b.w};
            });
        };
        const auto all = [](float f) { return float4{f, f, f, f}; };
        vector<float4> Y = turn(X, X);
        expect(Y, [&](std::size_t i) { return x[i]; });
        Y = turn(X, S);
        expect(Y, [&](std::size_t i) { return all(s[i]); });
        Y = turn(X, 3);
        expect(Y, [&](std::size_t) { return all(3); });
        Y = turn(X, x[1]);
        expect(Y, [&](std::size_t) { return x[1]; });
        const vector<std::complex<float>> Z = square(S);
        expect_elements(Z, [&](std::size_t i) { return std::complex<float>(s[i] * s[i], 0); });
    });
}

TEST(V9_random, vectors_in_expressions_are_those_of_the_host) {
    auto random = seeded_random();
    const std::uint64_t seed = random(), stream = random();
    on_all_contexts([&](const context& ctx) {
        const uniform<float4> four;
        const uniform<long3, threefry> three;
        const normal<float2> two;
        vector<float4> F(ctx, count);
        F = four(element_index(5), seed, stream);
        expect_elements(F, [&](std::size_t i) { return four(i + 5, seed, stream); });
        vector<long3> L(ctx, count);
        L = three(element_index(), seed, stream);
        expect_elements(L, [&](std::size_t i) { return three(i, seed, stream); });
        vector<float> S = balm::length(two(element_index(0, count), seed));
        const auto got = S.to_host();
        for (std::size_t i = 0; i < count; ++i) {
            const float2 v = two(i, seed);
            ASSERT_NEAR(got[i], std::hypot(v.x, v.y), 1e-6);
        }
    });
}

TEST(V4_halves, are_computed_with_as_floats) {
    auto random = seeded_random();
    const auto x = random_elements<half>(random, count);
    const auto v = random_elements<half4>(random, count);
    const auto f = random_values<float>(random, count, 0.f, 1000.f);
    on_all_contexts([&](const context& ctx) {
        const vector<half> X(ctx, x);
        const vector<float> F(ctx, f);
        vector<float> Y = X * 2 + 0.25f;
        expect_elements(Y, [&](std::size_t i) { return static_cast<float>(x[i]) * 2 + 0.25f; });
        // The same structure with elements of another type is another kernel.
        Y = F * 2 + 0.25f;
        expect_elements(Y, [&](std::size_t i) { return std::fma(f[i], 2.f, 0.25f); });
        vector<half> H(ctx, count);
        H = F;
        expect_elements(H, [&](std::size_t i) { return half(f[i]); });
        H = X;
        expect_elements(H, [&](std::size_t i) { return x[i]; });
        H = 1.5;
        expect_elements(H, [&](std::size_t) { return half(1.5f); });
        const vector<half4> V(ctx, v);
        vector<half4> W(ctx, count);
        W = V + V;
        expect_elements(W, [&](std::size_t i) {
            half4 sum{};
            for (int k = 0; k < 4; ++k) sum[k] = half(2 * static_cast<float>(v[i][k]));
            return sum;
        });
        const vector<float> lanes = balm::lane<2>(V);
        expect_elements(lanes, [&](std::size_t i) { return static_cast<float>(v[i].z); });
    });
}

/// The half nearest to a double, found among all halves; of two the one whose last digit is even.
std::uint16_t nearest_half(double x) {
    const double size = std::fabs(x);
    if (!(size < 65520)) return static_cast<std::uint16_t>(std::signbit(x) << 15 | 0x7c00);
    std::uint16_t best = 0;
    double least = size;
    int exponent = 0;
    std::frexp(size, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -13) - 11);  // of the last digit
    for (const double candidate : {std::floor(size / unit) * unit, std::floor(size / unit) * unit + unit}) {
        const auto digits = static_cast<std::uint64_t>(candidate / unit);
        const double distance = std::fabs(size - candidate);
        const bool is_nearer = distance < least || (distance == least && digits % 2 == 0);
        if (!is_nearer) continue;
        least = distance;
        best = half(static_cast<float>(candidate)).bits;  // which is exact
    }
    return static_cast<std::uint16_t>(std::signbit(x) << 15 | best);
}

struct half_holder {
    half number;
    std::uint16_t other;
};
BALM_STRUCT(half_holder, number, other)

// Around each number in the middle of two halves, and each half.
TEST(V4_halves, of_doubles_are_rounded_once) {
    std::vector<double> x{
        1.00048828125 + 1e-12, 0x1.0020000000001p0, 0x1p-25 + 0x1p-60, 65519.999999, 1e300, 1e-300, 0x1p-1074,
        0x1.fffffffffffffp1023};
    for (std::uint32_t k = 0; k < 0x7c00; ++k) {
        const auto number = [](std::uint32_t bits) {
            half h;
            h.bits = static_cast<std::uint16_t>(bits);
            return bits == 0x7c00 ? 65536.0 : static_cast<double>(static_cast<float>(h));
        };
        const double low = number(k), middle = (low + number(k + 1)) / 2;
        for (const double at : {low, middle})
            for (const double away : {0.0, 0x1p-52, -0x1p-53, 0x1p-40, -0x1p-40, 0x1p-24, -0x1p-24})
                x.push_back(at + at * away);
    }
    const std::size_t positive = x.size();
    for (std::size_t k = 0; k < positive; ++k) x.push_back(-x[k]);
    x.push_back(std::numeric_limits<double>::infinity());
    std::vector<std::uint16_t> expected;
    for (const double each : x) {
        expected.push_back(nearest_half(each));
        ASSERT_EQ(half(each).bits, expected.back()) << each;
    }
    const auto n = x.size();
    const auto store =
        balm::kernel<1>("store", [](In<double> in, Out<half> plain, Mixed<half> sum, Out<half4> lanes) {
            const Index i = global_id(0);
            plain[i] = in[i];
            sum[i] += in[i];
            lanes[i] = 0;
            lanes[i].y = in[i];
        });
    on_all_contexts([&](const context& ctx) {
        const vector<double> X(ctx, std::span<const double>(x));
        const auto check = [&](auto&& got, auto&& bits) {
            for (std::size_t k = 0; k < n; ++k)
                ASSERT_EQ(bits(got[k]), expected[k])
                    << x[k] << " of bits " << std::bit_cast<std::uint64_t>(x[k]);
        };
        const auto own = [](half h) { return h.bits; };
        vector<half> H(ctx, n);
        H = X;
        check(H.to_host(), own);
        view(H, {n}) = X * 1.0;
        check(H.to_host(), own);
        vector<half4> V(ctx, n);
        V = 0;
        balm::lane<2>(V) = X;
        check(V.to_host(), [](const half4& v) { return v.z.bits; });
        vector<half_holder> S(ctx, n);
        balm::field<&half_holder::number>(S) = X;
        check(S.to_host(), [](const half_holder& s) { return s.number.bits; });
        vector<half> of_host(ctx, 1);
        for (const std::size_t k : {0u, 1u, 2u, 3u}) {
            of_host = x[k];
            EXPECT_EQ(half(of_host[0]).bits, expected[k]);
        }
    });
    on_all_devices([&](const device& on) {
        auto in = on.in_buffer<double>(n);
        in.write(std::span<const double>(x));
        auto plain = on.out_buffer<half>(n);
        auto sum = on.mixed_buffer<half>(n);
        auto lanes = on.out_buffer<half4>(n);
        sum.fill(half());
        on.execute(store(in, plain, sum, lanes), {n});
        const auto of_plain = plain.read(), of_sum = sum.read();
        const auto of_lanes = lanes.read();
        for (std::size_t k = 0; k < n; ++k) {
            ASSERT_EQ(of_plain[k].bits, expected[k]) << x[k];
            ASSERT_EQ(of_lanes[k].y.bits, expected[k]) << x[k];
            const bool is_zero = (expected[k] & 0x7fff) == 0;  // 0 + -0
            ASSERT_EQ(of_sum[k].bits & (is_zero ? 0x7fff : 0xffff), expected[k] & (is_zero ? 0x7fff : 0xffff))
                << x[k];
        }
    });
}

TEST(V4_halves, of_integers_are_rounded_once) {
    const std::vector<std::int64_t> x{2049,     2050,
                                      2051,     65519,
                                      65520,    -65519,
                                      16777217, (std::int64_t{1} << 40) + 1,
                                      -2049,    std::numeric_limits<std::int64_t>::min()};
    on_all_contexts([&](const context& ctx) {
        const vector<std::int64_t> X(ctx, std::span<const std::int64_t>(x));
        vector<half> H(ctx, x.size());
        H = X;
        const auto got = H.to_host();
        for (std::size_t k = 0; k < x.size(); ++k) {
            EXPECT_EQ(got[k].bits, nearest_half(static_cast<double>(x[k]))) << x[k];
            EXPECT_EQ(half(x[k]).bits, got[k].bits) << x[k];
        }
    });
}

// ---- structure ----

TEST(V7_equal_terminals, of_elements_that_are_no_scalars) {
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        const std::vector<float4> x(count, float4{1, 2, 3, 4});
        const vector<float4> X(ctx, x), Y(ctx, x);
        vector<float4> Z(ctx, count);
        vector<float> F(ctx, count);
        // Host values are arguments: others compile nothing.
        EXPECT_EQ(compilations_of([&] {
                      for (float k = 0; k < 3; ++k) {
                          Z = X * float4{k, 1, 1, 1} + k;
                          EXPECT_EQ(Z[count - 1], (float4{2 * k, 2 + k, 3 + k, 4 + k}));
                      }
                  }),
                  1);
        // Another operation of the same shape is another kernel.
        EXPECT_EQ(compilations_of([&] {
                      F = balm::lane<0>(X) + 1;
                      EXPECT_EQ(F[0], 2.f);
                      F = balm::lane<1>(X) + 1;
                      EXPECT_EQ(F[0], 3.f);
                      F = balm::lane<1>(Y) + 1;
                      EXPECT_EQ(F[0], 3.f);
                  }),
                  2);
    });
}

TEST(V10_reductions_of_elements, are_lane_by_lane) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1003;
        host_array<float4> v{shape(n)};
        host_array<short3> k{shape(n)};
        float4 sums{0, 0, 0, 0}, least = float4{100, 100, 100, 100};
        long3 totals{0, 0, 0};
        short3 most{-200, -200, -200};
        for (std::size_t i = 0; i < n; ++i) {
            for (int lane = 0; lane < 4; ++lane) {
                v[i][lane] = static_cast<float>(static_cast<int>(random() % 200) - 100);
                sums[lane] += v[i][lane];
                least[lane] = std::min(least[lane], v[i][lane]);
            }
            for (int lane = 0; lane < 3; ++lane) {
                k[i][lane] = static_cast<std::int16_t>(static_cast<int>(random() % 200) - 100);
                totals[lane] += k[i][lane];
                most[lane] = std::max(most[lane], k[i][lane]);
            }
        }
        const vector<float4> V(ctx, std::span<const float4>(v));
        const vector<short3> K(ctx, std::span<const short3>(k));
        EXPECT_EQ(sum(V), sums);
        EXPECT_EQ(sum_compensated(V), sums);
        EXPECT_EQ(balm::min(V), least);
        EXPECT_EQ(sum(K), totals);
        EXPECT_EQ(balm::max(K), most);
        EXPECT_EQ(product(vector<int2>(ctx, {{2, 3}, {5, -7}})), (int2{10, -21}));
        const vector<std::complex<float>> z(ctx, {{1.f, 2.f}, {-3.f, 0.5f}, {0.25f, 4.f}});
        EXPECT_EQ(sum(z), (complex_value<float>{-1.75f, 6.5f}));
        EXPECT_EQ(sum_compensated(z), (complex_value<float>{-1.75f, 6.5f}));
        EXPECT_EQ(sum(vector<float4>(ctx, 0)), (float4{0, 0, 0, 0}));
    });
}

TEST(V7_let, computes_once) {
    auto random = seeded_random();
    const auto x = random_values<double>(random, count, -2.0, 2.0);
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        if (lacks_double<double>(ctx)) return;
        const vector<double> X(ctx, std::span<const double>(x));
        vector<int> calls(ctx, 1, 0);
        const auto counted = balm::function("counted(x, calls)", [](Double v, Mixed<int> c) {
            atomic_add(c[0], 1);
            return v;
        });
        vector<double> Y = balm::let(counted(X, calls), [](auto z) { return z * z + z; });
        EXPECT_EQ(calls[0], static_cast<int>(count));
        expect_elements(Y, [&](std::size_t i) { return std::fma(x[i], x[i], x[i]); });
        // Names are told apart, also where the lists look alike.
        Y = balm::let(X + 1, [&](auto a) { return balm::let(X - 1, [&](auto b) { return a - 2 * b; }); });
        expect_elements(Y, [&](std::size_t i) { return std::fma(-2.0, x[i] - 1, x[i] + 1); });
        Y = balm::let(X + 1, [&](auto a) { return balm::let(X - 1, [&](auto b) { return b - 2 * a; }); });
        expect_elements(Y, [&](std::size_t i) { return std::fma(-2.0, x[i] + 1, x[i] - 1); });
        EXPECT_THAT(message_of<usage_error>([&] {
                        Y = balm::let(X + 1, [&](auto a) { return a[element_index(0, count) / 2]; });
                    }),
                    HasSubstr("apply the positions to the expression"));
        Y = balm::let((X + 1)[element_index(0, count) / 2], [&](auto a) { return a + a; });
        expect_elements(Y, [&](std::size_t i) { return 2 * (x[i / 2] + 1); });
        const auto leaked = [&] {
            std::vector<expr<double>> out;
            static_cast<void>(balm::let(X + 1, [&](auto a) {
                out.push_back(a);
                return a;
            }));
            Y = out[0] + X;
        };
        EXPECT_THAT(message_of<usage_error>(leaked), HasSubstr("used outside the function's result"));
    });
}

TEST(V19_constants, are_those_of_the_standard_library) {
    on_all_contexts([&](const context& ctx) {
        vector<float> X(ctx, 3, 2.f);
        vector<float> Y = X * std::numbers::pi_v<float> + constant(std::numbers::e_v<float>);
        EXPECT_EQ(Y[2], std::fma(2.f, std::numbers::pi_v<float>, std::numbers::e_v<float>));
        vector<float4> Z(ctx, 3);
        Z = X * constant(float4{1, 2, 3, 4});
        EXPECT_EQ(Z[1], (float4{2, 4, 6, 8}));
    });
}

}  // namespace
}  // namespace balm::test

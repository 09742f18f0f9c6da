// Short vectors: lanes by name and number, arithmetic lane by lane, comparisons, conversions, memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// Random vectors of small numbers: only those of 8 bits overflow, and wrap.
template <class V>
host_array<V> random_vectors(std::mt19937_64& random, std::size_t n, int low = 1, int high = 11) {
    using T = typename V::value_type;
    host_array<V> values(n);
    for (V& v : values)
        for (int k = 0; k < V::size(); ++k) {
            if constexpr (std::floating_point<T>)
                v[k] = std::uniform_real_distribution<T>(static_cast<T>(low), static_cast<T>(high))(random);
            else
                v[k] = static_cast<T>(std::uniform_int_distribution<int>(low, high)(random));
        }
    return values;
}

/// Runs n work-items that write `each` vectors of the last parameter, and compares every lane with
/// expected(work-item, which of its vectors, lane).
template <class V, class Kernel, class Expected, class... A>
void expect_lanes(const device& on, const Kernel& kernel, std::size_t n, std::size_t each,
                  Expected&& expected, const A&... arguments) {
    auto out = on.mixed_buffer<V>(n * each);
    host_array<V> zeros(n * each);  // the lane that vectors of three leave unused too
    std::memset(static_cast<void*>(zeros.data()), 0, zeros.size() * sizeof(V));
    out.write(std::span<const V>(zeros));
    on.execute(kernel(arguments..., out), {n});
    const host_array<V> got = out.read();
    for (std::size_t at = 0; at < got.size(); ++at)
        for (int k = 0; k < V::size(); ++k) {
            const auto wanted = static_cast<typename V::value_type>(expected(at / each, at % each, k));
            if (is_same(got[at][k], wanted)) continue;
            ADD_FAILURE() << "work-item " << at / each << ", vector " << at % each << ", lane " << k << " is "
                          << +got[at][k] << ", not " << +wanted;
            return;
        }
}

TEST(G6_vector_types, are_aligned_to_their_size_and_three_lanes_as_four) {
    EXPECT_EQ(alignof(float2), 8u);
    EXPECT_EQ(sizeof(float3), 16u);
    EXPECT_EQ(alignof(float3), 16u);
    EXPECT_EQ(sizeof(char3), 4u);
    EXPECT_EQ(sizeof(double16), 128u);
    EXPECT_EQ(alignof(double16), 128u);
    EXPECT_EQ(sizeof(half4), 8u);
}

template <class V>
class G6_vectors : public testing::Test {};
using all_vectors =
    testing::Types<char4, uchar4, short4, ushort4, int4, uint4, long4, ulong4, float4, double4, float2,
                   float3, float8, float16, int2, int3, int8, double16, uchar16, long3>;
TYPED_TEST_SUITE(G6_vectors, all_vectors);

TYPED_TEST(G6_vectors, compute_lane_by_lane) {
    using V = TypeParam;
    using T = typename V::value_type;
    const auto kernel = balm::kernel<1>("arithmetic", [](In<V> a, In<V> b, Out<V> out) {
        Index i = global_id(0);
        Var<V> x = a[i], y = b[i];
        out[8 * i] = x + y;
        out[8 * i + 1] = x - y;
        out[8 * i + 2] = x * y;
        out[8 * i + 3] = x / y;
        out[8 * i + 4] = -x;
        out[8 * i + 5] = min(x, y) + T(1);
        x += y;
        x *= T(2);
        out[8 * i + 6] = x;
        out[8 * i + 7] = select(x < y * T(3), x, y);
    });
    auto random = seeded_random();
    const auto a = random_vectors<V>(random, vector_items), b = random_vectors<V>(random, vector_items);
    on_all_devices([&](const device& on) {
        expect_lanes<V>(
            on, kernel, vector_items, 8,
            [&](std::size_t i, std::size_t which, int k) {
                const T x = a[i][k], y = b[i][k], doubled = static_cast<T>(static_cast<T>(x + y) * T(2));
                switch (which) {
                    case 0: return static_cast<T>(x + y);
                    case 1: return static_cast<T>(x - y);
                    case 2: return static_cast<T>(x * y);
                    case 3: return static_cast<T>(x / y);
                    case 4: return static_cast<T>(-x);
                    case 5: return static_cast<T>(std::min(x, y) + T(1));
                    case 6: return doubled;
                    default: return doubled < static_cast<T>(y * T(3)) ? doubled : y;
                }
            },
            in(on, a), in(on, b));
    });
}

TYPED_TEST(G6_vectors, give_lanes_by_number_on_the_host_and_on_the_device) {
    using V = TypeParam;
    using T = typename V::value_type;
    constexpr int n = V::size();
    const auto kernel = balm::kernel<1>("components", [](In<V> a, In<std::int32_t> which, Out<V> out) {
        Index i = global_id(0);
        Var<V> x = a[i];
        Var<T> chosen = x[which[i]];
        Var<V> y = a[i];
        y.set(which[i], x[n - 1]);
        out[2 * i] = chosen;
        out[2 * i + 1] = y;
    });
    auto random = seeded_random();
    const auto a = random_vectors<V>(random, vector_items);
    const auto which = random_values<std::int32_t>(random, vector_items, 0, n - 1);
    on_all_devices([&](const device& on) {
        expect_lanes<V>(
            on, kernel, vector_items, 2,
            [&](std::size_t i, std::size_t at, int k) {
                if (at == 0) return a[i][which[i]];
                return k == which[i] ? a[i][n - 1] : a[i][k];
            },
            in(on, a), in(on, which));
    });
}

TEST(G6_swizzles, read_lanes_in_any_order) {
    const auto kernel = balm::kernel<1>("swizzles", [](In<float4> a, Out<float4> out) {
        Index i = global_id(0);
        Float4 v = a[i];
        out[4 * i] = v.wzyx;
        out[4 * i + 1] = v.xxyy;
        out[4 * i + 2] = Float4(v.zw, v.x, 5.f);
        out[4 * i + 3] = Float4(v.odd, v.lo);
    });
    auto random = seeded_random();
    const auto a = random_vectors<float4>(random, vector_items);
    on_all_devices([&](const device& on) {
        expect_lanes<float4>(
            on, kernel, vector_items, 4,
            [&](std::size_t i, std::size_t which, int k) {
                const float4& v = a[i];
                const float4 wanted[] = {{{v.w, v.z, v.y, v.x}},
                                         {{v.x, v.x, v.y, v.y}},
                                         {{v.z, v.w, v.x, 5.f}},
                                         {{v.y, v.w, v.x, v.y}}};
                return wanted[which][k];
            },
            in(on, a));
    });
}

TEST(G6_swizzles, write_the_lanes_they_name_and_no_others) {
    const auto kernel = balm::kernel<1>("writes", [](In<int8> a, Mixed<int8> out) {
        Index i = global_id(0);
        Int8 v = a[i];
        v.s7 = 100;
        v.lo = v.hi;
        v.even += 1000;
        out[i].s0 = v.s1;
        out[i].odd = v.even;
        out[i].s2 += 7;
        Int3 w(1, 2, 3);
        w.zx = w.xy;
        out[i].s6 = w.x * 100 + w.y * 10 + w.z;
    });
    auto random = seeded_random();
    const auto a = random_vectors<int8>(random, vector_items),
               before = random_vectors<int8>(random, vector_items);
    on_all_devices([&](const device& on) {
        auto out = on.mixed_buffer<int8>(vector_items);
        out.write(std::span<const int8>(before));
        on.execute(kernel(in(on, a), out), {vector_items});
        const auto got = out.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            int8 v = a[i];
            v[7] = 100;
            for (int k = 0; k < 4; ++k) v[k] = v[k + 4];
            for (int k = 0; k < 8; k += 2) v[k] += 1000;
            int8 wanted = before[i];
            wanted[0] = v[1];
            for (int k = 0; k < 4; ++k) wanted[2 * k + 1] = v[2 * k];
            wanted[2] += 7;
            wanted[6] = 221;
            ASSERT_EQ(got[i], wanted) << i;
        }
    });
}

TEST(G6_comparisons, give_vectors_of_truth_values) {
    const auto kernel =
        balm::kernel<1>("truth", [](In<float4> a, In<float4> b, Out<bool4> less, Out<std::int32_t> folded) {
            Index i = global_id(0);
            Float4 x = a[i], y = b[i];
            Bool4 l = x < y;
            less[i] = l & !(x == 3.f);
            folded[i] = select(any(l), 1, 0) + select(all(l), 2, 0) + select(l.y, 4, 0) + select(l[2], 8, 0);
        });
    auto random = seeded_random();
    auto a = random_vectors<float4>(random, vector_items), b = random_vectors<float4>(random, vector_items);
    for (std::size_t i = 0; i < vector_items; i += 3) a[i] = b[i];
    a[1] = {{3, 3, 1, 1}};
    b[1] = {{4, 4, 4, 4}};
    on_all_devices([&](const device& on) {
        auto less = on.out_buffer<bool4>(vector_items);
        auto folded = on.out_buffer<std::int32_t>(vector_items);
        on.execute(kernel(in(on, a), in(on, b), less, folded), {vector_items});
        const auto lanes = less.read();
        const auto sums = folded.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            int holds = 0;
            bool l[4];
            for (int k = 0; k < 4; ++k) {
                l[k] = a[i][k] < b[i][k];
                holds += l[k];
                EXPECT_EQ(lanes[i][k], l[k] && a[i][k] != 3.f) << i << " " << k;
            }
            EXPECT_EQ(sums[i], (holds > 0) + 2 * (holds == 4) + 4 * l[1] + 8 * l[2]) << i;
        }
    });
}

TEST(G6_conversions, keep_what_scalars_keep) {
    const auto kernel = balm::kernel<1>(
        "convert", [](In<float4> a, Out<int4> ints, Out<uchar4> bytes, Out<bool4> truth, Out<float4> back) {
            Index i = global_id(0);
            ints[i] = cast<int>(a[i]);
            bytes[i] = cast<uchar4>(cast<int4>(a[i]));
            truth[i] = cast<bool>(a[i]);
            back[i] = cast<float>(a[i] > 0.f);
        });
    host_array<float4> a(3);
    a[0] = {{1.9f, -1.9f, 3e9f, -3e9f}};
    a[1] = {{NAN, 0.f, -0.f, 300.7f}};
    a[2] = {{INFINITY, -INFINITY, 255.f, 256.f}};
    on_all_devices([&](const device& on) {
        auto ints = on.out_buffer<int4>(3);
        auto bytes = on.out_buffer<uchar4>(3);
        auto truth = on.out_buffer<bool4>(3);
        auto back = on.out_buffer<float4>(3);
        on.execute(kernel(in(on, a), ints, bytes, truth, back), {3});
        const auto got = ints.read();
        EXPECT_EQ(got[0], (int4{{1, -1, INT32_MAX, INT32_MIN}}));
        EXPECT_EQ(got[1], (int4{{0, 0, 0, 300}}));
        EXPECT_EQ(got[2], (int4{{INT32_MAX, INT32_MIN, 255, 256}}));
        EXPECT_EQ(bytes.read()[2], (uchar4{{255, 0, 255, 0}}));
        EXPECT_EQ(truth.read()[1], (bool4{{true, false, false, true}}));
        EXPECT_EQ(back.read()[0], (float4{{1, 0, 1, 0}}));
    });
}

TEST(G6_geometry, of_vectors) {
    const auto kernel = balm::kernel<1>("geometry", [](In<double4> a, In<double4> b, Out<double4> out) {
        Index i = global_id(0);
        Double4 x = a[i], y = b[i];
        out[3 * i] = Double4(dot(x, y), length(x), distance(x, y), dot(x.xy, y.zw));
        out[3 * i + 1] = normalize(x);
        out[3 * i + 2] = Double4(cross(x.xyz, y.xyz), 0);
    });
    auto random = seeded_random();
    const auto a = random_vectors<double4>(random, vector_items),
               b = random_vectors<double4>(random, vector_items);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<double4>(3 * vector_items);
        on.execute(kernel(in(on, a), in(on, b), out), {vector_items});
        const auto got = out.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            const double4 &x = a[i], &y = b[i];
            long double product = 0, square = 0, apart = 0;
            for (int k = 0; k < 4; ++k) {
                product += static_cast<long double>(x[k]) * y[k];
                square += static_cast<long double>(x[k]) * x[k];
                apart += (static_cast<long double>(x[k]) - y[k]) * (static_cast<long double>(x[k]) - y[k]);
            }
            const auto near = [&](double value, long double wanted) {
                EXPECT_NEAR(value, static_cast<double>(wanted),
                            1e-12 * (1 + std::abs(static_cast<double>(wanted))));
            };
            near(got[3 * i].x, product);
            near(got[3 * i].y, std::sqrt(square));
            near(got[3 * i].z, std::sqrt(apart));
            near(got[3 * i].w, static_cast<long double>(x.x) * y.z + static_cast<long double>(x.y) * y.w);
            for (int k = 0; k < 4; ++k) near(got[3 * i + 1][k], x[k] / std::sqrt(square));
            near(got[3 * i + 2].x, static_cast<long double>(x.y) * y.z - static_cast<long double>(x.z) * y.y);
            near(got[3 * i + 2].y, static_cast<long double>(x.z) * y.x - static_cast<long double>(x.x) * y.z);
            near(got[3 * i + 2].z, static_cast<long double>(x.x) * y.y - static_cast<long double>(x.y) * y.x);
        }
    });
}

TEST(G6_geometry, scales_squares_that_overflow_or_lose_digits) {
    const auto kernel = balm::kernel<1>("lengths", [](In<float3> a, In<float3> b, Out<float4> out) {
        Index i = global_id(0);
        Float3 x = a[i];
        out[i] = Float4(length(x), distance(x, Float3(b[i])), normalize(x).xy);
    });
    auto random = seeded_random();
    const std::size_t n = 2000;
    host_array<float3> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
        const int exponent = static_cast<int>(random() % 270) - 145;
        const auto draw = [&] {
            const float digits = static_cast<float>(random() % 2001) / 1000 - 1;
            return std::ldexp(digits, exponent - static_cast<int>(random() % 30));
        };
        for (int k = 0; k < 3; ++k) {
            a[i][k] = draw();
            b[i][k] = draw();
        }
    }
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float4>(n);
        on.execute(kernel(in(on, a), in(on, b), out), {n});
        const auto got = out.read();
        for (std::size_t i = 0; i < n; ++i) {
            const auto length_of = [](double x, double y, double z) {
                return std::sqrt(x * x + y * y + z * z);
            };
            const double length = length_of(a[i].x, a[i].y, a[i].z);
            const double distance = length_of(a[i].x - b[i].x, a[i].y - b[i].y, a[i].z - b[i].z);
            const auto near = [](double wanted) { return 4e-7 * wanted + 0x1p-149; };
            EXPECT_NEAR(got[i].x, length, near(length)) << a[i];
            EXPECT_NEAR(got[i].y, distance, near(distance)) << a[i] << b[i];
            EXPECT_NEAR(got[i].z, length == 0 ? 0 : a[i].x / length, 4e-7) << a[i];
            EXPECT_NEAR(got[i].w, length == 0 ? 0 : a[i].y / length, 4e-7) << a[i];
        }
    });
}

TEST(G6_geometry, contracts_in_one_order_on_every_device) {
    const auto kernel = balm::kernel<1>("products", [](In<float4> a, In<float4> b, Out<float4> out) {
        Index i = global_id(0);
        Float4 x = a[i], y = b[i];
        out[2 * i] = Float4(dot(x, y), dot(x.xyz, y.xyz), length(x), distance(x, y));
        out[2 * i + 1] = Float4(cross(x.xyz, y.xyz), dot(x, float4{1, 2, 3, 4}));
    });
    auto random = seeded_random();
    const auto a = random_vectors<float4>(random, vector_items),
               b = random_vectors<float4>(random, vector_items);
    const auto dot3 = [](const float4& x, const float4& y) {
        return std::fma(x.z, y.z, std::fma(x.x, y.x, x.y * y.y));
    };
    const auto dot4 = [&](const float4& x, const float4& y) { return std::fma(x.w, y.w, dot3(x, y)); };
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float4>(2 * vector_items);
        on.execute(kernel(in(on, a), in(on, b), out), {vector_items});
        const auto got = out.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            const float4 &x = a[i], &y = b[i];
            const float4 apart{{x.x - y.x, x.y - y.y, x.z - y.z, x.w - y.w}};
            EXPECT_EQ(
                got[2 * i],
                (float4{{dot4(x, y), dot3(x, y), std::sqrt(dot4(x, x)), std::sqrt(dot4(apart, apart))}}));
            EXPECT_EQ(got[2 * i + 1],
                      (float4{{std::fma(x.y, y.z, -(x.z * y.y)), std::fma(x.z, y.x, -(x.x * y.z)),
                               std::fma(x.x, y.y, -(x.y * y.x)), dot4(x, float4{{1, 2, 3, 4}})}}));
        }
    });
}

TEST(G6_vectors_everywhere, by_value_in_local_memory_in_functions_and_variables) {
    const auto scaled = balm::function("scaled(v, s)", [](Float4 v, Float s) { return v * s; });
    const auto kernel = balm::kernel<1>(
        "everywhere", [&](Float4 by, Double16 many, Local<float4> shared, In<float4> a, Out<float4> out) {
            Index i = global_id(0), lid = local_id(0);
            shared[lid] = a[i];
            local_barrier();
            Float4 sum = 0.f;
            for (Int k : range(4)) sum += scaled(shared[(lid + k) % local_size(0)], 2.f);
            IF (lid == 0) {
                sum.x = cast<float>(many.sf);
            }
            ELSE { sum.w = by.w; }
            out[i] = sum + by;
        });
    auto random = seeded_random();
    const auto a = random_vectors<float4>(random, vector_items, 1, 1 << 20);
    double16 many{};
    many[15] = 42;
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float4>(vector_items);
        on.execute(kernel(float4{{1, 2, 3, 4}}, many, balm::local<float4>(16), in(on, a), out),
                   {vector_items}, {16});
        const auto got = out.read();
        for (std::size_t i = 0; i < vector_items; ++i)
            for (int k = 0; k < 4; ++k) {
                float sum = 0;
                for (std::size_t j = 0; j < 4; ++j)
                    sum = std::fma(a[i / 16 * 16 + (i + j) % 16][k], 2.f, 0.f) + sum;
                if (i % 16 == 0 && k == 0) sum = 42;
                if (i % 16 != 0 && k == 3) sum = 4;
                ASSERT_FLOAT_EQ(got[i][k], sum + static_cast<float>(k + 1)) << i << " " << k;
            }
    });
}

TEST(G6_half, is_memory_of_16_bits_and_computed_with_as_f32) {
    const auto kernel =
        balm::kernel<1>("halves", [](In<half> a, In<half4> b, Out<half> sums, Mixed<half4> out) {
            Index i = global_id(0);
            Float x = a[i];
            sums[i] = x + 0.5f;
            out[i] = b[i] * 2.f;
            out[i].y = x;
            out[i].z += 1.f;
        });
    auto random = seeded_random();
    host_array<half> a(vector_items);
    host_array<half4> b(vector_items);
    std::uniform_real_distribution<float> any(-1000, 1000);
    for (std::size_t i = 0; i < vector_items; ++i) {
        a[i] = half(i == 0 ? 1e-7f : i == 1 ? 65504.f : any(random));
        for (int k = 0; k < 4; ++k) b[i][k] = half(any(random));
    }
    on_all_devices([&](const device& on) {
        auto sums = on.out_buffer<half>(vector_items);
        auto out = on.mixed_buffer<half4>(vector_items);
        on.execute(kernel(in(on, a), in(on, b), sums, out), {vector_items});
        const auto got = sums.read();
        const auto lanes = out.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            const float x = static_cast<float>(a[i]);
            EXPECT_EQ(got[i].bits, half(x + 0.5f).bits) << i;
            EXPECT_EQ(lanes[i].x.bits, half(static_cast<float>(b[i].x) * 2).bits) << i;
            EXPECT_EQ(lanes[i].y.bits, a[i].bits) << i;
            const half doubled(static_cast<float>(b[i].z) * 2);
            EXPECT_EQ(lanes[i].z.bits, half(static_cast<float>(doubled) + 1).bits) << i;
        }
    });
}

TEST(G6_half, on_the_host_rounds_to_the_nearest_and_keeps_every_number) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        half h;
        h.bits = static_cast<std::uint16_t>(bits);
        const float wide = static_cast<float>(h);
        if (std::isnan(wide)) continue;
        ASSERT_EQ(half(wide).bits, h.bits) << bits;
        // Half way to the next number: to the even one.
        half next;
        next.bits = static_cast<std::uint16_t>(bits + 1);
        if ((bits & 0x7fff) >= 0x7bff) continue;
        const float between = (wide + static_cast<float>(next)) / 2;
        ASSERT_EQ(half(between).bits, bits % 2 == 0 ? bits : bits + 1) << bits;
    }
}

}  // namespace
}  // namespace balm::test

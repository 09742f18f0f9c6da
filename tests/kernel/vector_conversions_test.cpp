// Conversions and reinterpretation of vectors, vectors from memory of scalars, functions of two results on
// vectors, and scalars beside vectors: against the host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "balm/error.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Random vectors of any bits, NaN of floating lanes apart.
template <class V>
host_array<V> any_vectors(std::mt19937_64& random, std::size_t n) {
    host_array<V> values(n);
    for (V& v : values)
        for (int k = 0; k < V::size(); ++k) {
            using T = typename V::value_type;
            if constexpr (std::floating_point<T>)
                v[k] = std::uniform_real_distribution<T>(-300, 300)(random);
            else
                v[k] = static_cast<T>(random());
        }
    return values;
}

TEST(C10_vector_conversions, round_and_saturate_as_scalars_do) {
    const auto kernel =
        balm::kernel<1>("conversions", [](In<float4> a, In<int3> b, Out<int4> ints, Out<uchar4> bytes,
                                          Out<char3> small, Out<float2> rounded, In<double2> wide) {
            Index i = global_id(0);
            Float4 v = a[i];
            ints[4 * i] = convert<int4>(v);
            ints[4 * i + 1] = convert<int, rounding::down>(v);
            ints[4 * i + 2] = convert<int4, rounding::up>(v);
            ints[4 * i + 3] = convert<int4, rounding::nearest_even>(a[i]);
            bytes[2 * i] = convert_sat<uchar4>(v);
            bytes[2 * i + 1] = convert_sat<unsigned char, rounding::nearest_even>(v.wzyx);
            small[i] = convert_sat<char3>(b[i]);
            rounded[3 * i] = convert<float2, rounding::down>(wide[i]);
            rounded[3 * i + 1] = convert<float2, rounding::up>(wide[i]);
            rounded[3 * i + 2] = convert<float2, rounding::toward_zero>(wide[i]);
        });
    auto random = seeded_random();
    auto a = any_vectors<float4>(random, vector_items);
    a[0] = {{0.5f, 1.5f, -0.5f, -1.5f}};
    a[1] = {{NAN, INFINITY, -INFINITY, 255.5f}};
    host_array<int3> b(vector_items);
    for (int3& v : b)
        for (int k = 0; k < 3; ++k) v[k] = static_cast<std::int32_t>(random() % 600) - 300;
    auto wide = any_vectors<double2>(random, vector_items);
    const auto on_host = [](float x, float (*round)(float), double low, double high) {
        return std::isnan(x) ? 0.0 : std::clamp(static_cast<double>(round(x)), low, high);
    };
    on_all_devices([&](const device& on) {
        if (!on.info().has_double) return;
        auto ints = on.out_buffer<int4>(4 * vector_items);
        auto bytes = on.out_buffer<uchar4>(2 * vector_items);
        auto small = on.out_buffer<char3>(vector_items);
        auto rounded = on.out_buffer<float2>(3 * vector_items);
        on.execute(kernel(in(on, a), in(on, b), ints, bytes, small, rounded, in(on, wide)), {vector_items});
        const auto got = ints.read();
        const auto got_bytes = bytes.read();
        const auto got_small = small.read();
        const auto got_rounded = rounded.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            for (int k = 0; k < 4; ++k) {
                float (*const how[])(float) = {std::trunc, std::floor, std::ceil, std::nearbyint};
                for (std::size_t w = 0; w < 4; ++w)
                    ASSERT_EQ(got[4 * i + w][k], on_host(a[i][k], how[w], INT32_MIN, INT32_MAX))
                        << i << " " << w;
                ASSERT_EQ(got_bytes[2 * i][k], on_host(a[i][k], std::trunc, 0, 255)) << i;
                ASSERT_EQ(got_bytes[2 * i + 1][k], on_host(a[i][3 - k], std::nearbyint, 0, 255)) << i;
            }
            for (int k = 0; k < 3; ++k) ASSERT_EQ(got_small[i][k], std::clamp(b[i][k], -128, 127));
            for (int k = 0; k < 2; ++k) {
                const double x = wide[i][k];
                const float near = static_cast<float>(x);
                const float below = near > x ? std::nextafter(near, -INFINITY) : near;
                const float above = near < x ? std::nextafter(near, INFINITY) : near;
                ASSERT_EQ(got_rounded[3 * i][k], below) << x;
                ASSERT_EQ(got_rounded[3 * i + 1][k], above) << x;
                ASSERT_EQ(got_rounded[3 * i + 2][k], x < 0 ? above : below) << x;
            }
        }
    });
}

template <class To, class From>
To same_bytes(const From& from) {
    To to;
    static_assert(sizeof to == sizeof from);
    std::memcpy(&to, &from, sizeof to);
    return to;
}

TEST(C10_vector_reinterpretation, keeps_the_bytes_in_memorys_order) {
    const auto kernel = balm::kernel<1>("bits", [](In<float4> a, In<uchar8> b, Out<int4> ints,
                                                   Out<char16> bytes, Out<long2> longs, Out<double2> doubles,
                                                   Out<float2> floats, Out<ushort4> shorts,
                                                   Out<std::uint64_t> one, Out<uchar8> back) {
        Index i = global_id(0);
        ints[i] = bit_cast<int4>(a[i]);
        bytes[i] = bit_cast<char16>(a[i]);
        longs[i] = bit_cast<long2>(a[i]);
        doubles[i] = bit_cast<double2>(a[i]);
        floats[i] = bit_cast<float2>(b[i]);
        UChar8 v = b[i];
        shorts[i] = bit_cast<ushort4>(v);
        one[i] = bit_cast<std::uint64_t>(v);
        back[i] = bit_cast<uchar8>(bit_cast<double>(UChar8(v.s7, v.s6, v.s5, v.s4, v.s3, v.s2, v.s1, v.s0)));
    });
    auto random = seeded_random();
    const auto a = any_vectors<float4>(random, vector_items);
    const auto b = any_vectors<uchar8>(random, vector_items);
    on_all_devices([&](const device& on) {
        if (!on.info().has_double) return;
        auto ints = on.out_buffer<int4>(vector_items);
        auto bytes = on.out_buffer<char16>(vector_items);
        auto longs = on.out_buffer<long2>(vector_items);
        auto doubles = on.out_buffer<double2>(vector_items);
        auto floats = on.out_buffer<float2>(vector_items);
        auto shorts = on.out_buffer<ushort4>(vector_items);
        auto one = on.out_buffer<std::uint64_t>(vector_items);
        auto back = on.out_buffer<uchar8>(vector_items);
        on.execute(kernel(in(on, a), in(on, b), ints, bytes, longs, doubles, floats, shorts, one, back),
                   {vector_items});
        const auto got_ints = ints.read();
        const auto got_bytes = bytes.read();
        const auto got_longs = longs.read();
        const auto got_doubles = doubles.read();
        const auto got_floats = floats.read();
        const auto got_shorts = shorts.read();
        const auto got_one = one.read();
        const auto got_back = back.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            ASSERT_EQ(got_ints[i], same_bytes<int4>(a[i]));
            ASSERT_EQ(got_bytes[i], same_bytes<char16>(a[i]));
            ASSERT_EQ(got_longs[i], same_bytes<long2>(a[i]));
            ASSERT_EQ(same_bytes<long2>(got_doubles[i]), same_bytes<long2>(a[i]));
            ASSERT_EQ(same_bytes<std::uint64_t>(got_floats[i]), same_bytes<std::uint64_t>(b[i]));
            ASSERT_EQ(got_shorts[i], same_bytes<ushort4>(b[i]));
            ASSERT_EQ(got_one[i], same_bytes<std::uint64_t>(b[i]));
            for (int k = 0; k < 8; ++k) ASSERT_EQ(got_back[i][k], b[i][7 - k]);
        }
    });
}

TEST(C10_vload, is_one_access_where_the_vector_has_the_size_of_its_scalars) {
    const auto kernel = balm::kernel<1>("vectors(x, h, out)", [](In<float> x, In<half> h, Mixed<float> out) {
        Index i = global_id(0);
        Float4 v = vload<4>(x.data() + 1, i);
        vstore(v.yxwz + vload<4>(h, i), out, i);
        vstore(vload<3>(x, i), out.data() + 2, 0);
    });
    EXPECT_THAT(emit::print(ir::lower(*kernel.function(), {}).kernel, runtime::dialect::opencl_c),
                AllOf(HasSubstr("typedef float4 balm_packed_float4 __attribute__((aligned(4)));\n"),
                      HasSubstr("((global const balm_packed_float4*)(x + 1))["),
                      HasSubstr("balm_f16_to_f32x4(((global const balm_packed_ushort4*)h)["),
                      HasSubstr("((global balm_packed_float4*)out)["), Not(HasSubstr("packed_float3"))));
    also_compile_with_nvrtc(*kernel.function(), {});
    EXPECT_THAT(emit::print(ir::lower(*kernel.function(), {}).kernel, runtime::dialect::cuda_cpp),
                AllOf(HasSubstr("struct balm_packed_float4 {\n    float at[4];\n"),
                      HasSubstr("balm_float4(((const balm_packed_float4*)(x + 1))[")));
}

TEST(C10_vload, beyond_an_array_is_refused) {
    const auto refused = [](int index) {
        try {
            balm::kernel<1>("beyond(out)", [index](Out<float> out) {
                Array<float, 10> own;
                vstore(Float4(1.f), own, index);
                out[0] = vload<2>(own, 4).y;
            });
        } catch (const trace_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(refused(1), "");
    EXPECT_THAT(refused(2), HasSubstr("the index 11 is out of range: the array has 10 elements"));
    EXPECT_THAT(refused(-1), HasSubstr("the index -1 is out of range"));
}

TEST(C10_vload, takes_scalars_one_behind_the_other_without_alignment) {
    static const balm::constant_array<float> table("table", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
    const auto kernel = balm::kernel<1>("vectors_of_scalars",
                                        [](In<float> a, In<half> h, Mixed<std::int32_t> ints, Out<float> out,
                                           Out<float> from_half, Local<float> shared, Out<float4> from_own) {
                                            Int i = cast<int>(global_id(0));
                                            Float3 v = vload<3>(a, i);
                                            vstore(v.zyx + vload<3>(table, i % 2), out, i);
                                            Ptr<std::int32_t> moved = ints.data() + 1;
                                            Int2 w = vload<2>(moved, i);
                                            vstore(w.yx * 10, moved, i);
                                            vstore(vload<8>(h, i), from_half, i);
                                            vstore(v, shared, local_id(0));
                                            local_barrier();
                                            Array<float, 16> own;
                                            vstore(Float4(vload<2>(shared, local_id(0)), 0.f, 7.f), own, 3);
                                            from_own[i] = Float4(own[15], own[12], own[13], own[11]);
                                        });
    auto random = seeded_random();
    host_array<float> a(3 * vector_items);
    for (float& x : a) x = std::uniform_real_distribution<float>(-5, 5)(random);
    host_array<half> h(8 * vector_items);
    for (half& x : h) x = half(std::uniform_real_distribution<float>(-5, 5)(random));
    host_array<std::int32_t> before(2 * vector_items + 1);
    for (std::int32_t& x : before) x = static_cast<std::int32_t>(random() % 1000);
    on_all_devices([&](const device& on) {
        auto ints = on.mixed_buffer<std::int32_t>(2 * vector_items + 1);
        ints.write(std::span<const std::int32_t>(before));
        auto out = on.out_buffer<float>(3 * vector_items);
        auto from_half = on.out_buffer<float>(8 * vector_items);
        auto from_own = on.out_buffer<float4>(vector_items);
        on.execute(kernel(in(on, a), in(on, h), ints, out, from_half, balm::local<float>(48), from_own),
                   {vector_items}, {16});
        const auto got = out.read(), got_half = from_half.read();
        const auto got_ints = ints.read();
        const auto got_own = from_own.read();
        EXPECT_EQ(got_ints[0], before[0]);
        for (std::size_t i = 0; i < vector_items; ++i) {
            for (std::size_t k = 0; k < 3; ++k)
                ASSERT_EQ(got[3 * i + k], a[3 * i + 2 - k] + static_cast<float>(3 * (i % 2) + k + 1)) << i;
            for (std::size_t k = 0; k < 2; ++k)
                ASSERT_EQ(got_ints[2 * i + 1 + k], 10 * before[2 * i + 2 - k]) << i;
            for (std::size_t k = 0; k < 8; ++k)
                ASSERT_EQ(got_half[8 * i + k], static_cast<float>(h[8 * i + k])) << i;
            const std::size_t first = i / 16 * 48 + i % 16 * 2;  // where the group's memory has its two
            ASSERT_EQ(got_own[i], (float4{{7, a[first], a[first + 1], 0}})) << i;
        }
    });
}

TEST(C10_vector_builtins_of_scalars, count_for_all_lanes) {
    const auto kernel =
        balm::kernel<1>("mixed_operands", [](In<float4> a, In<float4> b, Out<float4> out, Out<int4> ints) {
            Index i = global_id(0);
            Float4 v = a[i], w = b[i];
            Float s = v.x;
            out[12 * i] = clamp(v, 0.f, 1.f);
            out[12 * i + 1] = clamp(v, -s, s);
            out[12 * i + 2] = mix(v, w, 0.25f);
            out[12 * i + 3] = mix(v, w, s);
            out[12 * i + 4] = step(0.5f, v);
            out[12 * i + 5] = smoothstep(0.f, 2.f, v);
            out[12 * i + 6] = max(v, 0);
            out[12 * i + 7] = min(w, s);
            out[12 * i + 8] = fmax(v, 1.f) + fmin(v, s);
            out[12 * i + 9] = ldexp(v, 3);
            out[12 * i + 10] = pown(v, 2);
            out[12 * i + 11] = Float4(fast_length(v), fast_distance(v, w), fast_normalize(v).yz);
            ints[i] = max(convert<int>(v), -1);
        });
    auto random = seeded_random();
    host_array<float4> a(vector_items), b(vector_items);
    for (std::size_t i = 0; i < vector_items; ++i)
        for (int k = 0; k < 4; ++k) {
            a[i][k] = std::uniform_real_distribution<float>(-3, 3)(random);
            b[i][k] = std::uniform_real_distribution<float>(-3, 3)(random);
        }
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float4>(12 * vector_items);
        auto ints = on.out_buffer<int4>(vector_items);
        on.execute(kernel(in(on, a), in(on, b), out, ints), {vector_items});
        const auto got = out.read();
        const auto got_ints = ints.read();
        for (std::size_t i = 0; i < vector_items; ++i) {
            double length = 0, distance = 0;
            for (int k = 0; k < 4; ++k) {
                length += double{a[i][k]} * a[i][k];
                distance += (double{a[i][k]} - b[i][k]) * (double{a[i][k]} - b[i][k]);
            }
            length = std::sqrt(length);
            for (int k = 0; k < 4; ++k) {
                const float x = a[i][k], y = b[i][k], s = a[i].x;
                const double t = std::clamp(x / 2.0, 0.0, 1.0);
                const double wanted[] = {std::clamp(x, 0.f, 1.f),
                                         std::min(std::max(x, -s), s),
                                         std::fma(y - x, 0.25f, x),
                                         std::fma(y - x, s, x),
                                         x < 0.5f ? 0.0 : 1.0,
                                         t * t * (3 - 2 * t),
                                         std::max(x, 0.f),
                                         std::min(y, s),
                                         std::max(x, 1.f) + std::min(x, s),
                                         8.0 * x,
                                         double{x} * x,
                                         k == 0   ? length
                                         : k == 1 ? std::sqrt(distance)
                                                  : a[i][k - 1] / length};
                for (std::size_t w = 0; w < 12; ++w)
                    ASSERT_NEAR(got[12 * i + w][k], wanted[w], 2e-6 * (1 + std::abs(wanted[w])))
                        << "result " << w << ", lane " << k << " of " << x << ", " << y << ", " << s;
                ASSERT_EQ(got_ints[i][k], std::max(static_cast<int>(x), -1));
            }
        }
    });
}

TEST(C10_vector_parts, are_those_of_the_lanes) {
    const auto kernel =
        balm::kernel<1>("parts", [](In<float4> a, In<float4> b, Out<float4> out, Out<int4> ints) {
            Index i = global_id(0);
            auto [mantissa, exponent] = frexp(a[i]);
            auto [fraction, whole] = modf(a[i]);
            auto [above, below] = fract_floor(a[i]);
            auto [rest, quotient] = remquo(a[i], b[i]);
            auto [half_rest, half_quotient] = remquo(a[i], 0.5f);
            auto [s, c] = sincos(a[i]);
            auto [value, sign] = lgamma_r(a[i]);
            out[6 * i] = ldexp(mantissa, exponent);
            out[6 * i + 1] = fraction + whole;
            out[6 * i + 2] = above + below;
            out[6 * i + 3] = rest;
            out[6 * i + 4] = s * s + c * c;
            out[6 * i + 5] = value + half_rest;
            ints[3 * i] = exponent;
            ints[3 * i + 1] = quotient + half_quotient;
            ints[3 * i + 2] = sign;
        });
    auto random = seeded_random();
    host_array<float4> a(vector_items), b(vector_items);
    for (std::size_t i = 0; i < vector_items; ++i)
        for (int k = 0; k < 4; ++k) {
            a[i][k] = std::uniform_real_distribution<float>(0.1f, 9)(random) * (random() % 2 ? 1.f : -1.f);
            b[i][k] = std::uniform_real_distribution<float>(0.5f, 2)(random);
        }
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float4>(6 * vector_items);
        auto ints = on.out_buffer<int4>(3 * vector_items);
        on.execute(kernel(in(on, a), in(on, b), out, ints), {vector_items});
        const auto got = out.read();
        const auto got_ints = ints.read();
        for (std::size_t i = 0; i < vector_items; ++i)
            for (int k = 0; k < 4; ++k) {
                const float x = a[i][k], y = b[i][k];
                int exponent = 0;
                std::frexp(x, &exponent);
                const float rest = std::remainder(x, y), half_rest = std::remainder(x, 0.5f);
                // of more bits than C's remquo gives
                const auto quotient = std::lround((x - rest) / y),
                           half_quotient = std::lround((x - half_rest) * 2);
                ASSERT_EQ(got[6 * i][k], x);
                ASSERT_EQ(got[6 * i + 1][k], x);
                ASSERT_NEAR(got[6 * i + 2][k], x, 1e-6);
                ASSERT_EQ(got[6 * i + 3][k], rest);
                ASSERT_NEAR(got[6 * i + 4][k], 1, 1e-6);
                ASSERT_NEAR(got[6 * i + 5][k], std::lgamma(x) + half_rest, 2e-5);
                ASSERT_EQ(got_ints[3 * i][k], exponent);
                ASSERT_EQ(got_ints[3 * i + 1][k], quotient + half_quotient);
                ASSERT_EQ(got_ints[3 * i + 2][k], x < 0 && static_cast<int>(std::floor(x)) % 2 != 0 ? -1 : 1);
            }
    });
}

}  // namespace
}  // namespace balm::test

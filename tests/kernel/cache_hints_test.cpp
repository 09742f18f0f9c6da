// Streaming access and prefetches: the same results as plain access, for every type of element.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emit/printer.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const ir::function& f, dialect language) {
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(f, {});
    return emit::print(ir::lower(f, {}).kernel, language);
}

/// Copies backwards in streams, with a prefetch of an element that may not exist.
template <class T>
auto reversed() {
    return balm::kernel<1>("reversed(n, x, y)", [](Index n, In<T> x, Out<T> y) {
        for (Index i : grid_range(n)) {
            prefetch(x, 3 * i - 5);
            as_streaming(y)[n - 1 - i] = as_streaming(x)[i];
        }
    });
}

template <class T>
T drawn(std::mt19937_64& random) {
    if constexpr (requires(T v) { v[0]; }) {
        T vector{};
        for (int k = 0; k < balm::detail::lanes_of<T>; ++k)
            vector[k] = drawn<std::remove_cvref_t<decltype(vector[0])>>(random);
        return vector;
    } else {
        return static_cast<T>(static_cast<float>(random() % 100));
    }
}

template <class T>
class A2_cache_hints_of : public testing::Test {};
using streamed_types =
    testing::Types<bool, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, half, float, double, char2,
                   uchar16, ushort4, int3, half8, float2, float4, float16, double2, double3, double16>;
TYPED_TEST_SUITE(A2_cache_hints_of, streamed_types);

TYPED_TEST(A2_cache_hints_of, streaming_copies_every_element) {
    const auto kernel = reversed<TypeParam>();
    std::mt19937_64 random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t n : {1u, 37u, 1000u}) {
            host_array<TypeParam> values(n);
            for (TypeParam& each : values) each = drawn<TypeParam>(random);
            auto out = on.out_buffer<TypeParam>(n);
            on.execute(kernel(static_cast<std::int64_t>(n), in(on, values), out), {n});
            const auto got = out.read();
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], values[n - 1 - i]) << i << " of " << n;
        }
    });
}

TEST(A2_cache_hints, are_printed_as_each_language_has_them) {
    const auto kernel = balm::kernel<1>("hints(x, y, z)", [](In<float> x, Out<float> y, Mixed<float4> z) {
        Int i = cast<int>(global_id(0));
        prefetch(x, i + 8);
        as_streaming(y)[i] = as_streaming(x.data() + 1)[i];
        as_streaming(z)[i] = as_streaming(z)[i + 1] * 2.f;
    });
    const std::string cuda = text_of(*kernel.function(), dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("    balm_prefetch(&x[t + 8]);\n"
                                "    balm_stream_f32(&y[t], balm_stream_in_f32(&(x + 1)[t]));\n"));
    EXPECT_THAT(cuda,
                HasSubstr("balm_stream_f32x4(&z[t], balm_stream_in_f32x4(&z[t + 1]) * balm_float4(2.0f));"));
    const std::string opencl = text_of(*kernel.function(), dialect::opencl_c);
    EXPECT_THAT(opencl, HasSubstr("    balm_prefetch(&x[t + 8]);\n"));
    EXPECT_THAT(opencl, HasSubstr("balm_stream_f32x4(&z[t], z[t + 1] * (float4)(2.0f));"));
    EXPECT_THAT(opencl, Not(HasSubstr("balm_stream_f32(")))
        << "CPUs have no vector instruction for stores of 4 bytes";
    EXPECT_THAT(text_of(*kernel.function(), dialect::opencl_ptx), Not(HasSubstr("balm_stream")));
}

TEST(A2_cache_hints, stay_with_the_vectors_of_a_work_item) {
    const auto kernel = balm::kernel<1>("twice(n, x, y)", [](Index n, In<float> x, Out<float> y) {
        for (Index i : grid_range(n)) as_streaming(y)[i] = as_streaming(x)[i] * 2.f;
    });
    ir::launch_facts facts;
    facts.grid_covers_loop = facts.distinct = true;
    const std::string cuda = emit::print(ir::lower(*kernel.function(), facts).kernel, dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("balm_stream_in_f32x4("));
    EXPECT_THAT(cuda, HasSubstr("balm_stream_f32x4("));
    facts.on_cpu = true;
    EXPECT_THAT(emit::print(ir::lower(*kernel.function(), facts).kernel, dialect::opencl_c),
                HasSubstr("balm_stream_f32x16("));
}

}  // namespace

}  // namespace balm::test

// Printed kernels as a whole, in both dialects: what a person would have written. No driver is started; the
// CUDA texts are compiled where NVRTC is found.

#include "emit/printer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "balm/kernel.hpp"
#include "ir/lower/lower.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;
using testing::Not;

/// The text without the line of provenance, which names this file.
std::string text_of(const ir::function& f, dialect language, const ir::launch_facts& facts = {}) {
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(f, facts);
    const std::string text = emit::print(ir::lower(f, facts).kernel, language);
    return text.substr(text.find('\n') + 1);
}
template <class Kernel>
std::string opencl(const Kernel& k, const ir::launch_facts& facts = {}) {
    return text_of(*k.function(), dialect::opencl_c, facts);
}
template <class Kernel>
std::string cuda(const Kernel& k, const ir::launch_facts& facts = {}) {
    return text_of(*k.function(), dialect::cuda_cpp, facts);
}

TEST(EMIT_texts, of_the_matrix_product) {
    const auto mat_mult = balm::kernel<2>(
        "mat_mult(n, a, b, result)", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
            Index col = named("col", global_id(0)), row = named("row", global_id(1));
            Float value = named("value", 0.f);
            for (Int k : range(n)) value += a[row * n + k] * b[k * n + col];
            result[row * n + col] = value;
        });
    EXPECT_EQ(opencl(mat_mult), R"(#pragma OPENCL FP_CONTRACT OFF

kernel void mat_mult(
        int n,
        global const float* restrict a,
        global const float* restrict b,
        global float* restrict result) {
    float value = 0.0f;
    const long row = (long)get_global_id(1);
    const long col = (long)get_global_id(0);
    for (int k = 0; k < n; ++k) {
        value = fma(a[row * (long)n + (long)k], b[(long)(k * n) + col], value);
    }
    result[row * (long)n + col] = value;
}
)");
    EXPECT_EQ(cuda(mat_mult), R"(
extern "C" __global__ void mat_mult(
        int n,
        const float* __restrict__ a,
        const float* __restrict__ b,
        float* __restrict__ result) {
    float value = 0.0f;
    const long long row = (long long)blockIdx.y * blockDim.y + threadIdx.y;
    const long long col = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) {
        value = fmaf(a[row * (long long)n + (long long)k], b[(long long)(k * n) + col], value);
    }
    result[row * (long long)n + col] = value;
}
)");
}

TEST(EMIT_texts, of_a_kernel_for_work_groups_of_one_size) {
    const auto one = balm::kernel<2>("one(out)", [](Out<int, 2> out) { out[global_id(1)] = 1; });
    ir::launch_facts facts;
    facts.only_for = {32, 16, 1};
    EXPECT_EQ(opencl(one, facts), R"(#pragma OPENCL FP_CONTRACT OFF

kernel __attribute__((reqd_work_group_size(32, 16, 1))) void one(global int* restrict out) {
    out[(long)get_global_id(1)] = 1;
}
)");
    EXPECT_EQ(cuda(one, facts), R"(
extern "C" __global__ __launch_bounds__(512) void one(int* __restrict__ out) {
    out[(long long)blockIdx.y * blockDim.y + threadIdx.y] = 1;
}
)");
}

TEST(EMIT_texts, of_a_loop_unrolled_by_the_trace) {
    const auto tiles =
        balm::kernel<2>("tiles(n, a, result)", [](Int n, In<float, 2> a, Out<float, 2> result) {
            LocalArray<float, 2, 2> tile;
            Int x = named("x", cast<int>(local_id(0))), row = named("row", cast<int>(global_id(1)));
            Float value = named("value", 0.f);
            for (Int begin : named("begin", range(0, n, 2))) {
                tile[cast<int>(local_id(1))][x] = a[row * n + begin + x];
                local_barrier();
                for (int k = 0; k < 2; ++k) value += tile[x][k] * tile[k][x];
            }
            result[row * n + x] = value;
        });
    EXPECT_EQ(cuda(tiles), R"(
static __device__ inline unsigned int balm_turns_i32(int from, int to, int step) {
    if (step < 0) return from > to ? ((unsigned int)from - (unsigned int)to - 1) / (0 - (unsigned int)step) + 1 : 0;
    return step > 0 && from < to ? ((unsigned int)to - (unsigned int)from - 1) / (unsigned int)step + 1 : 0;
}

extern "C" __global__ void tiles(int n, const float* __restrict__ a, float* result) {
    __shared__ float values[4];
    float value = 0.0f;
    const int x = (int)threadIdx.x;
    const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    int begin = 0;
    unsigned int turns = balm_turns_i32(begin, n, 2);
    if (turns > 0) do {
        values[(int)threadIdx.y * 2 + x] = a[row * n + begin + x];
        __syncthreads();
        const int t = x * 2;
        value = fmaf(values[t + 1], values[2 + x], fmaf(values[t], values[x], value));
    } while (--turns > 0 && (begin += 2, true));
    result[row * n + x] = value;
}
)");
}

TEST(EMIT_texts, of_the_reduction) {
    const auto reduce =
        balm::kernel<1>("reduce(input, partial, sums)",
                        [](In<std::int64_t> input, Out<std::int64_t> partial, Local<std::int64_t> sums) {
                            Index i = named("i", local_id(0));
                            sums[i] = input[global_id(0)];
                            Index stride = named("stride", local_size(0) / 2);
                            WHILE (stride > 0) {
                                barrier();
                                IF (i < stride) {
                                    sums[i] += sums[i + stride];
                                }
                                stride /= 2;
                            }
                            IF (i == 0) {
                                partial[group_id(0)] = sums[0];
                            }
                        });
    EXPECT_EQ(opencl(reduce), R"(#pragma OPENCL FP_CONTRACT OFF

kernel void reduce(global const long* restrict input, global long* partial, local long* sums) {
    const long i = (long)get_local_id(0);
    sums[i] = input[(long)get_global_id(0)];
    long stride = (long)get_local_size(0) / 2;
    while (stride > 0) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (i < stride) {
            sums[i] += sums[i + stride];
        }
        stride /= 2;
    }
    if (i == 0) {
        partial[(long)get_group_id(0)] = sums[0];
    }
}
)");
    EXPECT_EQ(cuda(reduce), R"(
extern "C" __global__ void reduce(
        const long long* __restrict__ input,
        long long* partial,
        unsigned int sums_offset) {
    extern __shared__ __align__(128) unsigned char balm_local[];
    long long* sums = (long long*)(balm_local + sums_offset);
    const long long i = (long long)threadIdx.x;
    sums[i] = input[(long long)blockIdx.x * blockDim.x + threadIdx.x];
    long long stride = (long long)blockDim.x / 2;
    while (stride > 0) {
        __syncthreads();
        if (i < stride) {
            sums[i] += sums[i + stride];
        }
        stride /= 2;
    }
    if (i == 0) {
        partial[(long long)blockIdx.x] = sums[0];
    }
}
)");
}

TEST(EMIT_texts, of_chains_and_functions) {
    const auto clamp01 =
        balm::function("clamp01(x)", [](Double x) { return select(x > 1, 1.0, fmax(x, 0)); });
    const auto grade = balm::kernel<1>("grade(x, out)", [&](In<double> x, Out<std::int32_t> out) {
        Index i = named("i", global_id(0));
        Double value = named("value", clamp01(x[i]));
        IF (value > 0.75) {
            out[i] = 3;
        }
        ELIF (value > 0.5 && x[i + 1] > 0.5) {
            out[i] = 2;
        }
        ELIF (value > 0.25) {
            out[i] = 1;
        }
        ELSE { out[i] = -1; }
    });
    EXPECT_EQ(opencl(grade), R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

static inline __attribute__((always_inline)) double clamp01(double x) {
    return x > 1.0 ? 1.0 : fmax(x, 0.0);
}

kernel void grade(global const double* restrict x, global int* restrict out) {
    const long i = (long)get_global_id(0);
    const double value = clamp01(x[i]);
    if (value > 0.75) {
        out[i] = 3;
    } else if (value > 0.5 && x[i + 1] > 0.5) {
        out[i] = 2;
    } else if (value > 0.25) {
        out[i] = 1;
    } else {
        out[i] = -1;
    }
}
)");
    EXPECT_THAT(cuda(grade), HasSubstr("static __device__ inline double clamp01(double x) {"));
}

TEST(EMIT_texts, of_conversions_and_an_offset) {
    const auto kernel =
        balm::kernel<1>("convert(in, bits, out)", [](In<std::int64_t> in, In<float> bits, Out<float> out) {
            Index i = named("i", global_id(0));
            out[i] = convert<float, rounding::down>(in[i]) +
                     bit_cast<float>(bit_cast<int>(bits[i]) & 0x7fffffff) + half_exp(bits[i]);
        });
    balm::ir::launch_facts facts;
    facts.grid.is_offset = true;
    EXPECT_EQ(opencl(kernel, facts), R"(#pragma OPENCL FP_CONTRACT OFF

kernel void convert(
        global const long* restrict in,
        global const float* restrict bits,
        global float* restrict out,
        long offset) {
    const long i = (long)get_global_id(0) + offset;
    const float bits_i = bits[i];
    out[i] = convert_float_rtn(in[i]) + as_float(as_int(bits_i) & 2147483647) + half_exp(bits_i);
}
)");
    EXPECT_EQ(cuda(kernel), R"(
extern "C" __global__ void convert(
        const long long* __restrict__ in,
        const float* __restrict__ bits,
        float* __restrict__ out) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const float bits_i = bits[i];
    out[i] = __ll2float_rd(in[i]) + __int_as_float(__float_as_int(bits_i) & 2147483647) + __expf(bits_i);
}
)");
}

TEST(EMIT_texts, of_memory_that_begins_within_an_allocation) {
    const auto scale = balm::kernel<1>("scale(factor, in, in_offset, out)",
                                       [](Float factor, In<float> in, Int in_offset, Out<float4> out) {
                                           out[global_id(0)] = Float4(factor * in[in_offset]);
                                       });
    ir::launch_facts facts;
    facts.is_shifted = true;
    EXPECT_EQ(opencl(scale, facts), R"(#pragma OPENCL FP_CONTRACT OFF

kernel void scale(
        float factor,
        global const float* restrict in_memory,
        long in_offset,
        int in_offset2,
        global float4* restrict out_memory,
        long out_offset) {
    global const float* restrict in = (global const float*)((global const uchar*)in_memory + in_offset);
    global float4* restrict out = (global float4*)((global uchar*)out_memory + out_offset);
    out[(long)get_global_id(0)] = (float4)(factor * in[in_offset2]);
}
)");
    static_cast<void>(cuda(scale, facts));  // compiles
}

TEST(EMIT_literals, have_their_type_and_sign) {
    const auto constants = balm::kernel<1>(
        "constants(a, b, c, d, e)",
        [](Out<std::int32_t> a, Out<std::int64_t> b, Out<std::uint64_t> c, Out<float> d, Out<double> e) {
            a[0] = std::numeric_limits<std::int32_t>::min();
            a[1] = -5;
            b[0] = std::numeric_limits<std::int64_t>::min();
            b[1] = -1;
            c[0] = std::numeric_limits<std::uint64_t>::max();
            d[0] = std::numeric_limits<float>::infinity();
            d[1] = std::numeric_limits<float>::quiet_NaN();
            d[2] = -0.f;
            d[3] = 1e22f;
            d[4] = std::numeric_limits<float>::denorm_min();
            e[0] = -std::numeric_limits<double>::infinity();
            e[1] = 0.1;
            e[2] = 3;
        });
    const std::string cl = opencl(constants), cu = cuda(constants);
    for (const char* line :
         {"a[0] = (-2147483647 - 1);", "a[1] = -5;", "b[0] = (-9223372036854775807L - 1);", "b[1] = -1L;",
          "c[0] = 18446744073709551615uL;", "d[0] = as_float(0x7f800000u);", "d[1] = as_float(0x7fc00000u);",
          "d[2] = -0.0f;", "d[3] = 1e+22f;", "d[4] = 1e-45f;", "e[0] = as_double(0xfff0000000000000UL);",
          "e[1] = 0.1;", "e[2] = 3.0;"})
        EXPECT_THAT(cl, HasSubstr(line));
    for (const char* line : {"b[0] = (-9223372036854775807LL - 1);", "d[0] = __int_as_float(0x7f800000);",
                             "e[0] = __longlong_as_double(0xfff0000000000000LL);"})
        EXPECT_THAT(cu, HasSubstr(line));
}

TEST(EMIT_operators, bind_as_recorded) {
    const auto kernel =
        balm::kernel<1>("bind(x, y, u, out)", [](Int x, Int y, UInt u, Out<std::int32_t> out) {
            out[0] = x - (y - x);
            out[1] = (x + y) * -x;
            out[2] = -(-y);
            out[3] = (x & y) | (x ^ 5);
            out[4] = ~(x + 1);
            out[5] = select(x > y, 1, 2) + 3;
            out[6] = x - -7;
            out[7] = cast<int>(abs(u + 3u) * 5u);
            out[8] = x * (y * x);
        });
    const std::string text = opencl(kernel);
    for (const char* line :
         {"out[0] = x - (y - x);", "out[1] = (x + y) * -x;", "out[2] = -(-y);", "out[3] = (x & y) | (x ^ 5);",
          "out[4] = ~(x + 1);", "out[5] = (x > y ? 1 : 2) + 3;", "out[6] = x - -7;",
          "out[7] = (int)((u + 3u) * 5u);", "out[8] = x * (y * x);"})
        EXPECT_THAT(text, HasSubstr(line));
    cuda(kernel);
}

TEST(EMIT_operators, load_in_the_order_of_the_program) {
    const auto kernel = balm::kernel<1>("rows(a, w, x, y, out)",
                                        [](Float a, Float w, In<float> x, In<float> y, Out<float> out) {
                                            Float sum = a * (x[0] + x[1]);
                                            sum = w * (y[0] + y[1]) + sum;
                                            out[0] = sum;
                                            Float difference = a * x[2];
                                            out[1] = w * y[2] + difference;
                                        });
    const std::string cu = cuda(kernel);
    EXPECT_THAT(cu, HasSubstr("const float t = a * (x[0] + x[1]);\n    out[0] = fmaf(w, y[0] + y[1], t);"));
    EXPECT_THAT(cu, HasSubstr("out[1] = fmaf(w, y[2], a * x[2]);")) << "parts of one load stay together";
}

TEST(EMIT_operators, guard_divisions_and_mask_shifts) {
    const auto kernel =
        balm::kernel<1>("guards(x, y, z, out)", [](Int x, Int y, Long z, Mixed<std::int32_t> out) {
            out[0] = x / y;
            out[1] = x % 7;
            out[2] = x / -1;
            out[3] = x << y;
            out[4] = x >> 3;
            Int v = out[9];
            WHILE (v < 100) {
                v <<= y;
            }
            out[5] = v;
            out[6] <<= y;
            out[7] = cast<int>(z >> x);
        });
    const std::string cl = opencl(kernel), cu = cuda(kernel);
    for (const char* part :
         {"balm_div_i32(x, y)", "x % 7", "balm_div_i32(x, -1)", "x << y", "x >> 3", "v <<= y;", "z >> x"})
        EXPECT_THAT(cl, HasSubstr(part));
    for (const char* part :
         {"x << (y & 31)", "x >> 3", "v = v << (y & 31);", "out[6] = out[6] << (y & 31);", "z >> (x & 63)"})
        EXPECT_THAT(cu, HasSubstr(part));
}

TEST(EMIT_operators, step_is_a_comparison) {
    const auto kernel = balm::kernel<1>("edges", [](Float x, Out<float> out, Out<balm::float4> lanes) {
        out[0] = step(x, x * x);
        lanes[0] = step(Float4(x), Float4(1.f));
    });
    const std::string cl = opencl(kernel), cu = cuda(kernel);
    EXPECT_THAT(cl, HasSubstr("return x < edge ? 0.0f : 1.0f;"));
    EXPECT_THAT(cl, HasSubstr("return select((float4)1, (float4)0, x < edge);"));
    EXPECT_THAT(cl, Not(testing::ContainsRegex("[^_]step\\(")));
    EXPECT_THAT(cu, HasSubstr("return x < edge ? 0.0f : 1.0f;"));
}

TEST(EMIT_names, avoid_what_the_dialects_reserve) {
    const auto kernel = balm::kernel<1>("kernel(float, threadIdx, sin, balm_local, int2, x)",
                                        [](Int a, Int b, In<std::int32_t> c, Local<std::int32_t> d,
                                           Out<std::int32_t> e, Mixed<std::int32_t> f) {
                                            d[0] = a + b;
                                            barrier();
                                            e[0] = c[0] + d[0];
                                            f[0] = 1;
                                        });
    const std::string text = opencl(kernel);
    EXPECT_THAT(text, HasSubstr("kernel void kernel_("));
    EXPECT_THAT(text, HasSubstr("int float_,"));
    EXPECT_THAT(text, Not(testing::ContainsRegex(" sin[^_]")));
    EXPECT_EQ(
        emit::print_program(*kernel.function(), emit::dialect_of(runtime::dialect::opencl_c)).kernel_name,
        "kernel_");
    cuda(kernel);
}

TEST(EMIT_names, end_where_a_prefix_is_reserved) {
    const auto kernel = balm::kernel<1>("get_value(as_is)", [](Out<std::int32_t> out) { out[0] = 1; });
    EXPECT_THAT(opencl(kernel), HasSubstr("the_get_value(global int* restrict the_as_is)"));
    cuda(kernel);
}

TEST(EMIT_names, tell_where_a_program_comes_from) {
    const auto kernel = balm::kernel<1>("origin", [](Out<std::int32_t> out) { out[0] = 1; });
    const std::string text = emit::print(ir::lower(*kernel.function(), {}).kernel, dialect::opencl_c);
    EXPECT_THAT(text, testing::StartsWith("// origin, from " __FILE__ ":"));
}

TEST(EMIT_loops, read_like_cpp) {
    const auto kernel = balm::kernel<1>("loops(n, s, out)", [](Int n, Int s, Out<std::int32_t> out) {
        for (Int k : range(10, n, -1)) out[k] = 1;
        for (Int k : range(0, n, 4)) out[k] = 2;
        for (Int k : range(0, n, s)) out[k] = 3;
        for (Long k : range(cast<long>(n))) out[k] = 4;
        // A group's size is not negative, also as an int.
        for (Int k : range(cast<int>(local_id(0)), n, cast<int>(local_size(0)))) out[k] = 5;
    });
    const std::string text = opencl(kernel);
    for (const char* line :
         {"for (int k = 10; k > n; --k) {",
          "    int k2 = 0;\n    uint turns = balm_turns_i32(k2, n, 4);\n    if (turns > 0) do {\n        "
          "out[k2] = 2;\n"
          "    } while (--turns > 0 && (k2 += 4, true));\n",
          "uint turns2 = balm_turns_i32(k3, n, s);", "} while (--turns2 > 0 && (k3 += s, true));",
          "for (long k4 = 0; k4 < ", "uint turns3 = balm_turns_i32(k5, n, t2);"})
        EXPECT_THAT(text, HasSubstr(line));
    cuda(kernel);
}

TEST(EMIT_loops, call_their_variables_as_the_user_does) {
    const auto kernel = balm::kernel<1>("rows(n, x, out)", [](Int n, In<float> x, Out<float> out) {
        for (Int row : named("row", range(n)))
            for (Int column : named("column", range(row, n, 2))) {
                out[row * n + column] = x[row] * x[column];
            }
        for (Int left : named("left", range(n))) {
            IF (x[left] > 0.f) {
                left += 3;
            }
            out[left] = x[left];
        }
    });
    const std::string text = opencl(kernel);
    for (const char* line : {"for (int row = 0; row < n; ++row) {", "int column = row;",
                             "uint turns = balm_turns_i32(column, n, 2);", "x[row] * x[column]",
                             "for (int left = 0; left < n; ++left) {", "int left2 = left;"})
        EXPECT_THAT(text, HasSubstr(line));
    cuda(kernel);
    const auto walk = balm::kernel<1>("walk(n, out)", [](Int n, Out<float> out) {
        for (Index cell : named("cell", grid_range(n))) {
            IF (cell != 5) {
                out[cell] = 1.f;
            }
        }
    });
    for (const bool covers : {false, true})
        for (const bool on_cpu : {false, true})
            EXPECT_THAT(opencl(walk, {on_cpu, true, covers}), HasSubstr("out[cell] = ")) << covers << on_cpu;
}

}  // namespace
}  // namespace balm::test

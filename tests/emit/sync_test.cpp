// How synchronisation is spelt in portable OpenCL C, in NVIDIA's OpenCL C with PTX, and in CUDA C++.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/sub_groups.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;
using testing::Not;

/// What lets NVRTC read the OpenCL C of these tests, so that its assembler judges the PTX in it.
constexpr const char* as_cuda = R"(
#define kernel extern "C" __global__
#define global
#define local
#define restrict __restrict__
typedef unsigned int uint;
typedef unsigned long ulong;
#define as_uint __float_as_uint
#define as_float __uint_as_float
#define as_ulong(x) (ulong)__double_as_longlong(x)
#define as_double(x) __longlong_as_double((long long)(x))
#define get_local_id(d) (size_t)(d == 0 ? threadIdx.x : d == 1 ? threadIdx.y : threadIdx.z)
#define get_local_size(d) (size_t)(d == 0 ? blockDim.x : d == 1 ? blockDim.y : blockDim.z)
#define get_group_id(d) (size_t)(d == 0 ? blockIdx.x : d == 1 ? blockIdx.y : blockIdx.z)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
__device__ uint atomic_cmpxchg(volatile uint* p, uint expected, uint value) {
    return atomicCAS((uint*)p, expected, value);
}
)";

template <class Kernel>
std::string written_out(const Kernel& k, dialect language) {
    const ir::function written = kernels::write_out_sub_groups(*k.function(), emit::dialect_of(language).has);
    const std::string text = emit::print(ir::lower(written, {}).kernel, language);
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(text);
    if (language == dialect::opencl_ptx) also_compile_with_nvrtc(as_cuda + text);
    return text.substr(text.find('\n') + 1);
}

TEST(A4_atomics, are_the_functions_of_the_dialect_where_it_has_them) {
    const auto kernel = balm::kernel<1>("count(bytes, counts, wide)",
                                        [](In<unsigned char> bytes, Mixed<int> counts, Mixed<long> wide) {
                                            Index i = global_id(0);
                                            atomic_add(counts[bytes[i]], 1);
                                            Long old = named("before", atomic_max(wide[0], i));
                                            wide[i] = old;
                                        });
    EXPECT_EQ(written_out(kernel, dialect::opencl_c),
              R"(#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

kernel void count(global const uchar* restrict bytes, global int* counts, global long* wide) {
    const long gid = (long)get_global_id(0);
    atomic_add(&counts[bytes[gid]], 1);
    const long before = atom_max(&wide[0], gid);
    wide[gid] = before;
}
)");
    EXPECT_EQ(written_out(kernel, dialect::cuda_cpp), R"(
extern "C" __global__ void count(const unsigned char* __restrict__ bytes, int* counts, long long* wide) {
    const long long gid = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counts[bytes[gid]], 1);
    const long long before = atomicMax(&wide[0], gid);
    wide[gid] = before;
}
)");
}

TEST(A4_atomics, of_floats_are_loops_in_OpenCL_one_function_a_memory) {
    const auto kernel =
        balm::kernel<1>("total(in, sum, part)", [](In<float> in, Mixed<float> sum, Local<float> part) {
            atomic_add(part[0], in[local_id(0)]);
            atomic_add(sum[0], in[global_id(0)]);
        });
    const std::string portable = written_out(kernel, dialect::opencl_c);
    EXPECT_THAT(portable, HasSubstr(R"(
static inline float balm_atomic_add_f32_global(volatile global float* p, float value) {
    volatile global uint* word = (volatile global uint*)p;
    uint seen = *word, held;
    do {
        held = seen;
        const float old = as_float(held);
        seen = atomic_cmpxchg(word, held, as_uint(old + value));
    } while (seen != held);
    return as_float(held);
}
)"));
    EXPECT_THAT(portable, HasSubstr("float balm_atomic_add_f32_local(volatile local float* p, float value)"));
    EXPECT_THAT(portable, HasSubstr("    balm_atomic_add_f32_local(&part[0], in["));
    EXPECT_THAT(portable, Not(HasSubstr("asm")));
    const std::string nvidia = written_out(kernel, dialect::opencl_ptx);
    EXPECT_THAT(nvidia, HasSubstr(R"(
    asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(p), "f"(value) : "memory");
)"));
    EXPECT_THAT(nvidia, HasSubstr(R"(
    asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(p), "f"(value) : "memory");
)"));
    const std::string cuda = written_out(kernel, dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("    atomicAdd(&sum[0], in["));
    EXPECT_THAT(cuda, Not(HasSubstr("balm_atomic")));
}

TEST(A4_atomics, of_min_and_max_leave_the_element_to_the_better_value) {
    const auto kernel = balm::kernel<1>("least(x)", [](Mixed<double> x) { atomic_min(x[0], x[1]); });
    EXPECT_THAT(written_out(kernel, dialect::opencl_c),
                HasSubstr("        if (!(value < old || old != old)) return old;\n"
                          "        seen = atom_cmpxchg(word, held, as_ulong(value));\n"));
    EXPECT_THAT(written_out(kernel, dialect::cuda_cpp), HasSubstr("balm_atomic_min_f64(&x[0], x[1]);"));
}

TEST(A4_atomics, loads_and_stores_are_volatile_accesses) {
    const auto kernel = balm::kernel<1>(
        "copy(x)", [](Mixed<long> x) { atomic_store_release(x[1], atomic_load_acquire(x[0])); });
    EXPECT_EQ(written_out(kernel, dialect::opencl_c), R"(#pragma OPENCL FP_CONTRACT OFF

static inline long balm_atomic_load_i64_global(volatile global long* p) {
    return *p;
}

static inline void balm_atomic_store_i64_global(volatile global long* p, long value) {
    *p = value;
}

kernel void copy(global long* x) {
    const long old = balm_atomic_load_i64_global(&x[0]);
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    balm_atomic_store_i64_global(&x[1], old);
}
)");
    EXPECT_THAT(written_out(kernel, dialect::cuda_cpp), HasSubstr("    return *(volatile long long*)p;\n"));
    EXPECT_THAT(written_out(kernel, dialect::opencl_ptx), HasSubstr("membar.gl"));
}

TEST(A4_fences, are_spelt_by_their_scope) {
    const auto kernel = balm::kernel<1>("fences(x)", [](Mixed<int> x) {
        x[0] = 1;
        group_fence();
        x[1] = 2;
        device_fence();
        x[2] = 3;
        system_fence();
        x[3] = 4;
    });
    EXPECT_EQ(written_out(kernel, dialect::opencl_c), R"(#pragma OPENCL FP_CONTRACT OFF

kernel void fences(global int* x) {
    x[0] = 1;
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x[1] = 2;
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x[2] = 3;
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    x[3] = 4;
}
)");
    const std::string nvidia = written_out(kernel, dialect::opencl_ptx);
    for (const char* scope : {"cta", "gl", "sys"})
        EXPECT_THAT(nvidia,
                    HasSubstr(std::string("    asm volatile(\"membar.") + scope + ";\" : : : \"memory\");"));
    EXPECT_EQ(written_out(kernel, dialect::cuda_cpp), R"(
extern "C" __global__ void fences(int* x) {
    x[0] = 1;
    __threadfence_block();
    x[1] = 2;
    __threadfence();
    x[2] = 3;
    __threadfence_system();
    x[3] = 4;
}
)");
}

TEST(A4_fences, keep_loads_on_their_side) {
    const auto kernel = balm::kernel<1>("reload(x, out)", [](Mixed<int> x, Out<int> out) {
        Int before = x[0];
        device_fence();
        out[0] = before + x[0];
    });
    EXPECT_THAT(written_out(kernel, dialect::cuda_cpp), HasSubstr("    const int x_i = x[0];\n"
                                                                  "    __threadfence();\n"
                                                                  "    out[0] = x_i + x[0];\n"));
}

auto votes_and_shuffles() {
    return balm::kernel<1>("lanes(in, out)", [](In<float> in, Mixed<unsigned> out) {
        Index i = global_id(0);
        Float x = named("x", in[i]);
        UInt positive = named("positive", ballot(x > 0.f));
        Int all = named("all_positive", barrier_count(x > 0.f));
        sub_group_barrier();
        Double wide = named("wide", shuffle(cast<double>(x), 7));
        Float next = named("next", shuffle_down(x, 1));
        out[i] = positive + cast<unsigned>(all) + cast<unsigned>(wide) + cast<unsigned>(next);
    });
}

TEST(A4_votes, are_functions_of_CUDA) {
    const std::string cuda = written_out(votes_and_shuffles(), dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("    const unsigned int positive = __ballot_sync(0xffffffffu, is);\n"));
    EXPECT_THAT(cuda, HasSubstr("    const int all_positive = __syncthreads_count(is);\n"));
    EXPECT_THAT(cuda, HasSubstr("    __syncwarp();\n"));
    EXPECT_THAT(cuda, HasSubstr("balm_shuffle_f64((double)x, 7, "));
}

TEST(A4_votes, are_PTX_on_NVIDIAs_OpenCL) {
    const std::string nvidia = written_out(votes_and_shuffles(), dialect::opencl_ptx);
    EXPECT_THAT(nvidia, HasSubstr(R"(
static inline uint balm_ballot(int condition) {
    uint result;
    asm volatile("{ .reg .pred holds; setp.ne.s32 holds, %1, 0; vote.sync.ballot.b32 %0, holds, 0xffffffff; }"
                 : "=r"(result) : "r"(condition));
    return result;
}
)"));
    EXPECT_THAT(nvidia, HasSubstr("bar.red.popc.u32 %0, 0, holds; }\"\n"
                                  "                 : \"=r\"(result) : \"r\"(condition) : \"memory\");"));
    EXPECT_THAT(nvidia, HasSubstr("    asm volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\");\n"));
}

TEST(A4_shuffles, are_one_instruction_for_32_bits_and_two_for_64) {
    const std::string nvidia = written_out(votes_and_shuffles(), dialect::opencl_ptx);
    EXPECT_THAT(nvidia, HasSubstr(R"(
static inline float balm_shuffle_down_f32(float value, int lane, int last) {
    uint result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, 0xffffffff;"
                 : "=r"(result) : "r"(as_uint(value)), "r"(lane), "r"(last));
    return as_float(result);
}
)"));
    EXPECT_THAT(nvidia, HasSubstr(R"(
static inline double balm_shuffle_f64(double value, int lane, int last) {
    ulong result;
    asm volatile("{ .reg .b32 low, high; mov.b64 {low, high}, %1; "
                 "shfl.sync.idx.b32 low, low, %2, %3, 0xffffffff; "
                 "shfl.sync.idx.b32 high, high, %2, %3, 0xffffffff; "
                 "mov.b64 %0, {low, high}; }"
                 : "=l"(result) : "l"(as_ulong(value)), "r"(lane), "r"(last));
    return as_double(result);
}
)"));
    const std::string cuda = written_out(votes_and_shuffles(), dialect::cuda_cpp);
    EXPECT_THAT(cuda,
                HasSubstr("static __device__ inline float balm_shuffle_down_f32(float value, int lane, "
                          "int last) {\n    unsigned int result;\n    asm volatile(\"shfl.sync.down.b32"));
}

/// Whether a kernel keeps PoCL's optimiser away. The body is given a number that all work-items share, one of
/// each work-item, a barrier, and a branch that work-items take differently.
template <class Body>
bool is_left_alone(Body&& body, bool on_cpu = true) {
    const auto kernel = balm::kernel<1>("k(flag, out)", [&](Int flag, Out<int> out) {
        const Int item = cast<int>(local_id(0));
        body(
            flag, item, [&] { local_barrier(); },
            [&] {
                IF (item % 3 == 0) {
                    out[item] = 1;
                }
            });
    });
    ir::launch_facts facts;
    facts.on_cpu = facts.loops_over_items = on_cpu;
    return !ir::lower(*kernel.function(), facts).is_optimised;
}

TEST(A4_barriers, that_groups_step_over_are_not_optimised_for_CPUs) {
    const auto in_branch = [](const Int& flag, const Int&, auto&& meet, auto&& part) {
        IF (flag > 0) {
            meet();
            part();
        }
    };
    EXPECT_TRUE(is_left_alone(in_branch));
    EXPECT_FALSE(is_left_alone(in_branch, false));
    EXPECT_TRUE(is_left_alone([](const Int& flag, const Int&, auto&& meet, auto&& part) {
        const auto met = balm::function("met(flag)", [&](Int f) {
            meet();
            return f;
        });
        part();
        Int told = 0;
        IF (flag > 0) {
            told = 1;
        }
        ELSE { told = met(flag); }
    }));
    EXPECT_TRUE(is_left_alone([](const Int& flag, const Int&, auto&& meet, auto&& part) {
        IF (flag > 0) {
            return_();
        }
        meet();
        part();
    }));
    EXPECT_TRUE(is_left_alone([](const Int& flag, const Int&, auto&& meet, auto&& part) {
        for (Int k : range(flag)) {
            IF (k == 3) {
                continue_();
            }
            meet();
            part();
        }
    }));
    // Nothing is stepped over, or nobody parts from the others, or there is no barrier.
    EXPECT_FALSE(is_left_alone([](const Int& flag, const Int& item, auto&& meet, auto&& part) {
        for (Int k : range(flag)) {
            meet();
            part();
            for (Int l : range(item)) {
                IF (l == k) {
                    break_();
                }
            }
        }
        IF (item > 7) {
            return_();
        }
    }));
    EXPECT_FALSE(is_left_alone([](const Int& flag, const Int&, auto&& meet, auto&&) {
        IF (flag > 0) {
            meet();
        }
    }));
    EXPECT_FALSE(is_left_alone([](const Int& flag, const Int&, auto&&, auto&& part) {
        IF (flag > 0) {
            part();
        }
    }));
}

TEST(A4_barriers, among_divergent_branches_are_fenced_for_PoCL) {
    const auto text_of = [](bool diverges, bool on_cpu, dialect language) {
        const auto kernel = balm::kernel<1>("k(out)", [&](Out<int> out) {
            const Int item = cast<int>(local_id(0));
            local_barrier();
            if (!diverges) {
                out[item] = 1;
                return;
            }
            IF (item % 3 == 0) {
                out[item] = 1;
            }
        });
        ir::launch_facts facts;
        facts.on_cpu = facts.loops_over_items = on_cpu;
        return emit::print(ir::lower(*kernel.function(), facts).kernel, language);
    };
    const auto is_fenced = HasSubstr("#define barrier(...) (barrier(__VA_ARGS__), balm_fenced())");
    EXPECT_THAT(text_of(true, true, dialect::opencl_c), is_fenced);
    EXPECT_THAT(text_of(false, true, dialect::opencl_c), Not(is_fenced));
    EXPECT_THAT(text_of(true, false, dialect::opencl_c), Not(is_fenced));
    EXPECT_THAT(text_of(true, true, dialect::opencl_ptx), Not(is_fenced));
}

TEST(A4_barriers, in_loops_that_compilers_make_branches_of_are_not_optimised_for_CPUs) {
    const auto counted = [](auto&& from, auto&& to, auto&& step) {
        return is_left_alone([&](const Int& flag, const Int&, auto&& meet, auto&& part) {
            for ([[maybe_unused]] Int k : range(from(flag), to(flag), step)) {
                meet();
                part();
            }
        });
    };
    const auto steered = [](int first, auto&& condition) {
        return is_left_alone([&](const Int& flag, const Int&, auto&& meet, auto&& part) {
            Int k = first;
            WHILE (condition(k, flag)) {
                meet();
                part();
                k += 1;
            }
        });
    };
    const auto number = [](int n) { return [n](const Int&) { return Int(n); }; };
    const auto flag_itself = [](const Int& flag) { return Int(flag); };
    // Few turns, nobody knows how many.
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return flag & 1; }, 1));
    EXPECT_TRUE(counted(
        number(2), [](const Int& flag) { return flag & 3; }, 1));
    EXPECT_TRUE(counted([](const Int& flag) { return flag & 3; }, number(2), 2));
    EXPECT_TRUE(counted([](const Int& flag) { return flag & 3; }, number(0), -1));
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return min(max(flag, 0), 4); }, 1));
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return select(flag > 3, Int(5), Int(0)); }, 1));
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return cast<int>(cast<unsigned>(flag) >> 30); }, 1));
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return flag % 5; }, 1));
    EXPECT_TRUE(counted(
        number(0), [](const Int& flag) { return (flag & 48) / 8 - (flag & 1); }, 1));
    EXPECT_TRUE(counted(
        number(0),
        [](const Int& flag) {
            Int n = 1;
            IF (flag > 3) {
                n = 2;
            }
            return n;
        },
        1));
    EXPECT_TRUE(steered(0, [](const Int& k, const Int& flag) { return k < 1 && flag > k; }));
    EXPECT_TRUE(steered(2, [](const Int& k, const Int& flag) { return flag > k && k <= 3; }));
    EXPECT_TRUE(steered(0, [](const Int& k, const Int& flag) { return !(k >= 2 || flag == k); }));
    EXPECT_TRUE(steered(0, [](const Int& k, const Int& flag) { return k != (flag & 3); }));
    // Many turns, or a number that is known.
    EXPECT_FALSE(counted(number(0), flag_itself, 1));
    EXPECT_FALSE(counted(flag_itself, number(1), 1));
    EXPECT_FALSE(counted(number(0), number(4), 1));
    EXPECT_FALSE(counted(
        number(0), [](const Int& flag) { return flag & 15; }, 1));
    EXPECT_FALSE(counted(
        number(0), [](const Int& flag) { return flag * 2 + (flag & 1); }, 1));
    EXPECT_FALSE(steered(0, [](const Int& k, const Int& flag) { return k < flag; }));
    EXPECT_FALSE(steered(0, [](const Int& k, const Int&) { return k < 4; }));
    EXPECT_FALSE(steered(0, [](const Int& k, const Int& flag) { return k < 1 || flag > k; }));
    // A chain as long as this one is not followed to its end.
    EXPECT_FALSE(steered(0, [](const Int& k, const Int& flag) {
        Bool all = k < 1;
        for (int n = 0; n < 20'000; ++n) all = all && flag * n != k;
        return all;
    }));
}

TEST(A4_votes, go_through_local_memory_where_there_are_no_sub_groups) {
    const std::string portable = written_out(votes_and_shuffles(), dialect::opencl_c);
    EXPECT_THAT(portable,
                HasSubstr("lanes(\n        global const float* restrict in,\n        global uint* out,\n"
                          "        local uint* exchange_u32,\n        local float* exchange_f32,\n"
                          "        local double* exchange_f64) {"));
    EXPECT_THAT(portable, HasSubstr("uint positive = emulated_ballot(exchange_u32, is);"));
    EXPECT_THAT(portable, HasSubstr("int all_positive = emulated_barrier_count(exchange_u32, is);"));
    EXPECT_THAT(portable, HasSubstr("= emulated_shuffle_down(exchange_f32, x, 1, "));
    EXPECT_THAT(portable, Not(HasSubstr("asm")));
}

TEST(G8_sub_groups, reduce_by_shuffles_or_through_local_memory) {
    const auto inner = balm::function("norm_of(x)", [](Float x) { return sub_group_reduce_add(x * x); });
    const auto kernel = balm::kernel<1>("norms(in, out)", [&](In<float> in, Out<float> out) {
        Float x = named("x", in[global_id(0)]);
        out[global_id(0)] = inner(x) + sub_group_scan_inclusive_max(x);
    });
    const std::string cuda = written_out(kernel, dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("lanes_reduce_add(float value) {"));
    EXPECT_THAT(cuda, HasSubstr("lanes_scan_inclusive_max(float value) {"));
    const std::string portable = written_out(kernel, dialect::opencl_c);
    EXPECT_THAT(portable, HasSubstr("float norm_of(float x, local float* exchange_f32) {"));
    EXPECT_THAT(portable, HasSubstr(" = norm_of(x, exchange_f32);"));
    written_out(kernel, dialect::opencl_ptx);
}

}  // namespace
}  // namespace balm::test

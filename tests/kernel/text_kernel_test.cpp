// Kernels and functions given as OpenCL C: where the text comes from, how it is bound and launched, what is
// refused.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "emit/printer.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/particle.hpp"
#include "kernel/run.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

struct named_alike {
    int y;
    float z;
};
BALM_STRUCT(named_alike, y, z)

/// A folder of files that goes with the test.
class C11_text_kernels : public testing::Test {
protected:
    C11_text_kernels()
        : folder_(fs::temp_directory_path() /
                  ("balm_texts_" + std::to_string(getpid()) + "_" +
                   testing::UnitTest::GetInstance()->current_test_info()->name())) {
        fs::create_directories(folder_ / "inner");
    }
    ~C11_text_kernels() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    std::string file(const std::string& name, const std::string& words) const {
        std::ofstream(folder_ / name, std::ios::binary) << words;
        return (folder_ / name).string();
    }
    fs::path folder_;
};

constexpr const char* scale_text = R"(
__kernel void scale(float factor, __global const float* in, __global float* out) {
    size_t i = get_global_id(0);
    out[i] = factor * in[i];
}
)";
using scale_signature = void(float, In<float>, Out<float>);

/// For kernels that no compiler takes: the tests compile for CUDA what a device compiled.
template <class Body>
void without_observer(Body&& body) {
    kernels::observe_compilations(nullptr);
    body();
    compile_kernels_with_nvrtc_again();
}

template <class Kernel>
void expect_scales(const Kernel& kernel) {
    constexpr std::size_t n = 300;
    auto random = seeded_random();
    const auto values = random_values<float>(random, n);
    on_all_devices([&](const device& on) {
        const auto got = run<float>(on, kernel, n, 2.5f, in(on, values));
        expect_each(got, [&](std::size_t i) { return 2.5f * values[i]; });
    });
}

// ---- where the text comes from ----------------------------------------------------------------------

TEST_F(C11_text_kernels, are_given_inline) {
    expect_scales(balm::source_kernel<1, scale_signature>("scale", scale_text));
}

TEST_F(C11_text_kernels, are_given_in_files) {
    expect_scales(balm::source_kernel<1, scale_signature>(
        "scale", text_source::from_files({file("scale.cl", scale_text)})));
}

TEST_F(C11_text_kernels, are_given_in_a_file_and_inline) {
    const auto library =
        text_source::from_file(file("library.cl", "float times(float a, float b) { return a * b; }"));
    expect_scales(balm::source_kernel<1, scale_signature>(
        "scale", library,
        "kernel void scale(float factor, global const float* in, global float* out) {"
        " out[get_global_id(0)] = times(factor, in[get_global_id(0)]); }"));
}

TEST_F(C11_text_kernels, are_declared_only_where_another_kernels_text_defines_them) {
    const auto fill = balm::source_kernel<1, void(int, Out<int>)>(
        "fill",
        "kernel void fill(int v, global int* out) { out[get_global_id(0)] = v; }\n"
        "kernel void count(global int* out) { out[get_global_id(0)] = get_global_id(0); }");
    const auto count = balm::source_kernel<1, void(Out<int>)>("count", fill);
    on_all_devices([&](const device& on) {
        EXPECT_THAT(run<int>(on, fill, 3, 7), testing::ElementsAre(7, 7, 7));
        EXPECT_THAT(run<int>(on, count, 3), testing::ElementsAre(0, 1, 2));
    });
}

TEST_F(C11_text_kernels, include_files_from_their_own_folder) {
    file("inner/two.h", "#pragma once\n#define TWO 2\n");
    file("inner/factors.h",
         "#include \"two.h\"\n#include \"two.h\"\nfloat half_of(float x) { return x / TWO; }\n");
    const auto path = file("main.cl",
                           "// the next line is a comment: /* #include \"absent.h\" */\n"
                           "#include \"inner/factors.h\"\n"
                           "kernel void scale(float factor, global const float* in, global float* out) {\n"
                           "    out[get_global_id(0)] = half_of(TWO * factor * in[get_global_id(0)]);\n}\n");
    expect_scales(balm::source_kernel<1, scale_signature>("scale", text_source::from_file(path)));
}

TEST_F(C11_text_kernels, include_files_that_include_each_other_behind_guards) {
    file("a.h", "#ifndef A\n#define A\n#include \"b.h\"\nfloat a_of(float x) { return b_of(x); }\n#endif\n");
    file("b.h", "#ifndef B\n#define B\n#include \"a.h\"\nfloat b_of(float x) { return x; }\n#endif\n");
    file("once.h", "#pragma once\n#include \"once.h\"\nfloat once(float x) { return x; }\n");
    const auto path =
        file("main.cl",
             "#if 0\n#include \"absent.h\"\n#include \"once.h\"\n#endif\n"
             "#include \"a.h\"\n#include \"once.h\"\n#include \"b.h\"\n#include \"once.h\"\n"
             "kernel void scale(float factor, global const float* in, global float* out) {\n"
             "    out[get_global_id(0)] = once(a_of(factor)) * in[get_global_id(0)] * (__LINE__ - 9);\n}");
    expect_scales(balm::source_kernel<1, scale_signature>("scale", text_source::from_file(path)));
}

TEST_F(C11_text_kernels, take_windows_line_ends_and_a_byte_order_mark) {
    std::string words = scale_text;
    for (std::size_t at = 0; (at = words.find('\n', at)) != std::string::npos; at += 2)
        words.replace(at, 1, "\r\n");
    expect_scales(balm::source_kernel<1, scale_signature>("scale", words));
}

// ---- parameters and launches ------------------------------------------------------------------------

TEST_F(C11_text_kernels, take_values_of_every_scalar_type) {
    const auto kernel = balm::source_kernel<1,
                                            void(signed char, unsigned char, short, unsigned short, int,
                                                 unsigned, long, unsigned long, float, double, Out<double>)>(
        "values",
        "kernel void values(char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i,\n"
        "                   double j, global double* out) {\n"
        "    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e;\n"
        "    out[5] = f; out[6] = g; out[7] = h; out[8] = i; out[9] = j;\n}");
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<double>(10);
        on.execute(kernel(-5, 250, -30000, 65000, -2000000000, 4000000000u, -9007199254740992LL,
                          9007199254740992ULL, 0.5f, -1e300, out),
                   {1});
        EXPECT_THAT(out.read(), testing::ElementsAre(-5, 250, -30000, 65000, -2e9, 4e9, -9007199254740992.0,
                                                     9007199254740992.0, 0.5, -1e300));
    });
}

TEST_F(C11_text_kernels, take_vectors_by_value_and_in_memory) {
    const auto kernel = balm::source_kernel<1, void(balm::float4, balm::double3, In<balm::uchar2>,
                                                    Out<balm::float4>, Local<balm::float3>)>("vectors", R"(
        kernel void vectors(float4 a, double3 b, global const uchar2* c, global float4* out, local float3* parts) {
            size_t i = get_global_id(0);
            parts[get_local_id(0)] = convert_float3(b) + i;
            barrier(CLK_LOCAL_MEM_FENCE);
            float3 other = parts[get_local_size(0) - 1 - get_local_id(0)];
            out[i] = a.wzyx + (float4)(other, c[i].y);
        })");
    host_array<balm::uchar2> bytes(32);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = {std::uint8_t(i), std::uint8_t(255 - i)};
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<balm::float4>(32);
        on.execute(kernel(balm::float4{1, 2, 3, 4}, balm::double3{10, 20, 30}, in(on, bytes), out,
                          balm::local<balm::float3>(8)),
                   {32}, {8});
        const auto got = out.read();
        for (std::size_t i = 0; i < got.size(); ++i) {
            const float k = static_cast<float>(i / 8 * 8 + 7 - i % 8);
            EXPECT_TRUE((got[i] == balm::float4{14 + k, 23 + k, 32 + k, 1 + 255 - static_cast<float>(i)}))
                << i;
        }
    });
}

TEST_F(C11_text_kernels, take_structures_by_value_and_in_memory) {
    const auto kernel = balm::source_kernel<1, void(particle, Mixed<particle>)>("move", R"(
        typedef struct { float4 pos, vel; int id; } particle;
        kernel void move(particle by, global particle* all) {
            global particle* p = &all[get_global_id(0)];
            p->pos += p->vel * by.vel.x;
            p->id = by.id * 100 + get_global_id(0);
        })");
    on_all_devices([&](const device& on) {
        auto all = on.mixed_buffer<particle>(3);
        std::vector<particle> start(3);
        for (int i = 0; i < 3; ++i) start[i] = {{1, 2, 3, 4}, {10, 20, 30, float(i)}, 0};
        all.write(start);
        on.execute(kernel(particle{{}, {0.5f, 0, 0, 0}, 7}, all), {3});
        const auto got = all.read();
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE((got[i].pos == balm::float4{6, 12, 18, 4 + 0.5f * i})) << i;
            EXPECT_EQ(got[i].id, 700 + i);
        }
    });
}

TEST_F(C11_text_kernels, share_local_memory_of_both_kinds) {
    const auto kernel = balm::source_kernel<1, void(In<long>, Out<long>, Local<long>, Local<int>)>("sums", R"(
        kernel void sums(global const long* in, global long* partial, local long* sums, local int* counts) {
            local int arrived;
            local long *first = sums;
            size_t i = get_local_id(0);
            if (i == 0) arrived = 0;
            sums[i] = in[get_global_id(0)];
            counts[i] = 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_add(&arrived, 1);
            for (size_t stride = get_local_size(0) / 2; stride > 0; stride >>= 1) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (i < stride) {
                    first[i] += sums[i + stride];
                    counts[i] += counts[i + stride];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (i == 0) partial[get_group_id(0)] = sums[0] + 1000000L * counts[0] + 1000000000L * arrived;
        })");
    constexpr std::size_t n = 512, group = 64;
    auto random = seeded_random();
    host_array<long> values(n);
    for (auto& v : values) v = static_cast<long>(random() % 1000);
    on_all_devices([&](const device& on) {
        auto partial = on.out_buffer<long>(n / group);
        on.execute(kernel(in(on, values), partial, balm::local<long>(group), balm::local<int>(group)), {n},
                   {group});
        expect_each(partial.read(), [&](std::size_t g) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(g * group);
            return std::accumulate(first, first + group, 0L) + 1000000L * 64 + 1000000000L * 64;
        });
    });
}

TEST_F(C11_text_kernels, know_their_place_in_two_dimensions) {
    const auto kernel = balm::source_kernel<2, void(Out<int, 2>)>("place", R"(
        kernel void place(global int* out) {
            size_t x = get_global_id(0), y = get_global_id(1);
            out[y * get_global_size(0) + x] = x + 10 * y + 100 * get_local_id(1) + 1000 * get_group_id(0)
                + 10000 * get_work_dim() + 100000 * get_num_groups(1) + 1000000 * get_local_size(2)
                + 10000000 * get_global_offset(0) + 10000000 * get_global_id(2);
        })");
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(4, 6);
        on.execute(kernel(out), {6, 4}, {3, 2});
        expect_each(out.read(), [](std::size_t at) {
            const std::size_t x = at % 6, y = at / 6;
            return x + 10 * y + 100 * (y % 2) + 1000 * (x / 3) + 20000 + 200000 + 1000000;
        });
    });
}

TEST_F(C11_text_kernels, count_with_atomics_in_global_memory) {
    const auto kernel = balm::source_kernel<1, void(Mixed<int>, Mixed<unsigned>)>("count", R"(
        kernel void count(global int* a, volatile global uint* b) {
            int i = get_global_id(0);
            atomic_add(&a[0], i);
            atomic_sub(a + 1, i);
            atomic_inc(a + 2);
            atomic_dec(a + 3);
            atomic_min(a + 4, -i);
            atomic_max(a + 5, i);
            atomic_or(b, 1u << (i % 20));
            atomic_and(b + 1, ~(1u << (i % 20)));
            atomic_xor(b + 2, 1u);
            atomic_cmpxchg(b + 3, 5u, 9u);
            atom_add(b + 4, 2u);
        })");
    on_all_devices([&](const device& on) {
        auto a = on.mixed_buffer<int>(6);
        auto b = on.mixed_buffer<unsigned>(5);
        a.write({0, 0, 0, 0, 0, 0});
        b.write({0u, ~0u, 0u, 5u, 0u});
        on.execute(kernel(a, b), {100});
        EXPECT_THAT(a.read(), testing::ElementsAre(4950, -4950, 100, -100, -99, 99));
        EXPECT_THAT(b.read(), testing::ElementsAre(0xfffffu, 0xfff00000u, 0u, 9u, 200u));
    });
}

TEST_F(C11_text_kernels, copy_by_the_whole_group) {
    const auto kernel = balm::source_kernel<1, void(In<int>, Out<int>)>("reversed", R"(
        kernel void reversed(global const int* in, global int* out) {
            local int tile[32];
            event_t done = async_work_group_copy(tile, in + get_group_id(0) * 32, 32, 0);
            wait_group_events(1, &done);
            out[get_global_id(0)] = tile[31 - get_local_id(0)];
        })");
    host_array<int> values(128);
    std::iota(values.begin(), values.end(), 0);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(128);
        on.execute(kernel(in(on, values), out), {128}, {32});
        expect_each(out.read(), [](std::size_t i) { return i / 32 * 32 + 31 - i % 32; });
    });
}

TEST_F(C11_text_kernels, take_the_group_size_that_they_require) {
    const auto kernel = balm::source_kernel<1, void(Out<int>)>(
        "sizes",
        "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void sizes(global int* out)\n"
        "{ out[get_global_id(0)] = get_local_size(0); }");
    on_all_devices([&](const device& on) {
        EXPECT_EQ(run<int>(on, kernel, 64)[5], 16);
        auto out = on.out_buffer<int>(64);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(kernel(out), {64}, {32}); }),
                    AllOf(HasSubstr("reqd_work_group_size"), HasSubstr("16")));
        EXPECT_THROW(on.execute(kernel(out), {40}), usage_error);
    });
}

TEST_F(C11_text_kernels, call_other_kernels_of_the_text) {
    const auto kernel = balm::source_kernel<1, void(Out<int>)>(
        "twice",
        "kernel void once(global int* out) { out[get_global_id(0)] = 21; }\n"
        "kernel void twice(global int* out) { once(out); out[get_global_id(0)] *= 2; }");
    on_all_devices([&](const device& on) { EXPECT_EQ(run<int>(on, kernel, 4)[3], 42); });
}

TEST_F(C11_text_kernels, begin_where_the_grid_begins) {
    const auto kernel =
        balm::source_kernel<2, void(Out<int>)>("from",
                                               "kernel void from(global int* out) {\n"
                                               "    size_t x = get_global_id(0) - get_global_offset(0), y = "
                                               "get_global_id(1) - get_global_offset(1);\n"
                                               "    out[y * get_global_size(0) + x] = get_global_id(0) + 100 "
                                               "* get_global_id(1) + get_global_offset(2);\n}");
    const auto place =
        balm::source_function<long(long)>("place", "long place(long x) { return x + get_global_id(0); }");
    const auto traced = balm::kernel<1>("calls", [&](Out<long> out) { out[0] = place(Long(global_id(0))); });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(6);
        on.execute(kernel(out), {3, 2}, balm::offset(10, 5));
        EXPECT_THAT(out.read(), testing::ElementsAre(510, 511, 512, 610, 611, 612));
        auto one = on.out_buffer<long>(1);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(traced(one), {1}, balm::offset(3)); }),
                    HasSubstr("pass the position to it"));
    });
    ir::launch_facts facts;
    facts.grid.is_offset = true;
    also_compile_with_nvrtc(*kernel.function(), facts);
}

TEST_F(C11_text_kernels, are_checked_as_traced_kernels_are) {
    const auto kernel = balm::source_kernel<1, scale_signature>("scale", scale_text);
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<float>(8);
        auto b = on.out_buffer<float>(8);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(kernel(1.f, a, b), {8}, {3}); }),
                    HasSubstr("does not divide"));
    });
}

TEST_F(C11_text_kernels, keep_names_that_mean_something_to_a_dialect) {
    // `class` and `norm` are nothing in C.
    const auto kernel = balm::source_kernel<1, void(Out<int>)>(
        "norm",
        "typedef struct { int template; } this;\n"
        "int class(int new) { return new + 1; }\n"
        "kernel void norm(global int* out) { this t; t.template = class(4); out[0] = t.template; }");
    on_all_devices([&](const device& on) { EXPECT_EQ(run<int>(on, kernel, 1)[0], 5); });
}

// ---- functions --------------------------------------------------------------------------------------

TEST_F(C11_text_kernels, functions_are_called_in_traced_kernels_and_expressions) {
    const auto plus =
        balm::source_function<float(float, float)>("plus", "float plus(float a, float b) { return a + b; }");
    const auto kernel = balm::kernel<1>("add(a, b, out)", [&](In<float> a, In<float> b, Out<float> out) {
        Index i = global_id(0);
        out[i] = plus(a[i], plus(b[i], 1.f));
    });
    auto random = seeded_random();
    host_array<float> x(64), y(64);
    for (auto& v : x) v = static_cast<float>(random() % 100);
    for (auto& v : y) v = static_cast<float>(random() % 100);
    on_all_contexts([&](context&& ctx) {
        const device on = ctx.device(0);
        expect_each(run<float>(on, kernel, 64, in(on, x), in(on, y)),
                    [&](std::size_t i) { return x[i] + (y[i] + 1.f); });
        balm::vector<float> X(ctx, x), Y(ctx, y), Z(ctx, x.size());
        Z = 2.f * plus(X, Y) - plus(X, 1.f);
        expect_each(Z.to_host(), [&](std::size_t i) { return 2.f * (x[i] + y[i]) - (x[i] + 1.f); });
    });
}

TEST_F(C11_text_kernels, functions_of_one_text_are_compiled_once_and_may_be_declared_only) {
    const text_source library =
        "#define i 5\nint base(int x) { return x + i; }\nint more(int x) { return base(x) * 2; }\nint "
        "least(int x) { return -x; }";
    const auto base = balm::source_function<int(int)>("base", library);
    const auto more = balm::source_function<int(int)>("more", library);
    const auto least = balm::source_function<int(int)>("least");
    const auto kernel = balm::kernel<1>("both(i, out)", [&](Int i, Out<int> out) {
        out[global_id(0)] = base(i) + 100 * more(i) + 10000 * least(i);
    });
    on_all_devices([&](const device& on) { EXPECT_EQ(run<int>(on, kernel, 1, 3)[0], 8 + 1600 - 30000); });
}

TEST_F(C11_text_kernels, functions_may_be_called_by_kernels_of_their_name) {
    const text_source text(
        "typedef struct { int left; } pair;\nint twice(int x) { pair p = {x}; return p.left + x; }");
    const auto twice = balm::source_function<int(int)>("twice", text);
    for (const char* const name : {"twice", "pair", "left", "x"}) {
        const auto kernel = balm::kernel<1>(name, [&](Int i, Out<int> out) { out[global_id(0)] = twice(i); });
        EXPECT_EQ(kernel.function()->name, name);
        on_all_devices([&](const device& on) { EXPECT_EQ(run<int>(on, kernel, 1, 21)[0], 42) << name; });
    }
}

TEST_F(C11_text_kernels, functions_and_types_may_be_called_as_anything) {
    // "a0" and "s0" are parameters of Balm's wrappers around these; C++ alone mistakes a member for its type.
    const text_source text(
        "typedef struct { int y; float z; } a0;\n"
        "typedef struct { uint a0[2]; a0 x, *y; a0 z[2]; } s0;\n"
        "int a1(global const a0* from, int at) { return from[at].y; }\n"
        "int result(a0 of, int k) { s0 in = {0}; in.z[1] = of; in.y = in.z; in.a0[1] = 100;\n"
        "    return in.y[k].y + (int)in.a0[k] + (int)sizeof(in.z[0].z); }");
    const auto at = balm::source_function<int(In<named_alike>, int)>("a1", text);
    const auto of = balm::source_function<int(named_alike, int)>("result", text);
    const auto kernel = balm::kernel<1>("s0", [&](In<named_alike> in, Out<int> out) {
        const Int k = cast<int>(global_id(0));
        out[k] = at(in, k) * 1000 + of(in[k], k);
    });
    on_all_devices([&](const device& on) {
        auto in = on.in_buffer<named_alike>(2);
        in.write({{3, 0.f}, {4, 0.f}});
        auto out = on.out_buffer<int>(2);
        on.execute(kernel(in, out), {2});
        EXPECT_THAT(out.read(), testing::ElementsAre(3004, 4108));
    });
}

TEST_F(C11_text_kernels, functions_take_memory_and_return_nothing) {
    const auto store = balm::source_function<void(In<int>, Out<int>, long)>(
        "store", "void store(global const int* from, global int* to, long at) { to[at] = from[at] + 1; }");
    const auto kernel = balm::kernel<1>("through", [&](In<int> a, Out<int> b) { store(a, b, global_id(0)); });
    on_all_devices([&](const device& on) {
        EXPECT_THAT(run<int>(on, kernel, 3, in(on, host_array<int>{4, 5, 6})), testing::ElementsAre(5, 6, 7));
    });
}

TEST_F(C11_text_kernels, functions_take_and_return_vectors) {
    const auto turn = balm::source_function<balm::float4(balm::float4, float, balm::int2)>(
        "turn",
        "float4 turn(float4 v, float f, int2 n) { return v.wzyx * f + (float4)(convert_float2(n), 0, 0); }");
    const auto first = balm::source_function<balm::float2(In<balm::float4>, long)>(
        "first", "float2 first(global const float4* v, long at) { return v[at].xy; }");
    const auto kernel = balm::kernel<1>("vectors", [&](In<balm::float4> a, Out<balm::float4> out) {
        Index i = global_id(0);
        Int2 n(1, 2);
        Float4 v = turn(a[i], 2.f, n);
        v.xy = v.xy + first(a, i);
        out[i] = v;
    });
    on_all_devices([&](const device& on) {
        host_array<balm::float4> values(3);
        for (int i = 0; i < 3; ++i) values[i] = {1.f + i, 2, 3, 4};
        const auto got = run<balm::float4>(on, kernel, 3, in(on, values));
        for (int i = 0; i < 3; ++i) {
            const float x = 1.f + static_cast<float>(i);
            EXPECT_TRUE((got[i] == balm::float4{8 + 1 + x, 6 + 2 + 2, 4, 2 * x})) << i;
        }
    });
}

TEST_F(C11_text_kernels, calls_with_effects_are_not_shared) {
    const auto pure = balm::source_function<int(int)>("square", "int square(int x) { return x * x; }");
    const auto place =
        balm::source_function<int(int)>("place", "int place(int x) { return x + get_global_id(0); }");
    const auto kernel = balm::kernel<1>("calls(n, out)", [&](Int n, Out<int> out) {
        out[global_id(0)] = pure(n) + pure(n) + place(n) + place(n);
    });
    const std::string text = emit::print(*kernel.function(), runtime::dialect::opencl_c);
    const auto count = [&](const std::string& word) {
        std::size_t found = 0;
        for (std::size_t at = text.rfind("kernel void"); (at = text.find(word, at)) != std::string::npos;
             ++at)
            ++found;
        return found;
    };
    EXPECT_EQ(count("square("), 1u);
    EXPECT_EQ(count("place("), 2u);
    on_all_devices([&](const device& on) { EXPECT_EQ(run<int>(on, kernel, 4, 3)[2], 9 + 9 + 5 + 5); });
}

TEST_F(C11_text_kernels, functions_that_wait_are_refused_under_a_condition) {
    const auto wait = balm::source_function<int(int)>(
        "wait", "int wait(int x) { barrier(CLK_LOCAL_MEM_FENCE); return x; }");
    EXPECT_THAT(message_of<trace_error>([&] {
                    balm::kernel<1>("some", [&](Int n, Out<int> out) {
                        IF (global_id(0) < 3) {
                            out[global_id(0)] = wait(n);
                        }
                    });
                }),
                HasSubstr("barrier()"));
}

// ---- what is refused --------------------------------------------------------------------------------

template <int N = 1, class Signature = scale_signature, class... Sources>
std::string refusal_of_source(const std::string& name, const Sources&... sources) {
    return message_of<usage_error>([&] { balm::source_kernel<N, Signature>(name, sources...); });
}

TEST_F(C11_text_kernels, files_that_cannot_be_read_are_refused_by_name) {
    const auto from = [](const std::string& path) {
        return message_of<usage_error>([&] { text_source::from_file(path); });
    };
    EXPECT_THAT(from((folder_ / "absent.cl").string()),
                AllOf(HasSubstr("absent.cl"), HasSubstr("does not exist")));
    EXPECT_THAT(from(file("empty.cl", " \n")), AllOf(HasSubstr("empty.cl"), HasSubstr("is empty")));
    EXPECT_THAT(from(folder_.string()), HasSubstr("cannot be"));
    EXPECT_THAT(from(file("nul.cl", std::string("int a;\n\0;", 9))),
                AllOf(HasSubstr("nul.cl, line 2"), HasSubstr("NUL")));
    EXPECT_THAT(from(file("binary.cl",
                          "\x7f"
                          "ELF\x02\x01")),
                AllOf(HasSubstr("line 1"), HasSubstr("0x7f")));
    EXPECT_THAT(from(file("open.cl", "int a;\n/* no end")), AllOf(HasSubstr("line 2"), HasSubstr("comment")));
    EXPECT_THAT(from(file("include.cl", "\n#include \"nowhere.h\"\n")),
                AllOf(HasSubstr("nowhere.h"), HasSubstr("include.cl, line 2")));
    EXPECT_THAT(from(file("circle.cl", "#include \"circle.cl\"\n")), HasSubstr("includes itself"));
    fs::resize_file(file("huge.cl", "//"), (std::uintmax_t{16} << 20) + 1);
    EXPECT_THAT(from((folder_ / "huge.cl").string()), HasSubstr("16 MiB"));
    if (geteuid() != 0) {
        const auto path = file("locked.cl", "int a;");
        fs::permissions(path, fs::perms::none);
        EXPECT_THAT(from(path), HasSubstr("cannot be read"));
    }
}

TEST_F(C11_text_kernels, names_that_the_text_lacks_are_refused) {
    EXPECT_THAT(refusal_of_source("other", scale_text),
                AllOf(HasSubstr("no kernel 'other'"), HasSubstr("'scale'")));
    EXPECT_THAT(refusal_of_source("scale", "float scale;"), HasSubstr("there is no kernel in it"));
    EXPECT_THAT(refusal_of_source("scale", "scale.cl"), HasSubstr("from_files"));
    EXPECT_THAT(refusal_of_source("two words", scale_text), HasSubstr("C identifier"));
    EXPECT_THAT(refusal_of_source("", scale_text), HasSubstr("C identifier"));
    EXPECT_THAT(refusal_of_source("scale"), HasSubstr("has no source text"));
    EXPECT_THAT(refusal_of_source("scale", ""), HasSubstr("is empty"));
    EXPECT_THAT(refusal_of_source("scale", scale_text, std::string("\n") + scale_text),
                HasSubstr("defined twice"));
    const auto traced = balm::kernel<1>("traced", [](Out<int> out) { out[0] = 1; });
    EXPECT_THAT(refusal_of_source("scale", traced), HasSubstr("was traced"));
}

TEST_F(C11_text_kernels, signatures_that_differ_are_refused_and_both_are_shown) {
    EXPECT_THAT((refusal_of_source<1, void(float, In<float>)>("scale", scale_text)),
                AllOf(HasSubstr("3 parameters"), HasSubstr("(float, In<float>)"),
                      HasSubstr("(float factor, __global const float* in, __global float* out)")));
    EXPECT_THAT((refusal_of_source<1, void(double, In<float>, Out<float>)>("scale", scale_text)),
                HasSubstr("parameter 1 'factor' is float in the text, but double"));
    EXPECT_THAT((refusal_of_source<1, void(In<float>, In<float>, Out<float>)>("scale", scale_text)),
                HasSubstr("parameter 1 'factor' is a value"));
    EXPECT_THAT((refusal_of_source<1, void(float, In<int>, Out<float>)>("scale", scale_text)),
                HasSubstr("In<int>"));
    EXPECT_THAT((refusal_of_source<1, void(float, In<float>, In<float>)>("scale", scale_text)),
                HasSubstr("write const"));
    EXPECT_THAT((refusal_of_source<1, void(float, Out<float>, Out<float>)>("scale", scale_text)),
                HasSubstr("is const"));
    EXPECT_THAT((refusal_of_source<1, void(float, Local<float>, Out<float>)>("scale", scale_text)),
                HasSubstr("__global"));
    EXPECT_THAT(refusal_of_source("f", "float f(float x) { return x; }\nkernel void k() {}"),
                HasSubstr("not a kernel"));
    const auto function = [](const char* words) {
        return message_of<usage_error>([&] { balm::source_function<float(float)>("f", words); });
    };
    EXPECT_THAT(function("double f(float x) { return x; }"), HasSubstr("returns double"));
    EXPECT_THAT(function("float f(float4 x) { return x.x; }"), HasSubstr("is float4 in the text, but float"));
    EXPECT_THAT(message_of<usage_error>([] {
                    balm::source_function<float(particle)>(
                        "f", "#ifdef BIG\nfloat f(struct particle p) { return 0; }\n#endif");
                }),
                AllOf(HasSubstr("the structure particle"), HasSubstr("depends on a condition")));
    EXPECT_THAT(message_of<usage_error>([] { balm::source_function<particle(float)>("f"); }),
                HasSubstr("takes or returns the structure particle"));
    EXPECT_THAT(message_of<usage_error>(
                    [] { balm::source_function<float(particle)>("f", "float f(float4 p) { return p.x; }"); }),
                HasSubstr("is float4 in the text, but particle"));
    EXPECT_THAT((refusal_of_source<1, void(float, In<particle>, Out<float>)>("scale", scale_text)),
                HasSubstr("In<particle>"));
    EXPECT_THAT(function("float f(float x) { return f(x); }"), HasSubstr("recursion"));
    EXPECT_THAT(
        function("float g(float); float f(float x) { return g(x); } float g(float x) { return f(x); }"),
        HasSubstr("recursion"));
}

const std::string declarations =
    "typedef int number;\ntypedef const int fixed;\ntypedef ptrdiff_t difference;\ntypedef int row[4];\n"
    "typedef global int* pointer, *unused;\ntypedef const global int* const_pointer;\n"
    "struct p64 { float all[16]; };\ntypedef struct p64 p64_type;\nunion u { int a; float b; };\n"
    "enum e { one, two };\n#define MEMORY(T) global const T* restrict\n";
/// One that compilers of OpenCL C refuse.
const std::string with_callbacks = declarations + "typedef void (*callback)(int);\n";

/// Why a kernel with this one parameter is refused; empty where it is taken.
template <class P>
std::string kernel_refusal(const std::string& parameter) {
    try {
        balm::source_kernel<1, void(P)>("k", with_callbacks + ("kernel void k(" + parameter + ") { }"));
        return {};
    } catch (const usage_error& refused) {
        return refused.what();
    }
}
template <class P>
std::string function_refusal(const std::string& parameter) {
    try {
        balm::source_function<int(P)>("f", with_callbacks + ("int f(" + parameter + ") { return 0; }"));
        return {};
    } catch (const usage_error& refused) {
        return refused.what();
    }
}

TEST_F(C11_text_kernels, every_kind_of_parameter_is_compared_when_it_is_defined) {
    struct row {
        std::string (*refusal)(const std::string&);
        const char* parameter;
        const char* why;  ///< empty: it is taken
    };
    const row rows[] = {
        // values
        {kernel_refusal<int>, "int a", ""},
        {kernel_refusal<int>, "const int a", ""},
        {kernel_refusal<int>, "private signed a", ""},
        {kernel_refusal<int>, "number a", ""},
        {kernel_refusal<int>, "enum e a", ""},
        {kernel_refusal<unsigned>, "unsigned a", ""},
        {kernel_refusal<unsigned>, "unsigned int a", ""},
        {kernel_refusal<unsigned long long>, "unsigned long a", ""},
        {kernel_refusal<unsigned long long>, "long unsigned int a", ""},
        {kernel_refusal<unsigned long long>, "int long unsigned a", ""},
        {kernel_refusal<long>, "long int a", ""},
        {kernel_refusal<short>, "short int a", ""},
        {kernel_refusal<signed char>, "signed char a", ""},
        {kernel_refusal<balm::float4>, "float4 a", ""},
        {kernel_refusal<particle>, "struct p64 a", ""},
        {kernel_refusal<particle>, "p64_type a", ""},
        {kernel_refusal<int>, "unsigned a", "is uint in the text, but int"},
        {kernel_refusal<int>, "long a", "is long"},
        {kernel_refusal<int>, "int4 a", "is int4"},
        {kernel_refusal<int>, "float a", "is float"},
        {kernel_refusal<float>, "enum e a", "is an enumeration"},
        {kernel_refusal<int>, "struct p64 a", "is a structure in the text, but int"},
        {kernel_refusal<int>, "p64_type a", "is a structure"},
        {kernel_refusal<int>, "union u a", "is a structure"},
        {kernel_refusal<particle>, "int a", "is int in the text, but particle"},
        {kernel_refusal<unsigned long long>, "unsigned long long a", "long long in the text, which a C++"},
        {kernel_refusal<long>, "long long a", "long long"},
        {kernel_refusal<double>, "long double a", "long double"},
        {kernel_refusal<unsigned long>, "size_t a", "forbids for kernel parameters"},
        {kernel_refusal<long>, "difference a", "forbids for kernel parameters"},
        {kernel_refusal<bool>, "bool a", "forbids for kernel parameters"},
        {kernel_refusal<float>, "half a", "is half"},
        {kernel_refusal<int>, "image2d_t a", "is image2d_t in the text, which a C++"},
        {kernel_refusal<int>, "read_only image3d_t a", "is image3d_t"},
        {kernel_refusal<int>, "sampler_t a", "is sampler_t"},
        {kernel_refusal<int>, "event_t a", "is event_t"},
        {kernel_refusal<long>, "global int* a", "is memory in the text, but long"},
        {kernel_refusal<long>, "pointer a", "is memory in the text, but long"},
        {kernel_refusal<long>, "void (*a)(int)", "a function"},
        {kernel_refusal<long>, "callback a", "a function"},
        {kernel_refusal<int>, "global int a", "a value in __global memory"},
        {kernel_refusal<int>, "void", "has 0 parameters"},
        {kernel_refusal<int>, "", "has 0 parameters"},
        {kernel_refusal<int>, "int a, int b", "has 2 parameters"},
        // memory of kernels
        {kernel_refusal<In<int>>, "global const int* a", ""},
        {kernel_refusal<In<int>>, "const global int* restrict a", ""},
        {kernel_refusal<In<int>>, "int const __global* const restrict a", ""},
        {kernel_refusal<In<int>>, "global const volatile int* a", ""},
        {kernel_refusal<In<int>>, "constant int* a", ""},
        {kernel_refusal<In<int>>, "global const int a[]", ""},
        {kernel_refusal<In<int>>, "global const int a[16]", ""},
        {kernel_refusal<In<int>>, "global const number* a", ""},
        {kernel_refusal<In<int>>, "global fixed* a", ""},
        {kernel_refusal<In<int>>, "const_pointer a", ""},
        {kernel_refusal<In<int>>, "global const void* a", ""},
        {kernel_refusal<In<int>>, "MEMORY(int) a", ""},
        {kernel_refusal<In<bool>>, "global const uchar* a", ""},
        {kernel_refusal<In<particle>>, "global const struct p64* a", ""},
        {kernel_refusal<In<particle>>, "global const p64_type* a", ""},
        {kernel_refusal<Out<int>>, "global int* a", ""},
        {kernel_refusal<Out<int>>, "pointer a", ""},
        {kernel_refusal<Out<int>>, "pointer const a", ""},
        {kernel_refusal<Mixed<int>>, "volatile global int* a", ""},
        {kernel_refusal<Local<int>>, "local int* a", ""},
        {kernel_refusal<Local<int>>, "local int a[]", ""},
        {kernel_refusal<In<int>>, "int a", "is a value in the text, but In<int>"},
        {kernel_refusal<In<int>>, "struct p64 a", "is a value in the text"},
        {kernel_refusal<In<int>>, "const int* a", "is private memory"},
        {kernel_refusal<In<int>>, "local const int* a", "is __local memory"},
        {kernel_refusal<In<int>>, "global int* a", "write const in the text"},
        {kernel_refusal<In<int>>, "global int* const a", "write const in the text"},
        {kernel_refusal<In<int>>, "pointer a", "write const in the text"},
        {kernel_refusal<In<int>>, "const pointer a", "write const in the text"},
        {kernel_refusal<In<int>>, "global const uint* a", "is uint"},
        {kernel_refusal<In<int>>, "global const struct p64* a", "is a structure in the text, but In<int>"},
        {kernel_refusal<In<int>>, "global const int* global* a", "pointer to pointers"},
        {kernel_refusal<In<int>>, "global const int (*a)[4]", "a pointer in brackets"},
        {kernel_refusal<In<int>>, "global const int a[][4]", "an array of arrays"},
        {kernel_refusal<In<long>>, "global const long long* a", "a pointer to long long"},
        {kernel_refusal<In<particle>>, "global const int* a", "is int"},
        {kernel_refusal<Out<int>>, "global const int* a", "is const in the text, but Out<int>"},
        {kernel_refusal<Out<int>>, "global fixed* a", "is const in the text"},
        {kernel_refusal<Out<int>>, "constant int* a", "is __constant memory"},
        {kernel_refusal<Mixed<int>>, "constant int* a", "is __constant memory"},
        {kernel_refusal<Local<int>>, "global int* a", "is __global memory in the text, but Local<int>"},
        {kernel_refusal<Local<int>>, "int* a", "is private memory"},
        // functions
        {function_refusal<int>, "int a", ""},
        {function_refusal<bool>, "bool a", ""},
        {function_refusal<unsigned long>, "size_t a", ""},
        {function_refusal<In<int>>, "global const int* a", ""},
        {function_refusal<In<int>>, "const_pointer a", ""},
        {function_refusal<Mixed<int>>, "global int* a", ""},
        {function_refusal<Local<int>>, "local int* a", ""},
        {function_refusal<Ptr<int, space::private_>>, "int* a", ""},
        {function_refusal<Ptr<int, space::local>>, "local int* a", ""},
        {function_refusal<In<int>>, "constant int* a", "write __global const in the text"},
        {function_refusal<In<int>>, "int const* a", "is private memory"},
        {function_refusal<int>, "struct p64 a", "is a structure"},
        {function_refusal<int>, "image2d_t a", "is image2d_t"},
        {function_refusal<long>, "pointer a", "is memory in the text"},
        {function_refusal<Ptr<int, space::local>>, "global int* a", "is __global memory"},
        {function_refusal<Ptr<int, space::private_>>, "float* a", "is float"},
        {function_refusal<Mixed<int>>, "global row* a", "is an array"},
        {function_refusal<Ptr<int, space::private_>>, "int** a", "pointer to pointers"},
    };
    const auto first_function = static_cast<std::size_t>(
        std::find_if(std::begin(rows), std::end(rows),
                     [](const row& r) { return r.refusal == function_refusal<int>; }) -
        std::begin(rows));
    std::string taken = declarations;
    for (std::size_t k = 0; k < std::size(rows); ++k) {
        const std::string why = rows[k].refusal(rows[k].parameter);
        EXPECT_EQ(why.empty(), *rows[k].why == 0) << "row " << k << ": " << rows[k].parameter << ": " << why;
        EXPECT_THAT(why, HasSubstr(rows[k].why)) << "row " << k << ": " << rows[k].parameter;
        if (*rows[k].why == 0)
            taken += fmt::format("{}void k{}({}) {{ }}\n", k < first_function ? "kernel " : "", k,
                                 rows[k].parameter);
    }
    // What is taken is what a compiler takes.
    const auto all = balm::source_kernel<1, void(Out<int>)>(
        "last", taken + "kernel void last(global int* a) { a[0] = 7; }");
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(1);
        on.execute(all(out), {1});
        EXPECT_EQ(out.read()[0], 7);
    });
}

TEST_F(C11_text_kernels, other_parameters_that_a_device_sees_are_refused_at_the_first_launch) {
    // __OPENCL_VERSION__ is what Balm says, __CLANG__ and the like what only the device's compiler knows.
    const std::string words =
        "#if defined(__clang__) || defined(__NV_CL_C_VERSION) || defined(__CUDACC__)\n"
        "#define FIRST global int* a\n#define SECOND int b\n#else\n"
        "#define FIRST long a\n#define SECOND local int* b\n#endif\n"
        "kernel void hidden(FIRST, global int* out) { out[0] = 1; }\n"
        "kernel void shared(global int* out, SECOND) { out[0] = 1; }\n";
    const auto hidden = balm::source_kernel<1, void(long, Out<int>)>("hidden", words);
    const auto shared = balm::source_kernel<1, void(Out<int>, Local<int>)>("shared", words);
    without_observer([&] {
        on_all_devices([&](const device& on) {
            if (on.info().api != backend::opencl) return;  // CUDA's compiler is given what Balm has read
            auto out = on.out_buffer<int>(1);
            for (int again = 0; again < 2; ++again) {
                EXPECT_THAT(message_of<usage_error>([&] { on.execute(hidden(5, out), {1}); }),
                            AllOf(HasSubstr("parameter 1 of kernel 'hidden' is device memory"),
                                  HasSubstr("but a value in its C++ signature")));
                EXPECT_THAT(
                    message_of<usage_error>([&] { on.execute(shared(out, balm::local<int>(4)), {1}); }),
                    AllOf(HasSubstr("parameter 2"), HasSubstr("a value"), HasSubstr("but local memory")));
            }
        });
    });
}

TEST_F(C11_text_kernels, texts_beyond_the_limits_are_refused_when_they_are_defined) {
    std::string brackets = "#ifdef UNKNOWN\n#endif\nkernel void scale(int a) { a = ";
    brackets += std::string(20000, '(') + "1" + std::string(20000, ')') + "; }";
    EXPECT_THAT(refusal_of_source("scale", brackets),
                AllOf(HasSubstr("text of scale, line 3"), HasSubstr("256 levels")));
    EXPECT_THAT(refusal_of_source("scale", "typedef A B;\ntypedef B A;\nkernel void k(A a) { }"),
                HasSubstr("'k'"));
    EXPECT_THAT(refusal_of_source("scale", "typedef;"), HasSubstr("no kernel"));
    // Files that include the next one twice, sixty deep.
    for (int k = 0; k < 60; ++k) {
        const std::string next = "#include \"" + std::to_string(k + 1) + ".h\"\n";
        file(std::to_string(k) + ".h", next + next);
    }
    file("60.h", "int a;\n");
    EXPECT_THAT(message_of<usage_error>([&] { text_source::from_file((folder_ / "0.h").string()); }),
                HasSubstr("more than 4096 files are included"));
    ASSERT_EQ(mkfifo((folder_ / "pipe.h").c_str(), 0600), 0);
    for (const char* words : {"#include \"pipe.h\"\n", "#ifdef A\n#include \"pipe.h\"\n#endif\n"})
        EXPECT_THAT(message_of<usage_error>([&] { text_source::from_file(file("pipe.cl", words)); }),
                    AllOf(HasSubstr("pipe.cl, line"), HasSubstr("is not a regular file")));
}

TEST_F(C11_text_kernels, what_is_taken_leaves_compilers_their_stack) {
    const auto times = [](int n, const std::string& words) {
        std::string all;
        for (int k = 0; k < n; ++k) all += words;
        return all;
    };
    const auto kernel = balm::source_kernel<1, void(Out<int>)>(
        "deep", "kernel void deep(global int* a) {\n int b = 1;\n a[0] = " + times(250, "!") +
                    "b;\n a[1] = " + times(250, "(int)") + "b;\n a[2] = " + times(1000, "b == 2 ? 0 : ") +
                    "7;\n a[3] = " + times(250, "(") + "b" + times(250, ")") + ";\n " +
                    times(1000, "if (b == 3) b = 4; else ") + "b = 9;\n a[4] = b;\n}\n");
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(5);
        on.execute(kernel(out), {1});
        EXPECT_THAT(out.read(), testing::ElementsAre(1, 1, 7, 1, 9));
    });
}

TEST_F(C11_text_kernels, include_files_between_comments_and_behind_spliced_lines) {
    file("one.h", "#pragma once\nconstant int one = 1;");
    const auto path = file("k.cl",
                           "/* two\n lines */ #inc\\\nlude \"one.h\" // why\n#include \"one.h\"\n"
                           "kernel void k(global int* a) { a[0] = one; a[1] = __LINE__; }");
    const auto kernel = balm::source_kernel<1, void(Out<int>)>("k", text_source::from_file(path));
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(2);
        on.execute(kernel(out), {1});
        EXPECT_THAT(out.read(), testing::ElementsAre(1, 5));
    });
}

TEST_F(C11_text_kernels, signatures_that_a_condition_hides_are_compared_when_the_kernel_is_compiled) {
    // Before a device is known nobody can say which of the two it is.
    const auto kernel = balm::source_kernel<1, void(Out<int>)>(
        "hidden",
        "#ifdef __ENDIAN_LITTLE__\n#define IS_KNOWN 1\n#endif\n#if defined(__has_feature)\n"
        "kernel void hidden(global int* a, int b) { a[0] = b; }\n#else\n"
        "int unused(int x) { return x; }\n#endif\n");
    without_observer([&] {
        on_all_devices([&](const device& on) {
            auto out = on.out_buffer<int>(1);
            EXPECT_THAT(message_of<error>([&] { on.execute(kernel(out), {1}); }), HasSubstr("'hidden'"));
        });
    });
}

TEST_F(C11_text_kernels, a_build_error_carries_log_source_and_file_names) {
    const auto path = file("broken.cl",
                           "// a line\n"
                           "kernel void scale(float factor, global const float* in, global float* out) {\n"
                           "    out[0] = undefined_thing;\n}\n");
    const auto kernel = balm::source_kernel<1, scale_signature>("scale", text_source::from_file(path));
    without_observer([&] {
        on_all_devices([&](const device& on) {
            auto a = on.in_buffer<float>(1);
            auto b = on.out_buffer<float>(1);
            const std::string words = message_of<build_error>([&] { on.execute(kernel(1.f, a, b), {1}); });
            EXPECT_THAT(words, AllOf(HasSubstr("undefined_thing"), HasSubstr("broken.cl"),
                                     HasSubstr("   3 |     out[0]")));
        });
    });
}

TEST_F(C11_text_kernels, a_function_that_no_text_defines_is_refused_when_it_is_compiled) {
    const auto absent = balm::source_function<float(float)>("absent");
    const auto kernel = balm::kernel<1>("calls", [&](Float x, Out<float> out) { out[0] = absent(x); });
    without_observer([&] {
        on_all_devices([&](const device& on) {
            EXPECT_THAT(message_of<build_error>([&] { run<float>(on, kernel, 1, 2.f); }),
                        AllOf(HasSubstr("'absent'"), HasSubstr("declared without a text")));
        });
    });
}

}  // namespace

}  // namespace balm::test

// Text kernels without a signature, whose arguments are known at run time; memory that a text only reads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emit/printer.hpp"
#include "kernel/particle.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

TEST(C11_text_kernels_without_a_signature, take_what_the_text_declares) {
    const auto scale = source_kernel<1>("scale", R"(
        kernel void scale(float by, global const float* in, global float* out, local float* own, int n) {
            int i = get_global_id(0);
            own[get_local_id(0)] = in[i];
            out[i] = by * own[get_local_id(0)] + n;
        })");
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const auto values = random_values<float>(random, 64, -4.f, 4.f);
        const auto a = in(on, values);
        auto b = on.out_buffer<float>(64);
        on.execute(scale(2.f, a, b, local<float>(16), 3), {64}, {16});
        const auto expected = [&](std::size_t i) { return 2.f * values[i] + 3.f; };
        expect_each(b.read(), expected);
        // A list made at run time; vectors, and parts of buffers.
        const context ctx(std::vector<device>{on});
        const vector<float> x(ctx, values);
        vector<float> y(ctx, 64, 0.f);
        kernel_arguments given;
        given.push(2.f).push(x).push(y.elements().from(0)).push(local<float>(8)).push(3);
        EXPECT_EQ(given.size(), 5u);
        on.execute(scale(given), {64}, {8});
        expect_each(y.to_host(), expected);
        given.clear();
        EXPECT_EQ(given.size(), 0u);
        // What it reads and writes is known: statements before and after wait for it.
        y = 1.f;
        on.execute(scale(1.f, y, y, local<float>(16), 1), {64}, {16});
        y = y * 2.f;
        expect_each(y.to_host(), [](std::size_t) { return 4.f; });
    });
}

TEST(C11_text_kernels_without_a_signature, take_local_memory_by_its_bytes) {
    const auto turn = source_kernel<1>("turn", R"(
        kernel void turn(global const double* in, global double* out, local double* own, local float4* more) {
            int i = get_local_id(0), n = get_local_size(0);
            own[i] = in[get_global_id(0)];
            more[i] = (float4)(i);
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = own[n - 1 - i] + more[n - 1 - i].z;
        })");
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        if (!on.info().has_double) return;
        const auto values = random_values<double>(random, 64, -4., 4.);
        const auto a = in(on, values);
        auto b = on.out_buffer<double>(64);
        on.execute(turn(a, b, local_bytes(16 * sizeof(double)), local_bytes(16 * sizeof(balm::float4))), {64},
                   {16});
        expect_each(b.read(), [&](std::size_t i) {
            const std::size_t turned = 15 - i % 16;
            return values[i / 16 * 16 + turned] + double(turned);
        });
    });
}

TEST(C11_text_kernels_without_a_signature, take_structures_vectors_and_any_number_of_arguments) {
    const auto move = source_kernel<1>("move", R"(
        typedef struct { float4 pos, vel; int id; } particle;
        kernel void move(particle by, global particle* all, int4 ids, constant int* more) {
            global particle* p = &all[get_global_id(0)];
            p->pos += p->vel * by.vel.x;
            p->id = by.id + ids.y + more[get_global_id(0)];
        })");
    on_all_devices([&](const device& on) {
        auto all = on.mixed_buffer<particle>(2);
        all.write({{{1, 2, 3, 4}, {10, 20, 30, 0}, 0}, {{1, 2, 3, 4}, {10, 20, 30, 1}, 0}});
        auto more = on.in_buffer<int>(2);
        more.write({100, 200});
        on.execute(move(particle{{}, {0.5f, 0, 0, 0}, 7}, all, balm::int4{0, 1000, 0, 0}, more), {2});
        const auto got = all.read();
        for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE((got[i].pos == balm::float4{6, 12, 18, 4 + 0.5f * float(i)})) << i;
            EXPECT_EQ(got[i].id, 1007 + 100 * (i + 1));
        }
        for (int count = 1; count <= 4; ++count) {  // sums of as many inputs
            std::string parameters, sum = "0";
            kernel_arguments given;
            std::vector<in_buffer<int>> inputs;
            for (int k = 0; k < count; ++k) {
                parameters += "global const int* a" + std::to_string(k) + ", ";
                sum += " + a" + std::to_string(k) + "[get_global_id(0)]";
                inputs.push_back(on.in_buffer<int>(3));
                inputs.back().write({k, 10 * k, 100 * k});
                given.push(inputs.back());
            }
            auto out = on.out_buffer<int>(3);
            const auto add =
                source_kernel<1>("add", "kernel void add(" + parameters +
                                            "global int* out) { out[get_global_id(0)] = " + sum + "; }");
            on.execute(add(given.push(out)), {3});
            const int all_of = count * (count - 1) / 2;
            EXPECT_EQ(out.read(), std::vector<int>({all_of, 10 * all_of, 100 * all_of}));
        }
    });
}

TEST(C11_text_kernels_without_a_signature, refuse_other_arguments) {
    const auto scale = source_kernel<1>(
        "scale", "kernel void scale(float by, global const float* in, global float* out) { out[0] = by; }");
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<float>(4), b = on.in_buffer<float>(4);
        auto out = on.out_buffer<float>(4);
        auto numbers = on.mixed_buffer<int>(4);
        const auto refused = [&](const auto&... arguments) {
            return message_of<usage_error>([&] { static_cast<void>(scale(arguments...)); });
        };
        EXPECT_THAT(refused(2.0, a, out), HasSubstr("parameter 1 'by' is float in the text, but double"));
        EXPECT_THAT(refused(2.f, a), HasSubstr("the text has 3 parameters, the signature 2"));
        EXPECT_THAT(refused(2.f, numbers, out),
                    HasSubstr("parameter 2 'in' is float in the text, but In<int>"));
        EXPECT_THAT(refused(2.f, a, b), HasSubstr("parameter 3 'out' may be written by the text, but is In"));
        EXPECT_THAT(refused(2.f, out, out), HasSubstr("parameter 2 'in' is const in the text, but Out"));
        EXPECT_THAT(refused(a, 2.f, out), HasSubstr("parameter 1"));
    });
    const auto absent = source_kernel<1>("absent", "kernel void k() {}");
    EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(absent()); }),
                HasSubstr("no kernel 'absent' is defined"));
}

TEST(C11_text_functions, only_read_what_their_signature_promises) {
    const auto at = source_function<float(int, OnlyRead<float>)>(
        "at", "float at(int i, global float* x) { global float* p = x + i; return *p; }");
    const auto in_a_kernel = kernel<1>("in_a_kernel", [&](In<float> a, Out<float> b) {
        Index i = global_id(0);
        b[i] = at(cast<int>(i), a);
    });
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto values = random_values<float>(random, 1000, -4.f, 4.f);
        const vector<float> x(ctx, values);
        const auto reversed_index = balm::cast<int>(999 - balm::element_index(0, 1000));
        vector<float> y(ctx, 1000);
        y = at(reversed_index, x);
        expect_each(y.to_host(), [&](std::size_t i) { return values[999 - i]; });
        EXPECT_EQ(balm::max(at(reversed_index, x)), balm::max(x));  // what writes is not reduced
        if (ctx.size() > 1) return;
        auto out = ctx.device().out_buffer<float>(1000);
        ctx.device().execute(in_a_kernel(x, out), {1000});
        expect_each(out.read(), [&](std::size_t i) { return values[i]; });
    });
    const auto fill = source_kernel<1, void(OnlyRead<int>, Out<int>)>(
        "copy",
        "kernel void copy(global int* a, global int* b) { b[get_global_id(0)] = a[get_global_id(0)]; }");
    on_all_devices([&](const device& on) {
        auto a = on.in_buffer<int>(3);
        a.write({1, 2, 3});
        EXPECT_EQ(run<int>(on, fill, 3, a), std::vector<int>({1, 2, 3}));
    });
    EXPECT_THAT(message_of<usage_error>([] {
                    static_cast<void>(
                        source_function<float(In<float>)>("f", "float f(global float* x) { return *x; }"));
                }),
                HasSubstr("(OnlyRead if it is not written)"));
}

TEST(C11_text_functions, read_constant_memory_in_expressions) {
    const auto pick = source_function<int(int, ConstantPtr<int>)>(
        "pick", "int pick(int i, constant int* x) { return x[i & 3]; }");
    on_all_contexts([&](const context& ctx) {
        const vector<int> table(ctx, {10, 20, 30, 40});
        const auto index = balm::cast<int>(balm::element_index(0, 1001));
        vector<int> y(ctx, 1001);
        y = pick(index, table) + 1;
        expect_each(y.to_host(), [](std::size_t i) { return 10 * static_cast<int>(i % 4 + 1) + 1; });
        EXPECT_EQ(balm::sum(pick(index, table)), 250 * 100 + 10);
        EXPECT_THAT(message_of<usage_error>([&] { y = pick(index, table) + table[index & 3]; }),
                    AllOf(HasSubstr("a vector of 4 elements (16 bytes) in constant memory"),
                          HasSubstr("the expression also uses it elsewhere; copy it")));
        if (ctx.size() > 1) return;
        const device_info& info = ctx.device().info();
        if (info.constant_memory < (std::uint64_t{1} << 28)) {
            const vector<int> large(ctx, info.constant_memory / sizeof(int) + 1, 7);
            if (info.max_constant_arguments == 0) {  // on CUDA it lies anywhere
                y = pick(index, large);
                expect_each(y.to_host(), [](std::size_t) { return 7; });
            } else {
                EXPECT_THAT(message_of<usage_error>([&] { y = pick(index, large); }),
                            HasSubstr("it does not fit"));
            }
        }
        const vector<int> part = as_vector(vector<int>(ctx, 1024, 7).elements().from(512));
        EXPECT_THAT(message_of<usage_error>([&] { y = pick(index, part); }),
                    HasSubstr("only a part of its memory"));
    });
}

/// The structure is named by its tag and as a type, and its members are called otherwise.
const char* const bodies = R"(
    struct body { float4 at, speed; int number; };
    typedef struct body body;
    body moved(struct body from, float by) {
        from.at += by * from.speed;
        from.number += 1;
        return from;
    }
    static inline float energy(const body b) { return dot(b.speed, b.speed) / 2; }
    float of_neighbour(int i, global const struct body* all) { return energy(all[i ^ 1]); }
    void renumber(global body* all, int i, body as) { all[i].number = as.number; })";

TEST(C11_text_functions, take_and_return_structures) {
    const text_source text(bodies);
    const auto moved = source_function<particle(particle, float)>("moved", text);
    const auto energy = source_function<float(particle)>("energy", text);
    const auto of_neighbour = source_function<float(int, In<particle>)>("of_neighbour", text);
    const auto renumber = source_function<void(Mixed<particle>, int, particle)>("renumber", text);
    const auto step = kernel<1>("step", [&](Mixed<particle> all, Out<float> energies) {
        Index i = global_id(0);
        Var<particle> next = moved(all[i], 0.5f);
        all[i] = next;
        energies[i] = energy(next);
        renumber(all, cast<int>(i), moved(next, 1.f));  // between accesses of the kernel's own
        all[i].id += 100;
    });
    const std::string cuda = emit::print(*step.function(), runtime::dialect::cuda_cpp);
    EXPECT_THAT(cuda, HasSubstr("balm_cl::energy(balm_cl::balm_as<balm_cl::body>(a0))"));
    EXPECT_THAT(cuda, HasSubstr("balm_cl::renumber((balm_cl::body*)a0, a1, "));
    std::vector<particle> given(6);
    for (std::size_t k = 0; k < 6; ++k) {
        const auto v = static_cast<float>(k);
        given[k] = {{v, 1, 2, 3}, {v, 0, -v, 1}, static_cast<std::int32_t>(10 * k)};
    }
    const auto energy_of = [](const particle& p) { return (2 * p.vel[0] * p.vel[0] + 1) / 2; };
    on_all_devices([&](const device& on) {
        auto all = on.mixed_buffer<particle>(6);
        all.write(given);
        auto energies = on.out_buffer<float>(6);
        on.execute(step(all, energies), {6});
        const auto got = all.read();
        const auto measured = energies.read();
        for (std::size_t k = 0; k < 6; ++k) {
            const auto v = static_cast<float>(k);
            EXPECT_TRUE((got[k].pos == balm::float4{1.5f * v, 1, 2 - 0.5f * v, 3.5f})) << k;
            EXPECT_TRUE((got[k].vel == given[k].vel)) << k;
            EXPECT_EQ(got[k].id, given[k].id + 2 + 100);
            EXPECT_EQ(measured[k], energy_of(given[k]));
        }
    });
    on_all_contexts([&](const context& ctx) {
        const vector<particle> x(ctx, given);
        vector<particle> y(ctx, 6);
        vector<float> e(ctx, 6);
        y = moved(moved(x, 1.f), 1.f);
        e = energy(y) + energy(x);
        const auto host = y.to_host();
        const auto twice = e.to_host();
        float total = 0;
        for (std::size_t k = 0; k < 6; ++k) {
            const auto v = static_cast<float>(k);
            EXPECT_TRUE((host[k].pos == balm::float4{3 * v, 1, 2 - 2 * v, 5})) << k;
            EXPECT_EQ(host[k].id, given[k].id + 2);
            EXPECT_EQ(twice[k], 2 * energy_of(given[k]));
            total += energy_of(given[k]);
        }
        EXPECT_EQ(balm::sum(energy(x)), total);
        if (ctx.size() > 1) return;  // memory as a whole is of one device
        e = of_neighbour(balm::cast<int>(balm::element_index()), x);
        const auto others = e.to_host();
        for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(others[k], energy_of(given[k ^ 1]));
    });
}

TEST(C11_text_functions, of_texts_that_are_known_at_run_time) {
    const auto computed = [](const std::string& formula) {
        return source_function<float(float, float)>("f",
                                                    "float f(float a, float b) { return " + formula + "; }");
    };
    on_all_contexts([&](const context& ctx) {
        const vector<float> x(ctx, {1, 2, 3}), y(ctx, {4, 5, 6});
        EXPECT_EQ(balm::sum(computed("a * b")(x, y)), 32);
        EXPECT_EQ(balm::sum(computed("a - b")(x, y)), -9);
    });
}

}  // namespace

}  // namespace balm::test

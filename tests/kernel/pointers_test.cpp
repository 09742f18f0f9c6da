// Pointers of any depth, arrays inside kernels, constants.

#include <gtest/gtest.h>

#include <numeric>

#include "ir/ir.hpp"
#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(C16_pointers, into_global_memory_move_and_write) {
    const auto kernel = balm::kernel<1>("walk", [](Mixed<std::int32_t> numbers, Out<std::int64_t> out) {
        Ptr<std::int32_t> q = address_of(numbers[0]);
        q += 1;
        *q = 99;
        *q += 1;
        q[2] = q[1] + 5;
        Ptr<std::int32_t> end = q + 4;
        Int steps;
        WHILE (q != end) {
            ++q;
            steps += 1;
        }
        *(q - 1) = 7;
        out[0] = steps;
        out[1] = q - address_of(numbers[0]);
        out[2] = select(q > address_of(numbers[2]), 1, 0);
        Ptr<const std::int32_t> reader = q;
        out[3] = reader[-4];
        Ptr<std::int32_t> nowhere;
        out[4] = select(nowhere == q, 1, 0);
    });
    on_all_devices([&](const device& on) {
        auto numbers = on.mixed_buffer<std::int32_t>(8);
        numbers.write({10, 11, 12, 13, 14, 15, 16, 17});
        auto out = on.out_buffer<std::int64_t>(5);
        on.execute(kernel(numbers, out), {1});
        EXPECT_THAT(numbers.read(), ElementsAre(10, 100, 12, 17, 7, 15, 16, 17));
        EXPECT_THAT(out.read(), ElementsAre(4, 5, 1, 100, 0));
    });
}

TEST(C16_pointers, to_variables_and_to_pointers) {
    const auto kernel = balm::kernel<1>("depth", [](Mixed<std::int32_t> numbers, Out<std::int32_t> out) {
        Int x = 4;
        PrivatePtr<std::int32_t> px = address_of(x);
        *px += 5;
        out[0] = x;
        x = 20;
        out[1] = *px;
        Ptr<std::int32_t> q = address_of(numbers[0]);
        PrivatePtr<Ptr<std::int32_t>> qq = address_of(q);
        PrivatePtr<PrivatePtr<Ptr<std::int32_t>>> qqq = address_of(qq);
        **qq = 50;
        q += 1;
        *qq[0] = 51;
        *qq = q + 1;
        *q = 52;
        Ptr<std::int32_t> again = **qqq;
        out[2] = cast<std::int32_t>(again - address_of(numbers[0]));
        Array<Ptr<std::int32_t>, 3> many;
        for (int k = 0; k < 3; ++k) many[k] = address_of(numbers[2 - k]);
        Int at = 0;
        *many[at] = 60;
        *many[at + 1] += 1;
        out[3] = *many[2];
    });
    on_all_devices([&](const device& on) {
        auto numbers = on.mixed_buffer<std::int32_t>(3);
        numbers.fill(0);
        auto out = on.out_buffer<std::int32_t>(4);
        on.execute(kernel(numbers, out), {1});
        EXPECT_THAT(numbers.read(), ElementsAre(50, 52, 60));
        EXPECT_THAT(out.read(), ElementsAre(9, 20, 2, 50));
    });
}

TEST(C16_pointers, are_passed_to_functions_and_reinterpreted) {
    const auto increment = balm::function("increment(p)", [](Ptr<std::int32_t> p) { *p += 1; });
    const auto swap = balm::function("swap_(a, b)", [](LocalPtr<float> a, LocalPtr<float> b) {
        Float kept = *a;
        *a = Float(*b);
        *b = kept;
    });
    const auto larger = balm::function(
        "larger(a, b)", [](Ptr<const float> a, Ptr<const float> b) { return select(*a < *b, *b, *a); });
    const auto kernel = balm::kernel<1>(
        "calls", [&](Mixed<std::int32_t> numbers, In<float> given, Local<float> shared, Out<float> out) {
            increment(address_of(numbers[1]));
            shared[0] = given[0];
            shared[1] = given[1];
            swap(address_of(shared[0]), address_of(shared[1]));
            out[0] = shared[0];
            out[1] = larger(given.data(), given.data() + 1);
            out[2] = *pointer_cast<float>(address_of(numbers[0]));
            Ptr<std::uint8_t> bytes = pointer_cast<std::uint8_t>(address_of(numbers[1]));
            out[3] = bytes[1];
        });
    on_all_devices([&](const device& on) {
        auto numbers = on.mixed_buffer<std::int32_t>(2);
        numbers.write({0x3f800000, 0x1233});
        host_array<float> given(2);
        given[0] = 2;
        given[1] = 5;
        auto out = on.out_buffer<float>(4);
        on.execute(kernel(numbers, in(on, given), balm::local<float>(2), out), {1}, {1});
        EXPECT_THAT(out.read(), ElementsAre(5, 5, 1, 0x12));
        EXPECT_EQ(numbers.read()[1], 0x1234);
    });
}

TEST(C16_pointers, that_may_meet_keep_the_order_of_reads_and_writes) {
    const auto kernel =
        balm::kernel<1>("alias", [](Mixed<std::int32_t> numbers, Int k, Out<std::int32_t> out) {
            Ptr<std::int32_t> p = address_of(numbers[0]), q = p + k;
            Int before = *q;
            *p = 5;
            Int after = *q;
            numbers[0] = 6;
            Int last = *q;
            out[0] = before;
            out[1] = after;
            out[2] = last;
            Array<std::int32_t, 2> a;
            PrivatePtr<std::int32_t> r = a.data() + k;
            a[0] = 1;
            Int one = *r;
            *r = 2;
            out[3] = one * 10 + a[0];
        });
    on_all_devices([&](const device& on) {
        auto numbers = on.mixed_buffer<std::int32_t>(2);
        auto out = on.out_buffer<std::int32_t>(4);
        numbers.write({1, 2});
        on.execute(kernel(numbers, 0, out), {1});
        EXPECT_THAT(out.read(), ElementsAre(1, 5, 6, 12));
        numbers.write({1, 2});
        on.execute(kernel(numbers, 1, out), {1});
        EXPECT_THAT(out.read(), ElementsAre(2, 2, 2, 1));
    });
}

TEST(C12_arrays, of_one_to_three_dimensions_private_and_local) {
    const auto kernel = balm::kernel<1>("arrays", [](In<float> in, Out<float> out) {
        Index lid = local_id(0), i = global_id(0);
        LocalArray<float, 4, 9> tile;
        tile[lid / 8][lid % 8] = in[i];
        Array<float, 2, 3, 4> a;
        for (Int x : range(2))
            for (Int y : range(3))
                for (Int z : range(4)) a[x][y][z] = cast<float>(x * 100 + y * 10 + z);
        Array<std::int32_t, 5> zeros;
        local_barrier();
        out[i] = tile[lid % 4][lid / 4] + a[1][lid % 3][3] + cast<float>(Int(zeros[lid % 5]));
    });
    constexpr std::size_t n = 96;
    auto random = seeded_random();
    const auto a = random_values<float>(random, n, -1000, 1000);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<float>(n);
        on.execute(kernel(in(on, a), out), {n}, {32});
        expect_each(out.read(), [&](std::size_t i) {
            const std::size_t lid = i % 32;
            return a[i / 32 * 32 + lid % 4 * 8 + lid / 4] + static_cast<float>(100 + lid % 3 * 10 + 3);
        });
    });
}

TEST(C12_constants, are_shared_by_kernels_and_indexed_on_the_device) {
    const balm::constant_array<float> weights("weights", {0.25f, 0.5f, -1.f, 1e-40f, INFINITY});
    const balm::constant_array<std::int64_t> offsets("weights", {-5, INT64_MIN, INT64_MAX});
    const auto first = balm::kernel<1>("first", [=](Out<float> out) {
        Index i = global_id(0);
        out[i] = weights[i] + weights[0];
    });
    const auto second = balm::kernel<1>("second", [=](Out<std::int64_t> out) {
        Ptr<const std::int64_t, space::constant> p = offsets.data();
        out[global_id(0)] = p[global_id(0)] + select(weights[1] == 0.5f, 1, 0) - 1;
    });
    on_all_devices([&](const device& on) {
        EXPECT_THAT(run<float>(on, first, 5), ElementsAre(0.5f, 0.75f, -0.75f, 0.25f, INFINITY));
        EXPECT_THAT(run<std::int64_t>(on, second, 3), ElementsAre(-5, INT64_MIN, INT64_MAX));
    });
}

TEST(C12_constants, that_do_not_fit_are_refused) {
    EXPECT_THAT(
        message_of<usage_error>([] { balm::constant_array<float>("none", std::span<const float>()); }),
        HasSubstr("none"));
    const std::vector<double> many(9000);
    EXPECT_THAT(message_of<usage_error>([&] { balm::constant_array<double>("many", many); }),
                HasSubstr("65536"));
}

/// The refusal of a kernel of one work-item with this body.
template <class Body>
std::string refusal_of(Body body) {
    return message_of<trace_error>([&] { balm::kernel<1>("refused", body); });
}

struct ten {
    std::int32_t values[10];
    std::int32_t next;
};
BALM_STRUCT(ten, values, next)

TEST(C12_arrays, are_not_indexed_by_constants_out_of_range) {
    const std::string line = line_of(__FILE__, __LINE__ + 3);
    const std::string fault = refusal_of([](Out<std::int32_t> out) {
        Array<std::int32_t, 5> a;
        out[0] = a[5];
    });
    EXPECT_THAT(fault, AllOf(HasSubstr(line), HasSubstr("index 5"), HasSubstr("5 elements")));
    EXPECT_THAT(refusal_of([](Out<float> out) {
                    LocalArray<float, 3, 4> a;
                    a[1][4] = 1.f;
                    out[0] = a[0][0];
                }),
                AllOf(HasSubstr("index 4"), HasSubstr("4 elements")));
    EXPECT_THAT(refusal_of([](Out<float> out) {
                    Array<float, 3, 4> a;
                    out[0] = a[-1][5];
                }),
                AllOf(HasSubstr("index -1"), HasSubstr("3 elements")));
    const balm::constant_array<float> weights("weights", {1.f, 2.f});
    EXPECT_THAT(refusal_of([=](Out<float> out) { out[0] = weights[2u]; }),
                AllOf(HasSubstr("index 2"), HasSubstr("2 elements")));
    EXPECT_THAT(refusal_of([=](Out<float> out) { out[0] = weights[UINT64_MAX]; }), HasSubstr("2 elements"));
    EXPECT_THAT(refusal_of([](Mixed<ten> t) { t[4].values[10] = 1; }), HasSubstr("10 elements"));
    EXPECT_THAT(refusal_of([](Out<float> out) {
                    Float4 v;
                    out[0] = v[4];
                }),
                AllOf(HasSubstr("lane 4"), HasSubstr("4 lanes")));
    EXPECT_THAT(refusal_of([](Out<float4> out) {
                    Float4 v;
                    v.set(-1, 1.f);
                    out[0] = v;
                }),
                AllOf(HasSubstr("lane -1"), HasSubstr("4 lanes")));
    EXPECT_NO_THROW(balm::kernel<1>("inside", [=](Mixed<ten> t, Out<float> out) {
        Array<std::int32_t, 5> a;
        Float4 v;
        t[4].values[9] = a[4] + a[0];
        out[0] = weights[1] + v[3];
    }));
}

TEST(C12_arrays, are_not_indexed_by_values_that_turn_out_constant_and_out_of_range) {
    EXPECT_THAT(refusal_of([](Out<std::int32_t> out) {
                    Array<std::int32_t, 5> a;
                    Int k = 2;
                    out[0] = a[k * 2 + 1];
                }),
                AllOf(HasSubstr("index 5"), HasSubstr("5 elements")));
    EXPECT_THAT(refusal_of([](Out<std::int32_t> out) {
                    Array<std::int32_t, 5> a;
                    PrivatePtr<std::int32_t> p = a.data() + 3;
                    p -= 1;
                    out[0] = p[-3];
                }),
                AllOf(HasSubstr("index -1"), HasSubstr("5 elements")));
    EXPECT_THAT(refusal_of([](Mixed<ten> t, Int n) {
                    Int k = 5;
                    IF (n > 0) {
                        t[n].values[k * 2] = 1;
                    }
                }),
                AllOf(HasSubstr("index 10"), HasSubstr("10 elements")));
    EXPECT_NO_THROW(balm::kernel<1>("never", [](Mixed<std::int32_t> out) {
        Array<std::int32_t, 5> a;
        Int k = 5;
        IF (k < 5) {
            out[0] = a[k];
        }
        PrivatePtr<std::int32_t> end = a.data() + 5;
        out[1] = select(end == a.data(), 1, 0);
    }));
}

TEST(C16_pointers, take_any_number_of_steps) {
    constexpr int steps = 100'000;
    const auto kernel = balm::kernel<1>("steps(a, n)", [](Mixed<std::int32_t> a, Int n) {
        Ptr<std::int32_t> p = a.data();
        for (int k = 0; k < steps; ++k) p += 1;
        for (int k = 0; k < steps - 1; ++k) p -= 1;
        *p = 1;
        for (int k = 0; k < 1000; ++k) p += n * (k % 2 == 0 ? 1 : -1);
        p[1] = 2;
    });
    on_all_devices([&](const device& on) {
        auto a = on.mixed_buffer<std::int32_t>(4);
        a.fill(0);
        on.execute(kernel(a, 1), {1});
        EXPECT_THAT(a.read(), ElementsAre(0, 1, 2, 0));
    });
}

TEST(C12_arrays, in_local_memory_inside_blocks_and_functions_are_refused) {
    EXPECT_THAT(message_of<trace_error>([] {
                    balm::kernel<1>("inside", [](Out<float> out) {
                        IF (global_id(0) > 3) {
                            LocalArray<float, 4> a;
                            out[0] = a[0];
                        }
                    });
                }),
                HasSubstr("before IF"));
    EXPECT_THAT(message_of<trace_error>([] {
                    balm::function("f", [](Float x) {
                        LocalArray<float, 4> a;
                        return x + a[0];
                    });
                }),
                HasSubstr("belongs to the kernel"));
}

// GCC asks whether a parameter converts to the variable that it hides.
TEST(C13_names, of_parameters_may_be_those_of_vectors_outside) {
    on_all_contexts([](const balm::context& ctx) {
        balm::vector<float> x(ctx, {1, 2, 3}), y(ctx, 3);
        const auto kernel = balm::kernel<1>(
            "twice(x, y)", [](In<float> x, Out<float> y) { y[global_id(0)] = x[global_id(0)] * 2.f; });
        EXPECT_EQ(kernel.function()->parameters.size(), 2u);
        y = x * 2;
        EXPECT_THAT(y.to_host(), ElementsAre(2, 4, 6));
    });
}

}  // namespace
}  // namespace balm::test

// Parts of buffers as arguments of kernels: element 0 of the parameter is the part's first, wherever it
// begins, and what work on one allocation has to come after is kept.

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <numeric>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::ElementsAre;
using testing::HasSubstr;

struct sample {
    float3 place;
    std::int8_t kind;
};
BALM_STRUCT(sample, place, kind)

}  // namespace

TEST(C14_arguments, may_be_ranges_that_begin_anywhere) {
    const auto add = balm::kernel<1>(
        "add(n, a, b, out)", [](Int n, In<std::int32_t> a, In<std::int32_t> b, Out<std::int32_t> out) {
            Index i = global_id(0);
            IF (i < n) {
                out[i] = a[i] * 3 + b[i];
            }
        });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const std::size_t n = 500;
        const auto host_a = random_values<std::int32_t>(random, n, -1000, 1000),
                   host_b = random_values<std::int32_t>(random, n, -1000, 1000);
        auto a = in(on, host_a), b = in(on, host_b);
        auto out = on.mixed_buffer<std::int32_t>(n);
        for (int turn = 0; turn < 20; ++turn) {
            // At multiples of what the driver takes (128 bytes for PoCL, 512 for NVIDIA), and elsewhere.
            const std::size_t step = turn % 3 == 0 ? 128 : 1;
            const auto start = [&] { return random() % 300 / step * step; };
            const std::size_t from_a = start(), from_b = start(), to = start();
            const std::size_t count = 1 + random() % 200;
            out.fill(7);
            on.execute(
                add(static_cast<int>(count), a.from(from_a), b.range(from_b, from_b + count), out.from(to)),
                {256});
            const auto got = out.read();
            for (std::size_t i = 0; i < n; ++i) {
                const bool is_inside = i >= to && i < to + count;
                const int expected = is_inside ? host_a[from_a + i - to] * 3 + host_b[from_b + i - to] : 7;
                ASSERT_EQ(got[i], expected) << i << " from " << from_a << ", " << from_b << " to " << to;
            }
        }
    });
}

TEST(C14_arguments, may_be_parts_of_one_buffer_that_overlap_or_not) {
    const auto shift = balm::kernel<1>("shift(n, source, target)",
                                       [](Int n, In<std::int32_t> source, Mixed<std::int32_t> target) {
                                           for (Int k : range(n)) target[k] = source[k] + 1;
                                       });
    on_all_devices([&](const device& on) {
        auto a = on.mixed_buffer<std::int32_t>(300);
        a.fill(0);
        // Each element is the one before plus one: the kernel must see what it has just written.
        on.execute(shift(100, a.range(0, 100), a.range(1, 101)), {1});
        on.execute(shift(10, a.range(0, 10), a.range(200, 210)), {1});
        const auto got = a.read();
        for (int i = 0; i <= 100; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i);
        for (int i = 0; i < 10; ++i) ASSERT_EQ(got[static_cast<std::size_t>(200 + i)], i + 1);
    });
}

TEST(C14_arguments, may_be_parts_of_every_type_of_element) {
    const auto copy = [](auto zero) {
        using T = decltype(zero);
        return balm::kernel<1>("copy(in, out)",
                               [](In<T> in, Out<T> out) { out[global_id(0)] = in[global_id(0)]; });
    };
    const auto check = [&](const device& on, auto first, auto second) {
        using T = decltype(first);
        auto in = on.in_buffer<T>(5);
        auto out = on.mixed_buffer<T>(5);
        in.write({first, first, second, first, second});
        out.write({first, first, first, first, first});
        on.execute(copy(first)(in.from(2), out.from(1)), {3});
        const auto got = out.read();
        const T expected[] = {first, second, first, second, first};
        for (std::size_t i = 0; i < 5; ++i)
            EXPECT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0)
                << i << " of " << sizeof(T) << " bytes";
    };
    on_all_devices([&](const device& on) {
        check(on, std::int8_t{3}, std::int8_t{-4});
        check(on, false, true);
        check(on, std::uint16_t{3}, std::uint16_t{40000});
        check(on, 1.5f, -2.25f);
        if (on.info().has_double) check(on, 1.5, -1e300);
        check(on, float4{1, 2, 3, 4}, float4{5, 6, 7, 8});
        check(on, std::complex<float>(1, 2), std::complex<float>(3, -4));
        sample one{}, other{};
        one.kind = 7;
        other.place = {1, 2, 3};
        auto in = on.in_buffer<sample>(3);
        auto out = on.mixed_buffer<sample>(3);
        in.write({one, other, one});
        out.write({one, one, one});
        on.execute(copy(one)(in.from(1), out.from(1)), {2});
        EXPECT_EQ(out.read()[1].place[1], 2.f);
        EXPECT_EQ(out.read()[2].kind, 7);
    });
}

TEST(C14_arguments, may_be_single_values) {
    const auto total = balm::kernel<1>("total(n, factor, numbers, sum)",
                                       [](Int n, In<float> factor, In<float> numbers, Out<float> sum) {
                                           Float all = 0.f;
                                           for (Int k : range(n)) all += numbers[k] * factor[0];
                                           sum[0] = all;
                                       });
    on_all_devices([&](const device& on) {
        auto factor = on.in_buffer<float>();
        auto numbers = on.in_buffer<float>(4);
        auto sum = on.out_buffer<float>();
        factor.write(0.5f);
        numbers.write({1, 2, 3, 4});
        on.execute(total(4, factor, numbers, sum), {1});
        EXPECT_EQ(sum.read(), 5.f);
    });
}

TEST(C14_arguments, that_are_parts_of_one_buffer_wait_for_each_other_across_queues) {
    const auto grow = balm::kernel<1>("grow(turns, numbers)", [](Int turns, Mixed<std::uint32_t> numbers) {
        Index i = global_id(0);
        UInt value = numbers[i];
        for (Int k : range(turns)) {
            static_cast<void>(k);
            value = value * 1664525u + 1013904223u;
        }
        numbers[i] = value;
    });
    on_all_devices([&](const device& on) {
        const std::size_t n = 1 << 12;
        auto a = on.mixed_buffer<std::uint32_t>(2 * n + 1);
        a.fill(1);
        queue other = on.make_queue();
        const event first = other.execute(grow(3000, a.range(1, n + 1)), {n});
        const event second = on.execute(grow(1, a.range(1, n + 1)), {n});
        std::uint32_t expected = 1;
        for (int k = 0; k < 3001; ++k) expected = expected * 1664525u + 1013904223u;
        EXPECT_EQ(a.range(n, n + 1).read()[0], expected);
        EXPECT_EQ(a.range(0, 1).read()[0], 1u);
    });
}

TEST(C14_arguments, of_text_begin_where_the_driver_can_bind_them) {
    const auto twice = balm::source_kernel<1, void(In<std::int32_t>, Out<std::int32_t>)>(
        "twice",
        "kernel void twice(global const int* a, global int* b) {\n"
        "    b[get_global_id(0)] = 2 * a[get_global_id(0)];\n}\n");
    on_all_devices([&](const device& on) {
        auto a = on.mixed_buffer<std::int32_t>(1024), b = on.mixed_buffer<std::int32_t>(1024);
        std::vector<std::int32_t> host(1024);
        std::iota(host.begin(), host.end(), 0);
        a.write(host);
        b.fill(-1);
        const std::size_t step = on.info().memory_alignment / 4;
        on.execute(twice(a.from(2 * step), b.from(step)), {8});
        EXPECT_EQ(b.range(step, step + 1).read()[0], 4 * static_cast<int>(step));
        EXPECT_EQ(b.range(step + 8, step + 9).read()[0], -1);
        if (on.info().api == backend::cuda) {
            on.execute(twice(a.from(1), b), {8});
            EXPECT_EQ(b.read()[0], 2);
        } else {
            EXPECT_THAT(message_of<usage_error>([&] { on.execute(twice(a.from(1), b), {8}); }),
                        AllOf(HasSubstr("argument 1 of kernel 'twice'"), HasSubstr("at byte 4"),
                              HasSubstr("pass the whole buffer")));
        }
    });
}

TEST(C14_arguments, that_were_freed_are_refused) {
    const auto set = balm::kernel<1>("set", [](Out<std::int32_t> out) { out[global_id(0)] = 1; });
    on_all_devices([&](const device& on) {
        auto a = on.mixed_buffer<std::int32_t>(4);
        const auto bound = set(a.from(1));
        a.free();
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(bound, {2}); }),
                    HasSubstr("was freed by free()"));
        auto b = on.mixed_buffer<std::int32_t>(4);
        const auto view = b.map();
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(set(b), {2}); }), HasSubstr("is mapped"));
    });
}

TEST(A2_pointers, are_arguments_of_kernels) {
    const auto scale =
        balm::kernel<1>("scale(factor, in, out)", [](Float factor, In<float> in, Out<float> out) {
            Index i = global_id(0);
            out[i] = factor * in[i];
        });
    const auto lanes = balm::kernel<1>("lanes(vectors)", [](Mixed<float4> vectors) {
        Index i = global_id(0);
        vectors[i] = Float4(vectors[i]).wzyx;
    });
    on_all_devices([&](const device& on) {
        const device_pointer<float> p = on.allocate<float>(20);
        std::vector<float> host(20);
        std::iota(host.begin(), host.end(), 0.f);
        p.range().write(host);
        on.execute(scale(2.f, p + 1, p + 13), {5});
        EXPECT_THAT((p + 12).range(7).read(), ElementsAre(12, 2, 4, 6, 8, 10, 18));
        on.execute(lanes((p + 4).as<float4>()), {2});
        EXPECT_THAT((p + 3).range(9).read(), ElementsAre(3, 7, 6, 5, 4, 11, 10, 9, 8));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(lanes((p + 5).as<float4>())); }),
                    HasSubstr("a multiple of 16"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(scale(1.f, p - 1, p)); }),
                    HasSubstr("byte -4"));
    });
}

/// Whether a launch is refused, because what work-items read would depend on each other.
template <class Launch>
bool is_refused(Launch&& launch) {
    try {
        launch();
    } catch (const usage_error& refusal) {
        EXPECT_THAT(refusal.what(), HasSubstr("is given overlapping memory as arguments"));
        return true;
    }
    return false;
}

struct pair_of_numbers {
    int first, second;
};
BALM_STRUCT(pair_of_numbers, first, second)

// The cases in which each work-item accesses both at one index of its own.
TEST(C14_arguments, may_be_one_memory_twice_at_an_index_of_each_work_item) {
    using ints = In<std::int32_t>;
    const auto twice = balm::kernel<1>("twice", [](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] = 2 * a[i];
    });
    const auto by_grid = balm::kernel<1>("by_grid", [](Index n, ints a, Out<std::int32_t> out) {
        for (Index i : grid_range(n)) out[i] = 2 * a[i];
    });
    const auto by_strides = balm::kernel<1>("by_strides", [](Int n, ints a, Out<std::int32_t> out) {
        for (Int i : range(cast<int>(global_id(0)), n, cast<int>(global_size(0)))) out[i] = 2 * a[i];
    });
    const auto backwards = balm::kernel<1>("backwards", [](Index n, ints a, Out<std::int32_t> out) {
        const Index i = global_id(0);
        IF (i < n) {
            out[n - 1 - i] = 2 * a[n - 1 - i];
        }
    });
    const auto by_groups = balm::kernel<1>("by_groups", [](ints a, Out<std::int32_t> out) {
        const Index i = group_id(0) * local_size(0) + local_id(0);
        out[i] = 2 * a[i];
    });
    const auto by_rows = balm::kernel<2>("by_rows", [](In<std::int32_t, 2> a, Out<std::int32_t, 2> out) {
        const Index row = global_id(1), column = global_id(0);
        out(row, column) = 2 * a(row, column);
    });
    const auto in_columns =
        balm::kernel<1>("in_columns", [](Index rows, Index n, ints a, Out<std::int32_t> out) {
            const Index i = global_id(0);
            for (Index row : range(rows)) out[row * n + i] = 2 * a[row * n + i];
        });
    const auto accumulate = balm::kernel<1>("accumulate", [](Mixed<std::int32_t> a, Mixed<std::int32_t> b) {
        const Index i = global_id(0);
        a[i] += 1;
        b[i] = a[i] + b[i] - 2;
    });
    const auto of_structures =
        balm::kernel<1>("of_structures", [](In<pair_of_numbers> a, Out<pair_of_numbers> out) {
            const Index i = global_id(0);
            const Int first = a[i].first, second = a[i].second;
            out[i].first = second;
            out[i].second = first;
        });
    const auto unused = balm::kernel<1>("unused", [](Mixed<std::int32_t>, Out<std::int32_t> out, Index n) {
        const Index i = global_id(0);
        out[n - 1 - i] = 2 * cast<std::int32_t>(n - 1 - i);
    });
    const auto only_read =
        balm::kernel<1>("only_read", [](Mixed<std::int32_t> a, Mixed<std::int32_t> b, Out<std::int32_t> out) {
            const Index i = global_id(0);
            out[i] = a[0] + b[i];
        });
    on_all_devices([&](const device& on) {
        const std::size_t n = 64;
        auto x = on.mixed_buffer<std::int32_t>(n);
        std::vector<std::int32_t> numbers(n);
        std::iota(numbers.begin(), numbers.end(), 0);
        const auto expect_twice = [&](const char* name) {
            const auto got = x.read();
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 2 * numbers[i]) << name;
            x.write(std::span<const std::int32_t>(numbers));
        };
        const auto count = static_cast<std::int64_t>(n);
        x.write(std::span<const std::int32_t>(numbers));
        EXPECT_FALSE(is_refused([&] { on.execute(twice(x, x), {n}); }));
        expect_twice("twice");
        EXPECT_FALSE(is_refused([&] { on.execute(by_grid(count, x, x), {n}); }));
        expect_twice("by_grid");
        EXPECT_FALSE(is_refused([&] { on.execute(by_strides(static_cast<int>(n), x, x), {n / 8}); }));
        expect_twice("by_strides");
        EXPECT_FALSE(is_refused([&] { on.execute(backwards(count, x, x), {n}); }));
        expect_twice("backwards");
        EXPECT_FALSE(is_refused([&] { on.execute(by_groups(x, x), {n}); }));
        expect_twice("by_groups");
        EXPECT_FALSE(is_refused([&] { on.execute(in_columns(std::int64_t{4}, count / 4, x, x), {n / 4}); }));
        expect_twice("in_columns");
        EXPECT_FALSE(is_refused([&] { on.execute(accumulate(x, x), {n}); }));
        expect_twice("accumulate");
        EXPECT_FALSE(is_refused([&] { on.execute(unused(x, x, count), {n}); }));
        expect_twice("unused");
        auto rows = on.mixed_buffer<std::int32_t>({4, 16});
        rows.write(std::span<const std::int32_t>(numbers));
        EXPECT_FALSE(is_refused([&] { on.execute(by_rows(rows, rows), {16, 4}); }));
        const auto of_rows = rows.read();
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(of_rows[i], 2 * numbers[i]);
        auto pairs = on.mixed_buffer<pair_of_numbers>(n);
        pairs.fill(pair_of_numbers{1, 2});
        EXPECT_FALSE(is_refused([&] { on.execute(of_structures(pairs, pairs), {n}); }));
        EXPECT_EQ(pairs.read()[n - 1].first, 2);
        auto out = on.mixed_buffer<std::int32_t>(n);
        EXPECT_FALSE(is_refused([&] { on.execute(only_read(x, x, out), {n}); }));
        EXPECT_EQ(out.read()[5], numbers[0] + numbers[5]);
    });
}

TEST(C14_arguments, are_refused_where_memory_that_is_written_overlaps) {
    using ints = In<std::int32_t>;
    const auto reverse = balm::kernel<1>("reverse", [](ints a, Out<std::int32_t> out, Index n) {
        const Index i = global_id(0);
        out[i] = a[n - 1 - i];
    });
    const auto next = balm::kernel<1>("next", [](ints a, Mixed<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] += a[i + 1];
    });
    const auto halved = balm::kernel<1>("halved", [](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0) / 2;
        out[i] = 2 * a[i];
    });
    const auto twice_own = balm::kernel<1>("twice_own", [](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0) + local_id(0);
        out[i] = 2 * a[i];
    });
    const auto gathered = balm::kernel<1>("gathered", [](ints p, ints a, Out<std::int32_t> out) {
        const Index i = p[global_id(0)];
        out[i] = 2 * a[i];
    });
    const auto one = balm::kernel<1>("one", [](ints a, Out<std::int32_t> out) { out[0] = a[0] + 1; });
    const auto two_results = balm::kernel<1>("two_results", [](Out<std::int32_t> a, Out<std::int32_t> b) {
        a[global_id(0)] = 1;
        b[global_id(0) + 1] = 2;
    });
    const auto in_rows = balm::kernel<2>("in_rows", [](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0);  // alike in all rows
        out[i] = 2 * a[i];
    });
    const auto take = balm::function("take", [](ints a, Index i) { return Int(a[i + 1]); });
    const auto by_function = balm::kernel<1>("by_function", [=](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] = take(a, i);
    });
    const auto counter = balm::kernel<1>(
        "counter", [](ints a, Mixed<std::int32_t> out) { atomic_add(out[global_id(0)], a[global_id(0)]); });
    const auto twice = balm::kernel<1>("twice", [](ints a, Out<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] = 2 * a[i];
    });
    const auto punned = balm::kernel<1>("punned", [](In<float> a, Out<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] = cast<std::int32_t>(a[i]);
    });
    const auto sum = balm::kernel<1>("sum", [](ints a, ints b, Out<std::int32_t> out) {
        const Index i = global_id(0);
        out[i] = a[i + 1] + b[i];
    });
    on_all_devices([&](const device& on) {
        const std::size_t n = 64;
        auto x = on.mixed_buffer<std::int32_t>(2 * n), p = on.mixed_buffer<std::int32_t>(n),
             other = on.mixed_buffer<std::int32_t>(n);
        x.fill(1);
        p.fill(0);
        EXPECT_TRUE(is_refused([&] { on.execute(reverse(x, x, std::int64_t{64}), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(next(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(twice_own(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(halved(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(gathered(p, x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(gathered(x, p, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(one(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(two_results(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(in_rows(x, x), {n, 2}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(by_function(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(counter(x, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(twice(x.range(0, n), x.range(1, n + 1)), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(sum(x, p, x), {n}); }));
        EXPECT_TRUE(is_refused([&] { on.execute(punned(x.as<float>(), x), {n}); }));
        expect_each(x.read(), [](std::size_t) { return 1; });  // nothing ran
        // Apart, or only read.
        EXPECT_FALSE(
            is_refused([&] { on.execute(reverse(x.range(0, n), x.from(n), std::int64_t{64}), {n}); }));
        EXPECT_FALSE(is_refused([&] { on.execute(sum(x, x, other), {n}); }));
        EXPECT_FALSE(is_refused([&] { on.execute(sum(x, other, other), {n}); }));
        EXPECT_FALSE(is_refused([&] { on.execute(gathered(p, p, other), {n}); }));
    });
}

}  // namespace balm::test

// Parameters, dimensions, grids, local memory; the programs of design.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

// ---- parameters -------------------------------------------------------------------------------------

TEST(C8_parameters, of_every_scalar_type_by_value) {
    const auto kernel =
        balm::kernel<1>("by_value", [](Bool a, Char b, UChar c, Short d, UShort e, Int f, UInt g, Long h,
                                       ULong i, Float j, Double k, Out<double> out) {
            out[0] = select(a, 1, 0);
            out[1] = b;
            out[2] = c;
            out[3] = d;
            out[4] = e;
            out[5] = f;
            out[6] = g;
            out[7] = h;
            out[8] = i;
            out[9] = j;
            out[10] = k;
        });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<double>(11);
        on.execute(kernel(true, -5, 250, -30000, 65000, -2000000000, 4000000000u, -9007199254740992LL,
                          9007199254740992ULL, 0.5, -1e300, out),
                   {1});
        EXPECT_THAT(out.read(), testing::ElementsAre(1, -5, 250, -30000, 65000, -2e9, 4e9,
                                                     -9007199254740992.0, 9007199254740992.0, 0.5, -1e300));
        on.execute(kernel(false, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, out), {1});
        EXPECT_EQ(out.read()[0], 0);
    });
}

TEST(C8_parameters, by_value_that_do_not_fit_are_refused) {
    const auto kernel = balm::kernel<1>("fits", [](UChar a, Out<std::int32_t> out) { out[0] = a; });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(1);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(kernel(256, out)); }),
                    HasSubstr("the argument 256 does not fit its parameter, which has the type u8"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(kernel(-1, out)); }),
                    HasSubstr("argument -1"));
    });
}

template <class T>
class C8_memory : public testing::Test {};
TYPED_TEST_SUITE(C8_memory, scalar_types);

TYPED_TEST(C8_memory, in_out_mixed_and_local_of_every_type) {
    using T = TypeParam;
    constexpr std::size_t n = 96, group = 32;
    const auto kernel = balm::kernel<1>("memory", [](In<T> in, Out<T> out, Mixed<T> mixed, Local<T> local) {
        Index i = global_id(0), lid = local_id(0);
        local[lid] = in[i];
        local_barrier();
        out[i] = local[local_size(0) - 1 - lid];
        Var<T> before = mixed[i];
        mixed[i] = select(before == local[lid], before, local[lid]);
    });
    auto random = seeded_random();
    const auto a = random_values<T>(random, n), b = random_values<T>(random, n);
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<T>(n);
        auto mixed = on.mixed_buffer<T>(n);
        mixed.write(std::span<const T>(b));
        on.execute(kernel(in(on, a), out, mixed, balm::local<T>(group)), {n}, {group});
        expect_each(out.read(), [&](std::size_t i) { return a[i / group * group + group - 1 - i % group]; });
        expect_each(mixed.read(), [&](std::size_t i) { return a[i]; });
    });
}

// ---- dimensions -------------------------------------------------------------------------------------

TEST(C7_dimensions, one_two_and_three_and_every_query) {
    const auto line = balm::kernel<1>("line", [](Out<std::int64_t> out) {
        Index i = global_id(0);
        out[i] = i + 1000 * local_id(0) + 100000 * group_id(0) + 10000000 * group_count(0) +
                 1000000000 * local_size(0) + 100000000000 * global_size(0);
    });
    const auto plane = balm::kernel<2>("plane", [](Grid<2> g, Out<std::int64_t, 2> out) {
        Index at = g.global_id<1>() * g.global_size<0>() + g.global_id<0>();
        out[at] = g.local_id<0>() + 100 * g.local_id<1>() + 10000 * g.group_id<0>() +
                  1000000 * g.group_id<1>() + 100000000 * g.group_count<1>() +
                  10000000000 * g.local_size<1>();
    });
    const auto space = balm::kernel<3>("space", [](Out<std::int64_t, 3> out) {
        Index x = global_id(0), y = global_id(1), z = global_id(2);
        out[(z * global_size(1) + y) * global_size(0) + x] = x + 100 * y + 10000 * z + 1000000 * group_id(2);
    });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int64_t>(24);
        on.execute(line(out), {24}, {8});
        expect_each(out.read(), [](std::size_t i) {
            return i + 1000 * (i % 8) + 100000 * (i / 8) + 10000000 * 3u + 1000000000ull * 8 +
                   100000000000ull * 24;
        });
        auto out2 = on.out_buffer<std::int64_t>(4, 6);
        on.execute(plane(out2), {6, 4}, {3, 2});
        expect_each(out2.read(), [](std::size_t at) {
            const std::size_t x = at % 6, y = at / 6;
            return x % 3 + 100 * (y % 2) + 10000 * (x / 3) + 1000000 * (y / 2) + 100000000ull * 2 +
                   10000000000ull * 2;
        });
        auto out3 = on.out_buffer<std::int64_t>(4, 3, 2);
        on.execute(space(out3), {2, 3, 4}, {2, 1, 2});
        expect_each(out3.read(), [](std::size_t at) {
            const std::size_t x = at % 2, y = at / 2 % 3, z = at / 6;
            return x + 100 * y + 10000 * z + 1000000 * (z / 2);
        });
    });
}

// ---- launching --------------------------------------------------------------------------------------

TEST(C14_execute, refuses_local_sizes_before_the_launch) {
    const auto kernel =
        balm::kernel<2>("grid_check", [](Out<std::int32_t, 2> out) { out[global_id(0)] = 1; });
    const auto shares = balm::kernel<1>("shares", [](Local<double> room, Out<double> out) {
        room[local_id(0)] = 1;
        out[global_id(0)] = room[local_id(0)];
    });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(100);
        EXPECT_THAT(
            message_of<usage_error>([&] {
                on.execute(kernel(out), {100, 6}, {30, 1});
            }),
            AllOf(HasSubstr("grid_check"), HasSubstr("30"), HasSubstr("100"), HasSubstr("dimension 0")));
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(kernel(out), {100, 6}, {10, 4});
                    }),
                    HasSubstr("dimension 1"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(kernel(out), {100, 6}, {0, 1});
                    }),
                    HasSubstr("does not divide"));
        const std::size_t huge = on.info().max_work_group_size * 2;
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(kernel(out), {huge, 1}, {huge, 1});
                    }),
                    HasSubstr("allow"));
        auto d = on.out_buffer<double>(16);
        const auto too_much = static_cast<std::size_t>(on.info().local_memory / sizeof(double) + 1);
        EXPECT_THAT(message_of<usage_error>(
                        [&] { on.execute(shares(balm::local<double>(too_much), d), {16}, {16}); }),
                    AllOf(HasSubstr("shares"), HasSubstr("local memory"),
                          HasSubstr(std::to_string(on.info().local_memory))));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(shares(balm::local<double>(0), d)); }),
                    HasSubstr("local memory"));
    });
}

TEST(C14_execute, counts_the_arrays_of_the_kernel_with_the_memory_of_the_launch) {
    constexpr std::size_t declared = 2048;
    const auto kernel = balm::kernel<1>("declares", [](Local<double> room, Out<double> out) {
        LocalArray<double, declared> mine;
        mine[local_id(0)] = 1;
        room[local_id(0)] = 2;
        out[global_id(0)] = mine[local_id(0)] + room[local_id(0)];
    });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<double>(16);
        const std::size_t fills = on.info().local_memory / sizeof(double);
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(kernel(balm::local<double>(fills - declared + 1), out), {16}, {16});
                    }),
                    AllOf(HasSubstr("declares"), HasSubstr(std::to_string((fills + 1) * sizeof(double)))));
        on.execute(kernel(balm::local<double>(16), out), {16}, {16});
        expect_each(out.read(), [](std::size_t) { return 3; });
    });
}

TEST(C14_execute, runs_kernels_of_many_registers_in_the_largest_groups) {
    constexpr int values = 96;
    const auto kernel = balm::kernel<1>("many_registers", [](In<float> in, Out<float> out) {
        std::vector<Float> x(values);  // all alive until the last is read
        for (int k = 0; k < values; ++k) x[static_cast<std::size_t>(k)] = in[global_id(0) + k];
        for (Int round : range(4)) {
            for (int k = 0; k < values; ++k) {
                Float& each = x[static_cast<std::size_t>(k)];
                each = each * 2 + x[static_cast<std::size_t>((k + 1) % values)] + cast<float>(round);
            }
        }
        Float sum = 0.f;
        for (const Float& each : x) sum += each;
        out[global_id(0)] = sum;
    });
    const auto expected = [](std::size_t item, const auto& in) {
        std::vector<float> x(values);
        for (std::size_t k = 0; k < values; ++k) x[k] = in[item + k];
        for (int round = 0; round < 4; ++round)
            for (std::size_t k = 0; k < values; ++k)
                x[k] = x[k] * 2 + x[(k + 1) % values] + static_cast<float>(round);
        return std::accumulate(x.begin(), x.end(), 0.f);
    };
    on_all_devices([&](const device& on) {
        const std::size_t group = std::min<std::size_t>(on.info().max_work_group_size, 1024);
        host_array<float> values_in{shape(2 * group + values)};
        for (std::size_t i = 0; i < values_in.size(); ++i)
            values_in[i] = static_cast<float>(i * 7 % 13);  // exact sums
        const auto a = in(on, values_in);
        auto out = on.out_buffer<float>(2 * group);
        on.execute(kernel(a, out), balm::groups(2, group));
        expect_each(out.read(), [&](std::size_t i) { return expected(i, values_in); });
    });
}

TEST(A3_grid_and_block, say_the_launch_with_local_memory_sized_there) {
    const auto reverse = balm::kernel<1>("reverse", [](In<int> in, Out<int> out, Local<int> room) {
        room[local_id(0)] = in[global_id(0)];
        barrier();
        out[global_id(0)] = room[local_size(0) - 1 - local_id(0)] + 1000 * cast<int>(group_count(0));
    });
    const auto plane = balm::kernel<2>("plane_of_groups", [](Out<int, 2> out) {
        Index at = global_id(1) * global_size(0) + global_id(0);
        out[at] =
            cast<int>(group_count(0) + 10 * group_count(1) + 100 * local_size(0) + 10000 * local_size(1));
    });
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::size_t block : {1u, 32u, 60u}) {
            const std::size_t grid = 7;
            const auto values = random_values<int>(random, grid * block);
            auto out = on.out_buffer<int>(grid * block);
            on.execute(reverse(in(on, values), out, balm::local<int>(block)), balm::groups(grid, block));
            expect_each(out.read(), [&](std::size_t i) {
                return static_cast<int>(
                    static_cast<unsigned>(values[i / block * block + block - 1 - i % block]) + 1000u * grid);
            });
        }
        auto out = on.mixed_buffer<int>(6, 20);
        event done = on.execute(plane(out), balm::groups({5, 2}, {4, 3}));
        expect_each(out.read(done), [](std::size_t) { return 5 + 20 + 400 + 30000; });
        on.execute(plane(out), balm::groups({5, 0}, {4, 3}));
        expect_each(out.read(), [](std::size_t) { return 5 + 20 + 400 + 30000; });
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(plane(out), balm::groups({1, 1}, {4, 0}));
                    }),
                    HasSubstr("work-groups of 0"));
    });
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    EXPECT_THAT(message_of<usage_error>([] { (void)balm::groups(most / 2, 3).global(); }),
                HasSubstr(std::to_string(most / 2)));
}

TEST(C14_execute, takes_grids_of_any_size) {
    const auto kernel = balm::kernel<1>(
        "any_size", [](Out<std::int32_t> out) { out[global_id(0)] = cast<int>(global_id(0)); });
    on_all_devices([&](const device& on) {
        for (const std::size_t n : {1u, 2u, 255u, 257u, 1009u, 65536u})
            expect_each(run<std::int32_t>(on, kernel, n), [](std::size_t i) { return i; });
        auto out = on.out_buffer<std::int32_t>(1);
        out.fill(3);
        event nothing = on.execute(kernel(out), {0});
        nothing.wait();
        EXPECT_EQ(out.read()[0], 3);
    });
}

/// What is said of the kernels that are compiled meanwhile, line by line: why each of them is.
std::vector<std::string> reasons_while(const std::function<void()>& body) {
    ::setenv("BALM_SHOW_KERNELS", "1", 1);
    testing::internal::CaptureStderr();
    body();
    ::unsetenv("BALM_SHOW_KERNELS");
    std::istringstream shown(testing::internal::GetCapturedStderr());
    std::vector<std::string> reasons;
    for (std::string line; std::getline(shown, line);)
        if (const auto at = line.find("launched for"); at != std::string::npos)
            reasons.push_back(line.substr(at));
    return reasons;
}

TEST(C14_execute, says_what_is_new_about_each_variant_of_a_kernel) {
    using testing::ElementsAre;
    using testing::StartsWith;
    on_all_devices([](const device& on) {
        const auto copy = [](const char* name) {
            return balm::kernel<1>(name, [](In<int> a, Out<int> out) {
                out[global_id(0) - global_offset(0)] = a[global_id(0) - global_offset(0)];
            });
        };
        const auto kernel = copy("first_plain"), other = copy("first_with_an_offset");
        auto a = on.mixed_buffer<int>(64), b = on.mixed_buffer<int>(64);
        a.fill(1);
        EXPECT_THAT(reasons_while([&] {
                        on.execute(kernel(a, b), {64}, {64});
                        on.execute(kernel(a, b), {64}, {64});
                        on.execute(kernel(a, b), {64}, {64}, balm::offset(1));
                        on.execute(kernel(a, a), {64}, {64}, balm::offset(1));
                        on.execute(kernel(a, a), {64}, {64});
                    }),
                    ElementsAre("launched for the first time", "launched for the first time with an offset",
                                "launched for the first time with arguments that share memory",
                                "launched for the first time with arguments that share memory"));
        EXPECT_THAT(reasons_while([&] {
                        on.execute(other(a, a), {64}, {64}, balm::offset(1));
                        on.execute(other(a, b), {64}, {64}, balm::offset(1));
                        on.execute(other(a, b), {64}, {64});
                    }),
                    ElementsAre("launched for the first time with arguments that share memory and an offset",
                                "launched for the first time with arguments that share no memory",
                                "launched for the first time with no offset"));
    });
}

TEST(C14_execute, refuses_negative_sizes) {
    const auto line = balm::kernel<1>("line", [](Out<int> out) { out[global_id(0)] = 1; });
    const auto plane = balm::kernel<2>("plane", [](Out<int> out) { out[global_id(0)] = 1; });
    const int minus_five = -5;
    const long long minus_two = -2;
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(100);
        const auto expect_refusal = [](auto&& launch, const char* kernel, const char* sizes) {
            EXPECT_THAT(message_of<usage_error>(launch), AllOf(HasSubstr(kernel), HasSubstr(sizes)));
        };
        expect_refusal([&] { on.execute(line(out), {minus_five}); }, "'line'", "over -5 work-items");
        expect_refusal([&] { on.execute(plane(out), {0, minus_two}); }, "'plane'", "over 0 x -2 work-items");
        expect_refusal(
            [&] {
                on.execute(plane(out), std::array<std::int64_t, 2>{-1, 4});
            },
            "'plane'", "over -1 x 4 work-items");
        expect_refusal([&] { on.execute(line(out), {100}, {minus_five}); }, "'line'", "in work-groups of -5");
        expect_refusal([&] { on.execute(line(out), {100}, {minus_five}, balm::offset(1)); }, "'line'",
                       "in work-groups of -5");
        expect_refusal([&] { on.execute(line(out), balm::groups(static_cast<std::size_t>(minus_five), 4)); },
                       "-5", "work-groups of 4");
        on.execute(plane(out), {minus_five + 6, std::uint8_t{3}}, {1, 1});  // any integers
    });
}

TEST(C14_execute, refuses_more_work_items_than_can_be_counted) {
    const auto line = balm::kernel<1>("line", [](Out<int> out) { out[0] = 1; });
    const auto space = balm::kernel<3>("space", [](Out<int> out) { out[0] = 1; });
    constexpr std::size_t large = std::size_t{1} << 32;
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<int>(1);
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(space(out), {large, large, 1});
                    }),
                    AllOf(HasSubstr("'space'"), HasSubstr("4294967296 x 4294967296 x 1 work-items"),
                          HasSubstr(std::to_string(last))));
        EXPECT_THAT(message_of<usage_error>([&] {
                        on.execute(space(out), {large, 4, large}, {1, 1, 1});
                    }),
                    HasSubstr("more than the maximum"));
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(line(out), {2}, balm::offset(last - 1)); }),
                    AllOf(HasSubstr("'line'"), HasSubstr("at offset " + std::to_string(last - 1))));
        on.execute(space(out), {large, 0, large});  // none at all
        on.execute(line(out), {1}, balm::offset(last - 1));
        EXPECT_EQ(out.read()[0], 1);
    });
    EXPECT_THAT(message_of<usage_error>([] {
                    (void)balm::groups({large, large}, {1, large}).global();
                }),
                HasSubstr("exceed the largest possible grid"));
}

TEST(C14_execute, refuses_memory_of_another_device) {
    if (present_devices().size() < 2) GTEST_SKIP() << "one device";
    const auto kernel = balm::kernel<1>("elsewhere", [](Out<std::int32_t> out) { out[0] = 1; });
    auto out = present_devices()[0].out_buffer<std::int32_t>(1);
    EXPECT_THAT(
        message_of<usage_error>([&] { present_devices()[1].execute(kernel(out), {1}); }),
        AllOf(HasSubstr("argument 1"), HasSubstr("elsewhere"), HasSubstr(words(present_devices()[0]))));
}

TEST(C14_execute, gives_kernels_of_any_plain_name) {
    // Names that one dialect or the other knows already.
    for (const char* name :
         {"norm",        "kernel", "main",     "float4", "isequal",   "vec_step",   "mad_hi",
          "fast_length", "rnorm",  "abort",    "index",  "time",      "native_sin", "half_cos",
          "vload4",      "erfinv", "dim3",     "signed", "mem_fence", "j0f",        "sinf",
          "sum",         "printf", "MAXFLOAT", "uint3",  "clock64",   "exit"}) {
        SCOPED_TRACE(name);
        const auto kernel = balm::kernel<1>(name, [](Out<std::int32_t> out) { out[global_id(0)] = 1; });
        on_all_devices([&](const device& on) { EXPECT_EQ(run<std::int32_t>(on, kernel, 1)[0], 1); });
    }
}

TEST(C14_execute, runs_kernels_whose_parameters_have_any_plain_name) {
    const auto kernel =
        balm::kernel<1>("odd_names(kernel, float4, gid, out, k, threadIdx)",
                        [](Int a, Int b, Int c, Out<std::int32_t> out, In<std::int32_t> d, Float e) {
                            Index i = global_id(0);
                            for (Int k : range(2)) out[i] = a + b * c + d[i] + cast<int>(e) + k;
                        });
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<std::int32_t>(1);
        on.execute(kernel(1, 2, 3, out, in(on, host_array<std::int32_t>{100}), 1000.f), {1});
        EXPECT_EQ(out.read()[0], 1108);
    });
}

// ---- the programs of design.md ----------------------------------------------------------------------

TEST(C19_matrix_product, as_in_the_design) {
    auto mat_mult =
        balm::kernel<2>("mat_mult", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
            Index col = global_id(0), row = global_id(1);
            Float value = 0.f;
            for (Int k : range(n)) value += a[row * n + k] * b[k * n + col];
            result[row * n + col] = value;
        });
    on_all_devices([&](const device& dev) {
        auto a = dev.in_buffer<float>(2, 2), b = dev.in_buffer<float>(2, 2);
        auto r = dev.out_buffer<float>(2, 2);
        balm::event c1 = a.write({1, 2, 3, 4}), c2 = b.write({1, 2, 3, 4});
        balm::event done = dev.execute(mat_mult(2, a, b, r), {2, 2}, c1, c2);
        auto got = r.read(done);
        EXPECT_EQ(got.shape(), shape(2, 2));
        EXPECT_THAT(got, testing::ElementsAre(7, 10, 15, 22));
        EXPECT_GT(done.profile().duration(), 0u);
    });
}

TEST(C17_local_memory, reduces_as_in_the_design) {
    auto reduce = balm::kernel<1>(
        "reduce", [](In<std::int64_t> input, Out<std::int64_t> partial, Local<std::int64_t> sums) {
            Index i = local_id(0);
            sums[i] = input[global_id(0)];
            Index stride = local_size(0) / 2;
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
    constexpr std::size_t n = 4096, group = 256;
    auto random = seeded_random();
    const auto values = random_values<std::int64_t>(random, n, -1000000, 1000000);
    on_all_devices([&](const device& dev) {
        auto out = dev.out_buffer<std::int64_t>(n / group);
        dev.execute(reduce(in(dev, values), out, balm::local<std::int64_t>(group)), {n}, {group});
        expect_each(out.read(), [&](std::size_t g) {
            return std::accumulate(values.begin() + g * group, values.begin() + (g + 1) * group,
                                   std::int64_t{0});
        });
    });
}

// The same with `long`, as design.md writes it: parameters map by size.
TEST(C17_local_memory, takes_types_by_their_size) {
    auto kernel = balm::kernel<1>("by_size", [](In<long> a, Out<long> b, Local<long long> c) {
        c[local_id(0)] = a[global_id(0)];
        b[global_id(0)] = c[local_id(0)] + 1;
    });
    on_all_devices([&](const device& dev) {
        auto a = dev.in_buffer<long>(4);
        auto b = dev.out_buffer<long>(4);
        a.write({1, 2, 3, 4});
        dev.execute(kernel(a, b, balm::local<long long>(4)), {4}, {4});
        EXPECT_THAT(b.read(), testing::ElementsAre(2, 3, 4, 5));
    });
}

TEST(C8_generic_lambdas, take_their_signature_from_the_kernel) {
    auto copy = balm::kernel<1, void(In<float>, Out<float>)>("copy", [](auto from, auto to) {
        Index i = global_id(0);
        to[i] = from[i];
    });
    on_all_devices([&](const device& dev) {
        EXPECT_EQ(run<float>(dev, copy, 3, in(dev, host_array<float>{1, 2, 3}))[2], 3.f);
    });
}

}  // namespace
}  // namespace balm::test

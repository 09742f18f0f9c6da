// Grids that begin elsewhere than at 0, in one to three dimensions, in kernels and in the functions they
// call.

#include <gtest/gtest.h>

#include <string>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

}  // namespace

TEST(G1_offset, moves_global_ids_and_nothing_else) {
    on_all_devices([](const device& on) {
        constexpr std::int64_t start[] = {1000, -3, 5000000000};
        constexpr std::size_t size[] = {8, 6, 4}, group[] = {4, 3, 2};
        const auto kernel = balm::kernel<3>("places", [](Out<std::int64_t, 1> out) {
            Index row = 0;
            for (int d = work_dimensions() - 1; d >= 0; --d)
                row = row * global_size(d) + (global_id(d) - global_offset(d));
            for (int d = 0; d < 3; ++d) {
                out[row * 12 + 4 * d] = global_id(d);
                out[row * 12 + 4 * d + 1] = local_id(d);
                out[row * 12 + 4 * d + 2] = group_id(d);
                out[row * 12 + 4 * d + 3] = global_offset(d);
            }
        });
        auto out = on.out_buffer<std::int64_t>(8 * 6 * 4 * 12);
        on.execute(kernel(out), {size[0], size[1], size[2]}, {group[0], group[1], group[2]},
                   balm::offset(start[0], start[1], start[2]));
        const auto got = out.read();
        for (std::size_t item = 0; item < 8 * 6 * 4; ++item) {
            const std::size_t at[] = {item % 8, item / 8 % 6, item / 48};
            for (std::size_t d = 0; d < 3; ++d) {
                const std::int64_t expected[] = {start[d] + static_cast<std::int64_t>(at[d]),
                                                 static_cast<std::int64_t>(at[d] % group[d]),
                                                 static_cast<std::int64_t>(at[d] / group[d]), start[d]};
                for (std::size_t k = 0; k < 4; ++k)
                    ASSERT_EQ(got[item * 12 + 4 * d + k], expected[k]) << item << ' ' << d << ' ' << k;
            }
        }
    });
}

TEST(G1_offset, reaches_the_functions_that_a_kernel_calls) {
    on_all_devices([](const device& on) {
        const auto here = balm::function("here", [](Long factor) { return global_id(0) * factor; });
        const auto beyond =
            balm::function("beyond", [&](Long factor) { return here(factor) + global_offset(0); });
        const auto square = balm::function("square", [](Long x) { return x * x; });
        const auto kernel = balm::kernel<1>("calls", [&](Out<std::int64_t> out) {
            out[global_id(0) - global_offset(0)] = beyond(Long(3)) + here(Long(1)) + square(Long(2));
        });
        auto out = on.out_buffer<std::int64_t>(16);
        on.execute(kernel(out), {16}, balm::offset(100));
        expect_each(out.read(), [](std::size_t i) {
            const auto id = static_cast<std::int64_t>(i) + 100;
            return 4 * id + 100 + 4;
        });
        on.execute(kernel(out), {16});
        expect_each(out.read(), [](std::size_t i) { return 4 * static_cast<std::int64_t>(i) + 4; });
    });
}

TEST(G1_offset, of_zero_is_no_other_kernel) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<2>("two", [](Out<int, 2> out) {
            out[global_id(1) * 4 + global_id(0)] = cast<int>(global_id(0) + 10 * global_id(1));
        });
        auto out = on.mixed_buffer<int>(4, 4);
        out.write(std::vector<int>(16, -1));
        event first = on.execute(kernel(out), {4, 2}, balm::offset(0, 0));
        on.execute(kernel(out), {2, 2}, balm::offset(2, 2), first);
        expect_each(out.read(), [](std::size_t i) {
            const std::size_t x = i % 4, y = i / 4;
            return y < 2 || x >= 2 ? static_cast<int>(x + 10 * y) : -1;
        });
    });
}

TEST(G1_offset, leaves_a_grid_range_whole) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("range", [](Int n, Out<int> out) {
            for (Index i : grid_range(n)) out[i] = cast<int>(global_offset(0));
        });
        auto out = on.out_buffer<int>(1000);
        on.execute(kernel(1000, out), {64}, balm::offset(7));
        expect_each(out.read(), [](std::size_t) { return 7; });
    });
}

TEST(G1_offset, is_seen_inside_loops_and_conditions) {
    on_all_devices([](const device& on) {
        const auto kernel = balm::kernel<1>("nested", [](Out<std::int64_t> out) {
            Long sum = 0;
            for (Int k : range(3)) {
                IF (global_id(0) % 2 == 1) {
                    sum += global_id(0) + k;
                }
            }
            out[global_id(0) - 11] = sum;
        });
        auto out = on.out_buffer<std::int64_t>(10);
        on.execute(kernel(out), {10}, {5}, balm::offset(11u));
        expect_each(out.read(), [](std::size_t i) {
            const auto id = static_cast<std::int64_t>(i) + 11;
            return id % 2 ? 3 * id + 3 : 0;
        });
    });
}

TEST(G1_dimensions, are_known_in_a_kernel_and_refused_in_a_function) {
    balm::kernel<2>("two", [](Out<int> out) {
        EXPECT_EQ(work_dimensions(), 2);
        out[0] = work_dimensions();
    });
    const std::string fault =
        message_of<trace_error>([] { balm::function("lost", [](Int x) { return x + work_dimensions(); }); });
    EXPECT_THAT(fault, testing::HasSubstr("lost"));
    EXPECT_THAT(fault, testing::HasSubstr("parameter"));
}

}  // namespace balm::test

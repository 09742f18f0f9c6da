// What single headers bring, which programs for VexCL count on: no header of VexCL's is included but those
// named here.

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>
#include <vector>

#include <vexcl/vector.hpp>

namespace balm::test {

namespace {

/// A context of one device; without one the test is skipped.
#define ONE_DEVICE(ctx)                                                           \
    const vex::Context ctx(vex::Filter::DoublePrecision&& vex::Filter::Count(1)); \
    if (!ctx) GTEST_SKIP() << "no device"

TEST(B9_vexcl_header_of_vectors, has_kernels_and_events) {
    ONE_DEVICE(ctx);
    vex::backend::source_generator src(ctx.queue(0));
    src.begin_kernel("count").begin_kernel_parameters();
    src.parameter<vex::global_ptr<int>>("x");
    src.end_kernel_parameters().new_line() << "x[get_global_id(0)] = get_global_id(0);";
    src.end_kernel();
    vex::backend::kernel count(ctx.queue(0), src.str(), "count");
    const std::vector<vex::command_queue> other{vex::backend::duplicate_queue(ctx.queue(0))};
    vex::vector<int> x(ctx, 64), y(other, 64);
    count.config(4, 16);
    count(ctx.queue(0), x(0));
    vex::backend::enqueue_barrier(other[0], {vex::backend::enqueue_marker(ctx.queue(0))});
    y = x;
    EXPECT_EQ(y[63], 63);
}

TEST(B9_vexcl_header_of_vectors, has_ties_pointers_and_properties) {
    ONE_DEVICE(ctx);
    vex::vector<double> x(ctx, 16), y(ctx, 16);
    x = 1;
    y = 2;
    vex::tie(x, y) = std::tie(x + y, x - y);
    EXPECT_EQ(x[5], 3);
    EXPECT_EQ(y[5], -1);
    vex::tie(*if_else(x > y, &x, &y)) = 42;
    EXPECT_EQ(x[0], 42);
    EXPECT_EQ(y[0], -1);
    y = *vex::constant_pointer(x) + *vex::raw_pointer(y);
    EXPECT_EQ(y[7], 41);

    const auto [queues, size] = vex::expression_properties(2 * x);
    EXPECT_EQ(queues, ctx.queue());
    EXPECT_EQ(size, 16u);
    EXPECT_EQ(vex::expression_properties(std::make_tuple(3.0, 2 * x)), std::make_tuple(queues, size));
    EXPECT_EQ(std::get<1>(vex::expression_properties(3.0)), 0u);
}

}  // namespace

}  // namespace balm::test

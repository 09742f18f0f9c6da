// Which pointers are printed restrict: that depends on the launch, and on what work-items share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"

namespace {

using namespace balm::dsl;
using testing::HasSubstr;
using testing::Not;

std::string printed_as_opencl_c(const balm::ir::function& kernel, bool distinct) {
    balm::ir::launch_facts facts;
    facts.distinct = distinct;
    return balm::emit::print(balm::ir::lower(kernel, facts).kernel, balm::runtime::dialect::opencl_c);
}

TEST(C8_restrict, holds_where_nothing_overlaps) {
    const auto scale = balm::kernel<1>(
        "scale(in, out)", [](In<float> in, Out<float> out) { out[global_id(0)] = 2.f * in[global_id(0)]; });
    EXPECT_THAT(printed_as_opencl_c(*scale.function(), true),
                HasSubstr("const float* restrict in, global float* restrict out"));
    EXPECT_THAT(printed_as_opencl_c(*scale.function(), false), Not(HasSubstr("restrict ")));
}

// With restrict, NVIDIA's OpenCL kept values of local memory in registers across a barrier.
TEST(C8_restrict, is_not_promised_for_what_work_items_share_across_a_barrier) {
    const auto turn =
        balm::kernel<1>("turn(in, back, room)", [](In<int> in, Mixed<int> back, Local<int> room) {
            Index i = local_id(0);
            room[i] = in[i];
            barrier();
            back[i] = room[local_size(0) - 1 - i];
        });
    EXPECT_THAT(printed_as_opencl_c(*turn.function(), true),
                HasSubstr("turn(global const int* restrict in, global int* back, local int* room)"));
}

// With restrict, NVIDIA's compilers read an element anew without what was stored through such a pointer.
TEST(C8_restrict, is_not_promised_where_pointers_are_kept_in_memory) {
    const auto choose = balm::kernel<1>("choose(in, out)", [](In<int> in, Mixed<int> out) {
        Index i = global_id(0);
        Array<Ptr<int>, 2> places;
        places[0] = address_of(out[i]);
        places[1] = address_of(out[i + 1]);
        *places[in[i] & 1] = 7;
        out[i] += 1;
    });
    EXPECT_THAT(printed_as_opencl_c(*choose.function(), true),
                HasSubstr("choose(global const int* restrict in, global int* out)"));
}

}  // namespace

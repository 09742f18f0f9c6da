// The parameters of kernels of arrays: what a trace declares is what a launch binds.

#include "array/parameters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "array/layout.hpp"
#include "balm/balm.hpp"
#include "ir/ir.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using array::parameter_list;
using kind = runtime::argument::kind;
using trace::access;

struct listed {
    std::vector<std::string> names;
    kernels::launch_lists launch;
};

/// Lists the parameters twice, for a trace and for a launch, and compares the two.
template <class List>
listed listed_twice(const List& list) {
    trace::recording r("kernel", 1, {});
    parameter_list declared(r);
    list(declared);
    const auto kernel = r.finish(nullptr);
    listed found;
    array::parameter_bindings bound(found.launch);
    list(bound);
    const auto& arguments = found.launch.arguments;
    EXPECT_EQ(kernel->parameters.size(), arguments.size());
    for (std::size_t k = 0; k < std::min(kernel->parameters.size(), arguments.size()); ++k) {
        const ir::parameter& p = kernel->parameters[k];
        const bool is_value = p.use == access::value;
        EXPECT_EQ(arguments[k].what, is_value            ? kind::value
                                     : p.what.is_image() ? kind::image
                                                         : kind::memory)
            << p.name;
        if (is_value) {
            EXPECT_EQ(arguments[k].size, trace::size_of(p.what)) << p.name;
        }
        found.names.push_back(p.name);
    }
    return found;
}

}  // namespace

TEST(V1_parameters, are_declared_as_they_are_bound) {
    on_all_devices([](const device& dev) {  // whose kernels these are
        const context ctx(std::vector<device>{dev});
        vector<float> x(ctx, 10), y(ctx, 10), z(ctx, 10);
        const std::uint64_t numbers[] = {7, 8, 9};  // too long for an argument's own bytes
        const auto found = listed_twice([&](auto& to) {
            to.number("n", 10);
            to.value("narrow", scalar::u32, 3);
            to.value({"wide", 2}, trace::type(scalar::u64, 2), reinterpret_cast<const std::byte*>(numbers));
            to.vector("in", *x.state(), access::in);
            to.vector({"out", 0}, *y.state(), access::out);
            to.vector({"out", 1}, *z.state(), access::mixed);
            to.memory({"slots", 3, 0}, scalar::u64, access::out, *x.state()->memory());
        });
        EXPECT_EQ(found.names,
                  (std::vector<std::string>{"n", "narrow", "wide2", "in", "out", "out1", "slots3_0"}));
        const auto of = [](const vector<float>& v) { return v.state()->memory().get(); };
        EXPECT_EQ(found.launch.reads, (std::vector<runtime::storage*>{of(x), of(z)}));
        EXPECT_EQ(found.launch.writes, (std::vector<runtime::storage*>{of(y), of(z), of(x)}));
    });
}

TEST(V1_parameters, are_found_by_name_and_by_vector) {
    on_all_devices([](const device& dev) {  // whose kernels these are
        const context ctx(std::vector<device>{dev});
        vector<float> x(ctx, 10), y(ctx, 10);
        trace::recording r("kernel", 1, {});
        parameter_list given(r);
        given.vector({"a", 1}, *x.state(), access::in);
        given.number({"stride", 1, 0}, 3);
        EXPECT_EQ(given[*x.state()].id, (given[{"a", 1}].id));
        EXPECT_EQ((given[{"stride", 1, 0}].type), trace::type(scalar::i64));
        EXPECT_EQ(given.name_of(*x.state()).spelled(), "a1");
        EXPECT_THROW(given["stride"], std::logic_error);
        EXPECT_THROW(given[*y.state()], std::logic_error);
    });
}

TEST(V1_parameters, of_leaves_are_declared_as_they_are_bound) {
    on_all_devices([](const device& dev) {  // whose kernels these are
        const context ctx(std::vector<device>{dev});
        const std::size_t n = 12;
        vector<float> x(ctx, n * n), y(ctx, n * n), places(ctx, n * n);
        vector<float4> quads(ctx, n * n);
        auto line = ctx.device(0).image<float>(33);
        auto M = view(x, {n, n});
        const auto names = [](const array::tape& p, const array::placement& places_of,
                              std::span<array::vector_state* const> written = {}) {
            const array::layout leaves(p, places_of);
            return listed_twice([&](auto& to) { declare_leaves(to, p, leaves, written); }).names;
        };
        using words = std::vector<std::string>;
        const auto flat = [&](const array::tape& p) { return names(p, array::placement(p)); };
        EXPECT_EQ(flat((2.f * x + y * x - 3.f).tape()), (words{"a", "b", "s", "t"}));
        const float4 weights{1.f, 2.f, 3.f, 4.f};
        EXPECT_EQ(flat((quads * weights).tape()), (words{"a", "s"}));
        EXPECT_EQ(flat((x + cast<float>(balm::element_index(5, n * n))).tape()), (words{"a", "s"}));
        EXPECT_EQ(flat((sample(line.sampled(), places) + 1.f).tape()), (words{"a", "image", "s"}));

        const expr<float> turned = M.transpose() + 1.f;
        const array::tape& p = turned.tape();
        EXPECT_EQ(flat(p), (words{"a", "s", "first", "stride_0", "stride_1", "count_1"}));
        EXPECT_EQ(names(p, array::placement(p, array::box_of(p), nullptr, true)),
                  (words{"a", "s", "first", "stride_0", "first1", "stride1_0", "stride1_1"}));
        array::vector_state* const written[] = {x.state().get()};
        EXPECT_EQ(names((x + y).tape(), array::placement((x + y).tape()), written), (words{"a"}));
    });
}

}  // namespace balm::test

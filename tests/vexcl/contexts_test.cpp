// vex::Context, filters, queues and element types.

#include <cstdlib>
#include <sstream>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

TEST(B9_vexcl_contexts, have_the_devices_that_filters_accept) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const vex::Context all(vex::Filter::Any);
    ASSERT_TRUE(all);
    EXPECT_EQ(all.size(), vex::device_list(vex::Filter::All).size());
    EXPECT_EQ(&vex::current_context(), &all);
    const auto name = all.device(0).name();
    const vex::Context named(vex::Filter::Name(name) && vex::Filter::Count(1));
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named.device(0), all.device(0));
    EXPECT_EQ(&vex::current_context(), &named);
    EXPECT_TRUE(vex::Context(!vex::Filter::Any).empty());
    EXPECT_FALSE(vex::Context(vex::Filter::Name("no such device") || vex::Filter::Position(1000)));
    // A function on devices is a filter, alone and among others.
    const auto is_it = [&](const vex::backend::device& d) { return d.name() == name; };
    EXPECT_EQ(vex::Context(is_it).size(), vex::Context(vex::Filter::Name(name)).size());
    EXPECT_EQ(vex::Context(is_it && vex::Filter::Position(0)).device(0), all.device(0));
    std::size_t of_types = 0;
    for (const char* type : {"CPU", "GPU", "ACCELERATOR"})
        of_types += vex::Context(vex::Filter::Type(std::string(type))).size();
    EXPECT_EQ(of_types, all.size());
    EXPECT_EQ(vex::Context(vex::Filter::CPU || vex::Filter::GPU || vex::Filter::Accelerator).size(),
              all.size());
    std::size_t with_double = 0;
    for (unsigned d = 0; d < all.size(); ++d) with_double += all.device(d).info().has_double ? 1 : 0;
    EXPECT_EQ(vex::Context(vex::Filter::DoublePrecision).size(), with_double);
    // OpenCL's names of properties, in conditions too.
    const vex::backend::device first = all.device(0);
    EXPECT_EQ(first.getInfo<CL_DEVICE_NAME>(), name);
    EXPECT_EQ(first.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>(), first.info().global_memory);
    EXPECT_TRUE(vex::Filter::Type(first.getInfo<CL_DEVICE_TYPE>())(first));
    EXPECT_EQ(all.queue(0).getInfo<CL_QUEUE_DEVICE>(), all.device(0));
    EXPECT_EQ(all.queue(0).getInfo<CL_QUEUE_CONTEXT>(), all.context(0));
    EXPECT_EQ(vex::is_cpu(all.queue(0)), vex::Filter::CPU(first));
    const auto is_vast = [](const vex::backend::device& d) {
        return d.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>() == ~cl_ulong(0);
    };
    EXPECT_EQ(vex::Context(vex::Filter::Any && is_vast).size(), 0u);
    // A filter that a program makes step by step.
    vex::Filter::General chosen = vex::Filter::All;
    chosen = chosen && !vex::Filter::Name("no such device");
    EXPECT_EQ(vex::Context(chosen).size(), all.size());
    std::ostringstream text;
    text << all;
    EXPECT_EQ(text.str().rfind("1. " + name, 0), 0u) << text.str();
}

TEST(B9_vexcl_contexts, obey_the_environment) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const vex::Context all(vex::Filter::Any);
    const char* const backend = std::getenv("BALM_BACKEND");
    const std::string asked = backend == nullptr ? "" : backend;
    ::setenv("BALM_BACKEND", to_string(all.device(0).info().api), 1);
    const vex::Context of_backend{vex::Filter::EnvFilter()};
    ASSERT_FALSE(of_backend.empty());
    for (unsigned d = 0; d < of_backend.size(); ++d)
        EXPECT_EQ(of_backend.device(d).info().api, all.device(0).info().api);
    ::setenv("BALM_BACKEND", "none", 1);
    EXPECT_TRUE(vex::Context(vex::Filter::EnvFilter()).empty());
    ::unsetenv("BALM_BACKEND");
    ::setenv("OCL_DEVICE", all.device(0).name().c_str(), 1);
    ::setenv("OCL_MAX_DEVICES", "1", 1);
    EXPECT_EQ(vex::Context(vex::Filter::EnvFilter()).size(), 1u);
    ::setenv("OCL_DEVICE", "no such device", 1);
    EXPECT_TRUE(vex::Context(vex::Filter::EnvFilter()).empty());
    ::unsetenv("OCL_DEVICE");
    ::setenv("OCL_POSITION", "1000", 1);
    EXPECT_TRUE(vex::Context(vex::Filter::EnvFilter()).empty());
    ::unsetenv("OCL_POSITION");
    ::unsetenv("OCL_MAX_DEVICES");
    EXPECT_EQ(vex::Context(vex::Filter::EnvFilter()).size(), all.size());
    if (backend != nullptr) ::setenv("BALM_BACKEND", asked.c_str(), 1);
}

TEST(B9_vexcl_contexts, take_a_card_through_the_backend_that_a_filter_accepts) {
    // Each backend's cards are found by its name, though contexts prefer one backend for each card.
    for (const balm::backend api : {balm::backend::opencl, balm::backend::cuda}) {
        std::size_t present = 0;
        for (const device_info& each : all_devices().devices) present += each.api == api ? 1 : 0;
        const auto is_of_it = [&](const vex::backend::device& d) { return d.info().api == api; };
        EXPECT_EQ(vex::Context(is_of_it).size(), present);
        EXPECT_EQ(vex::Context(is_of_it && vex::Filter::Count(1)).size(), present == 0 ? 0u : 1u);
        EXPECT_EQ(vex::Context(is_of_it && vex::Filter::Position(0)).size(), present == 0 ? 0u : 1u);
    }
    // A card counts once.
    const vex::Context all(vex::Filter::Any);
    for (unsigned d = 0; d < all.size(); ++d) {
        const vex::Context one{vex::Filter::Position(static_cast<int>(d))};
        ASSERT_EQ(one.size(), 1u);
        EXPECT_EQ(one.device(0), all.device(d));
    }
}

TEST(B9_vexcl_contexts, have_queues_whose_work_is_ordered) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        const std::vector<vex::command_queue> other{vex::backend::duplicate_queue(ctx.queue(0))};
        EXPECT_FALSE(other[0] == ctx.queue(0));
        EXPECT_TRUE(other[0].device() == ctx.device(0));
        vex::vector<int> x(ctx, 1000), y(other, 1000);
        x = vex::element_index();
        vex::backend::enqueue_barrier(other[0], {vex::backend::enqueue_marker(ctx.queue(0))});
        vex::enqueue(other, x) += 1;
        vex::enqueue(other, x) = 2 * x;
        y = 3 * vex::element_index();
        other[0].finish();
        ctx.finish();
        std::vector<int> host(1000);
        vex::copy(other, x, host);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(host[i], 2 * (i + 1));
        vex::copy(y, host);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(host[i], 3 * i);
    });
}

TEST(B9_vexcl_contexts, spread_vectors_by_weights) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::set_partitioning(vex::equal_weights);
        const vex::vector<float> x(ctx, 100000);
        vex::set_partitioning({});
        ASSERT_EQ(x.nparts(), ctx.size());
        const std::vector<std::size_t> starts = x.partition();
        ASSERT_EQ(starts.size(), ctx.size() + 1);
        EXPECT_EQ(starts.back(), 100000u);
        for (unsigned d = 0; d < ctx.size(); ++d) {
            EXPECT_EQ(x.part_start(d), starts[d]);
            EXPECT_EQ(x.part_size(d), starts[d + 1] - starts[d]);
            EXPECT_NEAR(double(x.part_size(d)), 100000.0 / double(ctx.size()), 5000);
        }
    });
}

TEST(B9_vexcl_contexts, ask_for_the_weight_of_a_device_once) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        int asked = 0;
        vex::set_partitioning([&](const vex::command_queue& q) {
            ++asked;
            return vex::device_vector_perf(q);  // makes vectors
        });
        vex::vector<double> x(ctx, 1000), y(ctx, 1000);
        x = 1;
        y = 2 * x + x;
        vex::set_partitioning({});
        EXPECT_EQ(y[999], 3);
        EXPECT_EQ(x.partition(), y.partition());
        EXPECT_EQ(asked, ctx.size() > 1 ? 1 : 0);
    });
}

TEST(B9_vexcl_contexts, evaluate_as_many_elements_as_a_partition_has) {
    VEX_FUNCTION(int, bump, (int*, p)(size_t, i), p[i] = p[i] * 2 + 1; return 0;);
    on_one_and_two_devices([&](const vex::Context& ctx) {
        const std::vector<vex::command_queue> queue{ctx.queue(0)};
        vex::vector<int> x(queue, 100);
        x = vex::element_index();
        vex::eval(bump(vex::raw_pointer(x), vex::element_index()), queue, {0, 60});
        EXPECT_EQ(x[59], 119);
        EXPECT_EQ(x[60], 60);
    });
}

TEST(B9_vexcl_types, are_those_of_opencl) {
    static_assert(vex::is_cl_native<cl_float4>::value && vex::is_cl_native<unsigned char>::value);
    static_assert(!vex::is_cl_native<std::string>::value);
    static_assert(vex::is_cl_vector<cl_uchar16>::value && vex::is_cl_scalar<cl_ulong>::value);
    static_assert(vex::cl_vector_length<cl_double8>::value == 8 && vex::cl_vector_length<int>::value == 1);
    static_assert(std::is_same_v<vex::cl_scalar_of<cl_short2>::type, cl_short>);
    static_assert(std::is_same_v<vex::cl_vector_of<cl_uint, 4>::type, cl_uint4>);
    EXPECT_EQ(vex::type_name<cl_float4>(), "float4");
    EXPECT_EQ(vex::type_name<std::size_t>(), "ulong");
    EXPECT_EQ(vex::type_name<vex::global_ptr<const double>>(), "global const double *");
    EXPECT_EQ(vex::type_name<int*>(), "global int *");
    const cl_float4 a = {{1, 2, 3, 4}};
    const cl_float4 b = (2.f * a - a / 2.f) + a;
    for (int k = 0; k < 4; ++k) EXPECT_EQ(b.s[k], 2.5f * a.s[k]);
    const cl_double4 wide = vex::cl_convert<cl_double4>(b);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(wide.s[k], 2.5 * a.s[k]);
}

TEST(B9_vexcl_profiler, counts_sections) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        vex::profiler<> profile(ctx, "All");
        vex::vector<double> x(ctx, 1000);
        for (int i = 0; i < 3; ++i) {
            profile.tic_cl("outer");
            x = i;
            { const auto inner = profile.scoped_tic_cpu("inner"); }
            EXPECT_GT(profile.toc("outer"), 0);
        }
        EXPECT_THROW(profile.toc(), std::logic_error);
        std::ostringstream text;
        text << profile;
        EXPECT_NE(text.str().find("outer"), std::string::npos);
        EXPECT_LT(text.str().find("outer"), text.str().find("inner"));
        EXPECT_NE(text.str().find("3x"), std::string::npos);
        text << profile;  // printing is no pass of the whole
        EXPECT_EQ(text.str().find("2x"), std::string::npos);
    });
}

}  // namespace

}  // namespace balm::test

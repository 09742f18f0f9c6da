// Queues and memory of other libraries. The handles below belong to classes with the interface that OpenCL's
// C++ bindings and Boost.Compute have in common; the other side is hand-written OpenCL.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vexcl/contexts.hpp"

namespace balm::test {

namespace {

void must(cl_int code) {
    if (code != CL_SUCCESS) throw std::runtime_error("OpenCL failed with " + std::to_string(code));
}

/// Owns a reference to a handle, as cl::Buffer and boost::compute::buffer do.
template <class Handle, auto Retain, auto Release>
class holder {
public:
    explicit holder(Handle of, bool retain) : of_(of) {
        if (retain) must(Retain(of));
    }
    holder(const holder& other) : holder(other.of_, true) {}
    holder& operator=(const holder&) = delete;
    ~holder() { Release(of_); }
    const Handle& get() const { return of_; }

private:
    Handle of_;
};
using held_context = holder<cl_context, &clRetainContext, &clReleaseContext>;
using held_queue = holder<cl_command_queue, &clRetainCommandQueue, &clReleaseCommandQueue>;
using held_memory = holder<cl_mem, &clRetainMemObject, &clReleaseMemObject>;

held_context context_on(cl_device_id device) {
    cl_int code = CL_SUCCESS;
    const cl_context made = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    must(code);
    return held_context(made, false);
}
held_queue queue_on(const held_context& context, cl_device_id device,
                    const std::vector<cl_queue_properties>& properties = {0}) {
    cl_int code = CL_SUCCESS;
    const cl_command_queue made =
        clCreateCommandQueueWithProperties(context.get(), device, properties.data(), &code);
    must(code);
    return held_queue(made, false);
}
held_memory memory_of(const held_context& context, std::vector<double> values) {
    cl_int code = CL_SUCCESS;
    const cl_mem made = clCreateBuffer(context.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       sizeof(double) * values.size(), values.data(), &code);
    must(code);
    return held_memory(made, false);
}
std::vector<double> values_in(const held_memory& memory, const held_queue& queue, std::size_t n) {
    std::vector<double> got(n);
    must(clEnqueueReadBuffer(queue.get(), memory.get(), CL_TRUE, 0, sizeof(double) * n, got.data(), 0,
                             nullptr, nullptr));
    return got;
}

/// Calls the body with an OpenCL device.
template <class Body>
void on_opencl(Body&& body) {
    const vex::Context ctx([](const vex::backend::device& d) {
        return d.info().api == balm::backend::opencl && d.info().has_double;
    });
    if (!ctx) GTEST_SKIP() << "no OpenCL device";
    body(ctx);
}

}  // namespace

TEST(B9_vexcl_native_handles, vectors_lie_on_queues_of_other_libraries) {
    on_opencl([](const vex::Context& ctx) {
        const held_context context = context_on(ctx.device(0)());
        const held_queue queue = queue_on(context, ctx.device(0)());
        constexpr std::size_t n = 1000;
        vex::vector<double> x({queue}, n);
        EXPECT_EQ(vex::backend::get_context_id(x.queue_list()[0]), context.get());
        EXPECT_EQ(x.queue_list()[0].raw(), queue.get());
        x = vex::element_index();
        EXPECT_EQ(vex::command_queue(queue), x.queue_list()[0]);

        const held_memory buffer = memory_of(context, std::vector<double>(n, 3.0));
        vex::vector<double> y(queue, buffer), part(queue, buffer, 10);
        ASSERT_EQ(y.size(), n);
        ASSERT_EQ(part.size(), 10u);
        y = x + y;
        part = -1;
        const std::vector<double> got = values_in(buffer, queue, n);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], i < 10 ? -1 : static_cast<double>(i) + 3) << i;
        const std::vector<vex::command_queue> queues{queue};
        vex::Reductor<double, vex::SUM> sum(queues);
        EXPECT_EQ(sum(x), n * (n - 1) / 2);
        const vex::Context of_pairs({{vex::backend::get_context(queues[0]), queues[0]}});
        EXPECT_EQ(of_pairs.queue(0), queues[0]);
    });
}

TEST(B9_vexcl_native_handles, convert_to_classes_of_other_libraries) {
    on_opencl([](const vex::Context& ctx) {
        vex::vector<double> x({ctx.queue(0)}, 16);
        x = 5;
        const held_queue queue = ctx.queue(0);
        const held_memory memory = x(0), same = x(0).raw_buffer();
        const held_context context = ctx.context(0);
        EXPECT_EQ(queue.get(), ctx.queue(0)());
        EXPECT_EQ(memory.get(), x(0).raw());
        EXPECT_EQ(same.get(), memory.get());
        EXPECT_EQ(context.get(), ctx.context(0)());
        EXPECT_EQ(values_in(memory, queue, 16), std::vector<double>(16, 5.0));
        vex::vector<double> shared(ctx.queue(0), memory, 16);
        shared = 6;
        EXPECT_EQ(x[15], 6);
    });
}

TEST(B9_vexcl_native_handles, that_do_not_fit_are_refused) {
    on_opencl([](const vex::Context& ctx) {
        const held_context context = context_on(ctx.device(0)());
        const held_memory elsewhere = memory_of(context, {1, 2, 3});
        EXPECT_THAT(usage_message_of([&] { vex::vector<double>(ctx.queue(0), elsewhere); }),
                    testing::HasSubstr("another cl_context"));
        EXPECT_THAT(usage_message_of([&] { vex::vector<double>(ctx.queue(0), cl_mem()); }),
                    testing::HasSubstr("null cl_mem"));
        EXPECT_THAT(usage_message_of([] { (void)vex::command_queue{cl_command_queue()}; }),
                    testing::HasSubstr("null cl_command_queue"));
        const held_queue queue = queue_on(context, ctx.device(0)());
        EXPECT_THROW(vex::vector<double>(queue, elsewhere, 4), std::runtime_error);
        std::vector<cl_queue_properties> unordered{CL_QUEUE_PROPERTIES,
                                                   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        try {
            const held_queue other = queue_on(context, ctx.device(0)(), unordered);
            EXPECT_THAT(usage_message_of([&] { vex::vector<double>({other}, 4); }),
                        testing::HasSubstr("out-of-order"));
        } catch (const std::runtime_error&) {  // the device has no such queues
        }
    });
}

}  // namespace balm::test

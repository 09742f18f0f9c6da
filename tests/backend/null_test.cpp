// The null device counts what it is asked and does nothing.

#include "devices.hpp"
#include "null_driver/device.hpp"

namespace balm::test {

TEST(C14_backend, the_null_device_counts_and_does_nothing) {
    for (const auto language : {runtime::dialect::opencl_c, runtime::dialect::cuda_cpp}) {
        const auto device = null::make_null_device(language);
        EXPECT_EQ(device->language(), language);
        EXPECT_EQ(device->info().api, backend::null);
        const auto queue = device->make_queue({});
        const runtime::memory one = device->allocate(1 << 20), other = device->allocate(8);
        EXPECT_NE(one, other);
        const auto program = device->compile(saxpy_source.for_device(*device), "");
        const auto kernel = program->make_kernel("saxpy");
        runtime::event_handle made;
        queue->launch(*kernel, line(64, 64), {}, {{}, &made});
        ASSERT_NE(made, nullptr);
        EXPECT_TRUE(made->is_complete());
        queue->launch(*kernel, line(64, 64), {}, {{&made, 1}, nullptr});
        std::uint32_t value = 42;
        queue->read(&value, one, 0, sizeof value, {});
        EXPECT_EQ(value, 0u);
        device->free(one);
        EXPECT_EQ(device->counts().launches, 2u);
        EXPECT_EQ(device->counts().events, 1u);
        EXPECT_EQ(device->counts().waits, 1u);
        EXPECT_EQ(device->counts().allocations, 2u);
        EXPECT_EQ(device->counts().live_allocations, 1u);
        EXPECT_EQ(device->load(program->binary())->binary(), program->binary());
    }
}

}  // namespace balm::test

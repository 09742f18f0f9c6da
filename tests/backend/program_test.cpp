// Programs of every backend: compile, launch, take the binary, load it again; build errors one can read.

#include <numeric>

#include "backend/cuda/nvrtc.hpp"
#include "balm/error.hpp"
#include "devices.hpp"

namespace balm::test {

namespace {

using runtime::driver_device;
using runtime::driver_program;

// Without NVRTC the CUDA backend cannot compile: the tests then say so and pass over it.
bool compiles(driver_device& device) {
    if (device.info().api != backend::cuda || cuda::nvrtc_available()) return true;
    std::cout << device.info().name << " is passed over. " << device.compiler() << '\n';
    return false;
}

void expect_saxpy(driver_device& device, driver_program& program) {
    auto random = fresh_random();
    std::uniform_real_distribution<float> between(-1.f, 1.f);
    const std::uint32_t n = 1000;
    const float a = between(random);
    std::vector<float> x(n), y(n), expected(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        x[i] = between(random);
        y[i] = between(random);
        const volatile float product = a * x[i];  // volatile: rounded before the sum, as on the device
        expected[i] = product + y[i];
    }
    const auto queue = device.make_queue({});
    const device_memory on_x(device, n * sizeof(float)), on_y(device, n * sizeof(float));
    queue->write(on_x.get(), 0, x.data(), n * sizeof(float), {});
    queue->write(on_y.get(), 0, y.data(), n * sizeof(float), {});
    const auto kernel = program.make_kernel("saxpy");
    EXPECT_GE(kernel->max_work_group_size(), 64u);
    const runtime::argument arguments[] = {value_argument(n), value_argument(a), memory_argument(on_x.get()),
                                           memory_argument(on_y.get())};
    queue->launch(*kernel, line(1024, 64), arguments, {});
    queue->read(y.data(), on_y.get(), 0, n * sizeof(float), {});
    queue->finish();
    EXPECT_EQ(y, expected);
}

}  // namespace

TEST(C14_backend, compiles_and_launches) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        const auto program = device.compile(saxpy_source.for_device(device), "");
        expect_saxpy(device, *program);
    });
}

TEST(C14_backend, gives_each_kernel_its_local_memory) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        const auto program = device.compile(local_source.for_device(device), "");
        const auto kernel = program->make_kernel("mirror");
        const auto queue = device.make_queue({});
        const std::uint32_t groups = 5;
        // 33 elements: the second local argument does not follow at a multiple of 16 bytes by itself.
        const std::uint32_t n = 33;
        std::vector<int> x(std::size_t{groups} * n), expected(x.size());
        std::iota(x.begin(), x.end(), 7);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t first = i / n * n;
            const int sum = std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(first),
                                            x.begin() + static_cast<std::ptrdiff_t>(first + n), 0);
            expected[i] = x[first + n - 1 - (i - first)] + sum;
        }
        const device_memory on_x(device, x.size() * sizeof(int));
        queue->write(on_x.get(), 0, x.data(), x.size() * sizeof(int), {});
        const runtime::argument arguments[] = {memory_argument(on_x.get()), local_argument(n * sizeof(int)),
                                               local_argument(8)};
        queue->launch(*kernel, line(x.size(), n), arguments, {});
        queue->read(x.data(), on_x.get(), 0, x.size() * sizeof(int), {});
        queue->finish();
        EXPECT_EQ(x, expected);
    });
}

TEST(C14_backend, gives_all_the_local_memory_that_info_promises) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        const auto program = device.compile(local_source.for_device(device), "");
        const auto kernel = program->make_kernel("mirror");
        const auto queue = device.make_queue({});
        const device_memory on_x(device, 32 * sizeof(int));
        const std::uint32_t zero = 0;
        queue->fill(on_x.get(), 0, 32 * sizeof(int), std::as_bytes(std::span(&zero, 1)), {});
        const auto most = static_cast<std::uint32_t>(device.info().local_memory) - 16;
        const runtime::argument arguments[] = {memory_argument(on_x.get()), local_argument(most),
                                               local_argument(16)};
        queue->launch(*kernel, line(32, 32), arguments, {});
        std::vector<int> x(32, 1);
        queue->read(x.data(), on_x.get(), 0, 32 * sizeof(int), {});
        queue->finish();
        EXPECT_EQ(x, std::vector<int>(32, 0));
    });
}

TEST(C14_backend, build_errors_hold_the_log_and_the_numbered_source) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        try {
            device.compile(broken_source.for_device(device), "");
            FAIL() << "a broken program compiled";
        } catch (const build_error& fault) {
            const std::string text = fault.what();
            EXPECT_NE(text.find("   4 |     x[0] = no_such_name;"), text.npos) << text;
            // Once in the log, once in the source.
            EXPECT_NE(text.find("no_such_name"), text.rfind("no_such_name")) << text;
            EXPECT_NE(text.find(device.info().name), text.npos) << text;
            const bool cuda = device.info().api == backend::cuda;
            EXPECT_NE(text.find(cuda ? "NVRTC_ERROR_COMPILATION" : "CL_BUILD_PROGRAM_FAILURE"), text.npos)
                << text;
        }
    });
}

TEST(C14_backend, names_a_kernel_that_is_not_there) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        const auto program = device.compile(saxpy_source.for_device(device), "");
        try {
            program->make_kernel("daxpy");
            FAIL() << "a kernel that does not exist was made";
        } catch (const device_error& fault) {
            EXPECT_NE(std::string(fault.what()).find("'daxpy'"), std::string::npos) << fault.what();
        }
    });
}

TEST(C14_backend, names_the_call_the_error_and_the_sizes) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        const auto program = device.compile(saxpy_source.for_device(device), "");
        const auto kernel = program->make_kernel("saxpy");
        const auto queue = device.make_queue({});
        const device_memory buffer(device, 64);
        const runtime::argument arguments[] = {value_argument(0u), value_argument(1.f),
                                               memory_argument(buffer.get()), memory_argument(buffer.get())};
        const std::size_t too_many = 2 * device.info().max_work_group_size;
        try {
            queue->launch(*kernel, line(too_many, too_many), arguments, {});
            queue->finish();
            FAIL() << "a group larger than the device's largest was launched";
        } catch (const device_error& fault) {
            const std::string text = fault.what();
            const bool cuda = device.info().api == backend::cuda;
            for (const std::string& part :
                 {std::string(cuda ? "cuLaunchKernel" : "clEnqueueNDRangeKernel"),
                  std::string(cuda ? "CUDA_ERROR_INVALID_VALUE (1" : "CL_INVALID_WORK_"),
                  std::string("'saxpy'"), std::to_string(too_many), device.info().name})
                EXPECT_NE(text.find(part), text.npos) << part << " is not in: " << text;
        }
    });
}

TEST(C14_backend, loads_its_own_binary) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        std::vector<std::byte> binary;
        {
            const auto program = device.compile(saxpy_source.for_device(device), "");
            expect_saxpy(device, *program);
            EXPECT_EQ(program->binary_needs_launch(),
                      device.info().platform == "Portable Computing Language");
            binary = program->binary();
        }
        ASSERT_FALSE(binary.empty());
        const auto loaded = device.load(binary);
        expect_saxpy(device, *loaded);
        EXPECT_FALSE(loaded->binary().empty());
    });
}

TEST(C14_backend, refuses_an_offset_where_the_driver_has_none) {
    on_every_device([](driver_device& device) {
        if (device.info().api != backend::cuda || !compiles(device)) return;
        const auto program = device.compile(saxpy_source.for_device(device), "");
        const auto kernel = program->make_kernel("saxpy");
        const auto queue = device.make_queue({});
        runtime::grid over = line(64, 64);
        over.offset[0] = 64;
        EXPECT_THROW(queue->launch(*kernel, over, {}, {}), device_error);
    });
}

}  // namespace balm::test

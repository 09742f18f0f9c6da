// Programs of every backend: compile, launch, take the binary, load it again; build errors one can read.

#include <cstdlib>
#include <cstring>
#include <numeric>

#include "balm/error.hpp"
#include "devices.hpp"
#include "driver/build_failure.hpp"
#include "driver/cuda/nvrtc.hpp"

namespace balm::test {

namespace {

using runtime::driver_device;
using runtime::driver_program;

// Without NVRTC the CUDA backend cannot compile: the tests then say so and pass over it.

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

/// x[i] = n steps of a recurrence that begins at x[i].
const two_sources recurrence_source{
    R"(
kernel void recurrence(uint n, global uint* x) {
    uint value = x[get_global_id(0)];
    for (uint k = 0; k < n; ++k) value = value * 5 + k;
    x[get_global_id(0)] = value;
}
)",
    R"(
extern "C" __global__ void recurrence(unsigned int n, unsigned int* x) {
    unsigned int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned int k = 0; k < n; ++k) value = value * 5 + k;
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
)"};

/// Launches of one kernel at work in several queues, and then one of a wider grid; ends the process.
void widen_beside_launches_at_work() {
    constexpr std::uint32_t steps = 1'000'000, narrow = 64, wide = 4 * narrow;
    std::uint32_t expected = 0;
    for (std::uint32_t k = 0; k < steps; ++k) expected = expected * 5 + k;
    struct lane {
        std::unique_ptr<runtime::driver_queue> queue;
        std::unique_ptr<device_memory> memory;
        std::unique_ptr<driver_program> program;

        void launch(std::uint32_t n, std::uint32_t width) const {
            const auto kernel = program->make_kernel("recurrence");
            const runtime::argument arguments[] = {value_argument(n), memory_argument(memory->get())};
            queue->launch(*kernel, line(width, 64), arguments, {});
            queue->flush();
        }
        bool holds(std::uint32_t value, std::uint32_t width) const {
            std::vector<std::uint32_t> got(width);
            queue->read(got.data(), memory->get(), 0, width * 4, {});
            queue->finish();
            return got == std::vector<std::uint32_t>(width, value);
        }
    };
    bool is_right = true;
    for (const auto& device : driver_devices()) {
        if (!compiles(*device)) continue;
        const std::string& source = recurrence_source.for_device(*device);
        const auto lane_of = [&](std::unique_ptr<driver_program> program) {
            lane made{device->make_queue({}), std::make_unique<device_memory>(*device, wide * 4),
                      std::move(program)};
            const std::uint32_t zero = 0;
            made.queue->fill(made.memory->get(), 0, wide * 4, std::as_bytes(std::span(&zero, 1)), {});
            made.queue->finish();
            return made;
        };
        const lane first = lane_of(device->compile(source, ""));
        first.launch(1, narrow);
        first.queue->finish();
        // One program, the same once more, and one loaded from its binary: drivers may see one in all of
        // them.
        const std::vector<std::byte> binary = first.program->binary();
        std::vector<lane> others;
        for (int i = 0; i < 2; ++i) {
            others.push_back(lane_of(device->compile(source, "")));
            others.push_back(lane_of(device->load(binary)));
        }
        for (const lane& each : others) each.launch(steps, narrow);
        first.launch(1, narrow);  // begins after them, as far as there are threads
        first.queue->finish();
        first.launch(1, wide);
        is_right = is_right && first.holds(0, wide);  // one step: 0 * 5 + 0
        for (const lane& each : others) is_right = is_right && each.holds(expected, narrow);
    }
    std::exit(is_right ? 0 : 1);
}

}  // namespace

// PoCL's table of work-group functions: see launch_turns. On as many threads as launches, or they would not
// run beside each other.
TEST(C22_launches, of_one_kernel_may_be_wider_than_those_at_work_in_other_queues) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT((::setenv("POCL_MAX_PTHREAD_COUNT", "8", 1), widen_beside_launches_at_work()),
                testing::ExitedWithCode(0), "");
}

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

TEST(C14_backend, a_message_is_bounded_and_log_and_source_are_whole) {
    std::string log, source;
    for (int k = 1; k <= 10000; ++k) {
        log += "a.cl:" + std::to_string(k) + ":1: error: use of undeclared identifier 'x" +
               std::to_string(k) + "'\n";
        source += "int a" + std::to_string(k) + " = x" + std::to_string(k) + ";\n";
    }
    log += "10000 errors generated.";
    try {
        backend_support::fail_build("The compiler failed.", log, source);
    } catch (const build_error& fault) {
        const std::string text = fault.what();
        EXPECT_LT(text.size(), 60000u);
        for (const char* words :
             {"The compiler failed. The compiler's log:\na.cl:1:1: error", "'x9999'",
              "10000 errors generated.\nThe source:\n   1 | int a1 = x1;\n", "10000 | int a10000 = x10000;\n",
              "build_error::log() has all of them …\n", "build_error::source() has all of them …\n"})
            EXPECT_NE(text.find(words), text.npos) << words << "\n" << text;
        EXPECT_EQ(text.find("'x5000'"), text.npos);
        const std::size_t gap = text.find("… ");
        const std::string left_out = text.substr(gap, text.find('\n', gap) - gap);
        EXPECT_NE(left_out.find(" lines are left out"), text.npos) << left_out;
        const build_error copy = fault;
        EXPECT_EQ(copy.log(), log);
        EXPECT_EQ(copy.source(), source);
    }
    try {
        backend_support::fail_build("One long line.", std::string(100000, 'e') + "\xc3\xa4\xc3\xa4");
    } catch (const build_error& fault) {
        EXPECT_LT(std::strlen(fault.what()), 20000u);
        EXPECT_EQ(fault.log().size(), 100004u);
        EXPECT_EQ(fault.source(), "");
    }
    EXPECT_EQ(build_error("no compiler has run").log(), "");
}

TEST(C14_backend, ten_thousand_errors_of_a_compiler_are_no_megabyte) {
    on_every_device([](driver_device& device) {
        if (!compiles(device)) return;
        two_sources many = broken_source;
        for (std::string* each : {&many.opencl_c, &many.cuda_cpp})
            for (int k = 0; k < 10000; ++k)
                *each += "\nint broken_" + std::to_string(k) + "() { return x" + std::to_string(k) + "; }";
        try {
            device.compile(many.for_device(device), "");
            FAIL() << "a broken program compiled";
        } catch (const build_error& fault) {
            EXPECT_LT(std::strlen(fault.what()), 100000u);
            EXPECT_NE(fault.log().find("no_such_name"), std::string::npos);
            EXPECT_EQ(fault.source(), many.for_device(device));
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

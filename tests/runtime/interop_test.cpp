// Native handles in and out: hand-written OpenCL and CUDA beside Balm, on the same contexts, queues and
// memory. The oracle is host arithmetic; the hand-written side never goes through Balm.

#include <CL/cl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "base/system.hpp"
#include "driver/cuda/driver_api.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/devices.hpp"
#include "runtime/program/program_saver.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

// ---- OpenCL, by hand ----

void must(cl_int code) {
    if (code != CL_SUCCESS) throw std::runtime_error("OpenCL failed with " + std::to_string(code));
}

/// A context and a queue of the program's own on a device, and a kernel that adds to every element.
struct hand_written {
    cl_device_id id = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_program program = nullptr;
    cl_kernel add = nullptr;

    explicit hand_written(const device& on) : id(native(on).device) {
        cl_int code = CL_SUCCESS;
        context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
        must(code);
        make_the_rest();
    }
    /// On a context of Balm's.
    explicit hand_written(const native_device& of) : id(of.device), context(of.context) {
        must(clRetainContext(context));
        make_the_rest();
    }
    hand_written(const hand_written&) = delete;
    hand_written& operator=(const hand_written&) = delete;
    ~hand_written() {
        clReleaseKernel(add);
        clReleaseProgram(program);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }

    cl_mem memory(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
        cl_int code = CL_SUCCESS;
        cl_mem made = clCreateBuffer(context, flags, bytes, nullptr, &code);
        must(code);
        return made;
    }
    void write(cl_mem to, const std::vector<int>& from, std::size_t offset = 0) const {
        must(clEnqueueWriteBuffer(queue, to, CL_TRUE, offset, 4 * from.size(), from.data(), 0, nullptr,
                                  nullptr));
    }
    std::vector<int> read(cl_mem from, std::size_t n, std::size_t offset = 0) const {
        std::vector<int> got(n);
        must(clEnqueueReadBuffer(queue, from, CL_TRUE, offset, 4 * n, got.data(), 0, nullptr, nullptr));
        return got;
    }
    /// Adds to n elements from `first` on, `turns` times.
    void enqueue_add(cl_command_queue on, cl_mem to, int first, std::size_t n, int value,
                     int turns = 1) const {
        must(clSetKernelArg(add, 0, sizeof(cl_mem), &to));
        must(clSetKernelArg(add, 1, sizeof(int), &first));
        must(clSetKernelArg(add, 2, sizeof(int), &value));
        must(clSetKernelArg(add, 3, sizeof(int), &turns));
        must(clEnqueueNDRangeKernel(on, add, 1, nullptr, &n, nullptr, 0, nullptr, nullptr));
    }

private:
    void make_the_rest() {
        cl_int code = CL_SUCCESS;
        queue = clCreateCommandQueue(context, id, 0, &code);
        must(code);
        const char* text =
            "kernel void add(global int* x, int first, int value, int turns) {\n"
            "    size_t i = first + get_global_id(0);\n"
            "    for (int k = 0; k < turns; ++k) x[i] += value;\n"
            "}\n";
        program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
        must(code);
        must(clBuildProgram(program, 1, &id, "", nullptr, nullptr));
        add = clCreateKernel(program, "add", &code);
        must(code);
    }
};

template <class Body>
void on_opencl_devices(Body&& body) {
    on_all_devices([&](const device& each) {
        if (each.info().api == backend::opencl) body(each);
    });
}

cl_uint references(cl_mem of) {
    cl_uint count = 0;
    must(clGetMemObjectInfo(of, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr));
    return count;
}
cl_uint references(cl_command_queue of) {
    cl_uint count = 0;
    must(clGetCommandQueueInfo(of, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, nullptr));
    return count;
}

// ---- CUDA, by hand ----

template <class Body>
void on_cuda_devices(Body&& body) {
    bool any = false;
    on_all_devices([&](const device& each) {
        if (each.info().api != backend::cuda) return;
        any = true;
        body(each);
    });
    if (!any) GTEST_SKIP() << "no CUDA device";
}

void must(cuda::CUresult code) {
    if (code != cuda::CUDA_SUCCESS)
        throw std::runtime_error("CUDA failed with " + std::to_string(static_cast<unsigned>(code)));
}

/// A context current on this thread for a scope.
struct current {
    explicit current(native_handle context) {
        must(cuda::driver().cuCtxGetCurrent(&before));
        must(cuda::driver().cuCtxSetCurrent(context));
    }
    current(const current&) = delete;
    current& operator=(const current&) = delete;
    ~current() { cuda::driver().cuCtxSetCurrent(before); }
    cuda::CUcontext before = nullptr;
};

cuda::CUdeviceptr cuda_memory(std::size_t bytes) {
    cuda::CUdeviceptr made = 0;
    must(cuda::driver().cuMemAlloc(&made, bytes));
    return made;
}

std::vector<int> cuda_read(cuda::CUdeviceptr from, std::size_t n, cuda::CUstream stream) {
    std::vector<int> got(n);
    must(cuda::driver().cuMemcpyDtoHAsync(got.data(), from, 4 * n, stream));
    must(cuda::driver().cuStreamSynchronize(stream));
    return got;
}

}  // namespace

// ---- in ----

TEST(V22_interop, computes_on_memory_and_queues_of_hand_written_opencl) {
    auto random = seeded_random();
    on_opencl_devices([&](const device& found) {
        const hand_written own(found);
        const device dev = adopt_opencl(own.context, own.id);
        EXPECT_NE(dev, found);
        EXPECT_EQ(dev.name(), found.name());
        EXPECT_EQ(dev, adopt_opencl(own.context, own.id)) << "the same context is the same device";
        EXPECT_EQ(dev, adopt_opencl_of(own.queue));
        EXPECT_EQ(found, adopt_opencl_of(native(found.queue()))) << "a queue of a device that Balm found";
        queue q = adopt_queue(dev, own.queue);
        EXPECT_EQ(q, adopt_queue(dev, own.queue)) << "the same handle is the same queue";
        EXPECT_EQ(found.queue(), adopt_queue(found, native(found.queue()))) << "which Balm made";
        const queue made = found.make_queue();
        EXPECT_EQ(made, adopt_queue(found, native(made)));
        for (int turn = 0; turn < 6; ++turn) {
            const std::size_t n = 1 + random() % 3000, before = random() % 100;
            const int factor = static_cast<int>(random() % 50), added = static_cast<int>(random() % 50);
            cl_mem in = own.memory(4 * (before + n)), out = own.memory(4 * n);
            const auto host = random_numbers<int>(random, n);
            own.write(in, host, 4 * before);
            auto from = adopt_memory<int>(dev, in, n, 4 * before);
            auto to = adopt_memory<int>(dev, out, n);
            // Commands of the program's own before and behind, in the one queue.
            own.enqueue_add(own.queue, in, static_cast<int>(before), n, added);
            const event done = q.execute(scale()(factor, from, to), {n});
            own.enqueue_add(own.queue, out, 0, n, added);
            const auto got = own.read(out, n);
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(got[i], factor * (host[i] + added) + 1 + added) << i;
            EXPECT_TRUE(done.is_complete());
            // And as any buffer, through the device's own queue.
            to.range(0, 1).write({7});
            EXPECT_EQ(to.read()[0], 7);
            clReleaseMemObject(in);
            clReleaseMemObject(out);
        }
    });
}

TEST(V22_interop, an_allocation_is_one_memory_in_whatever_parts_it_is_adopted) {
    on_opencl_devices([&](const device& found) {
        const hand_written own(found);
        const device dev = adopt_opencl(own.context, own.id);
        const std::size_t alignment = dev.info().memory_alignment;
        cl_mem whole = own.memory(4 * alignment);
        const cl_buffer_region region{alignment, 2 * alignment};
        cl_int code = CL_SUCCESS;
        cl_mem part =
            clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        must(code);
        {
            const auto a = adopt_memory<char>(dev, whole, 4 * alignment);
            const auto b = adopt_memory<char>(dev, part, alignment, 8);
            EXPECT_EQ(a.storage(), b.storage());
            EXPECT_EQ(adopt_memory<double>(dev, whole).size(), 4 * alignment / sizeof(double));
            EXPECT_EQ(adopt_memory<int>(dev, part, {}, 4).size(), (2 * alignment - 4) / sizeof(int));
            EXPECT_EQ(adopt_memory<int>(dev, part, {}, 2 * alignment).size(), 0u);
            EXPECT_EQ(b.byte_offset(), alignment + 8);
            EXPECT_EQ(static_cast<cl_mem>(native(b).handle), whole);
            EXPECT_EQ(native(b).byte_offset, alignment + 8);
            EXPECT_THAT(usage_message_of([&] { adopt_memory<char>(dev, part, 2 * alignment, 1); }),
                        HasSubstr("the memory has"));
        }
        const auto mine = dev.mixed_buffer<int>(100);
        const native_memory out = native(mine.range(10, 20));
        EXPECT_EQ(adopt_memory<int>(dev, out.handle, 10, out.byte_offset).storage(), mine.storage());
        EXPECT_EQ(adopt_opencl(native(found).context, native(found).device), found) << "one of Balm's own";
        clReleaseMemObject(part);
        clReleaseMemObject(whole);
    });
}

TEST(V22_interop, shares_what_it_adopts_and_destroys_nothing) {
    on_opencl_devices([&](const device& found) {
        const hand_written own(found);
        cl_mem memory = own.memory(400);
        const cl_uint memory_before = references(memory), queue_before = references(own.queue);
        {
            const device dev = adopt_opencl(own.context, own.id);
            const memory_statistics before = dev.memory();
            queue q = adopt_queue(dev, own.queue);
            auto elements = adopt_memory<int>(dev, memory, 100);
            EXPECT_GT(references(memory), memory_before);
            EXPECT_GT(references(own.queue), queue_before);
            q.execute(scale()(1, elements, adopt_memory<int>(dev, memory, 100)), {100});
            EXPECT_EQ(dev.memory().in_use, before.in_use) << "it is none of Balm's memory";
            q.finish();
        }
        runtime::finish_saving();  // of the kernel, which waits for its launch
        EXPECT_EQ(references(memory), memory_before);
        own.write(memory, {1, 2, 3});
        EXPECT_EQ(own.read(memory, 3), (std::vector<int>{1, 2, 3}));
        clReleaseMemObject(memory);  // in PoCL it keeps its last event, and that its queue
        // Its threads let go of an event a moment after it is complete.
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (references(own.queue) != queue_before && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(references(own.queue), queue_before);
    });
}

TEST(V22_interop, vectors_over_adopted_memory_touch_nothing_beside_it) {
    auto random = seeded_random();
    on_opencl_devices([&](const device& found) {
        const hand_written own(found);
        const device dev = adopt_opencl(own.context, own.id);
        const std::size_t aligned = dev.info().memory_alignment / 4;
        for (int turn = 0; turn < 6; ++turn) {
            const std::size_t n = 1 + random() % 200, guard = 64;
            const auto host = random_numbers<int>(random, 2 * aligned + n + guard);
            cl_mem memory = own.memory(4 * host.size());
            own.write(memory, host);
            vector<int> x = as_vector(adopt_memory<int>(dev, memory, n, 4 * aligned));
            const vector<int> y(context({dev}), random_numbers<int>(random, n));
            x = 2 * x + y;
            x.set(0, x[0] + 1);
            dev.finish();
            const auto got = own.read(memory, host.size());
            const auto other = y.to_host();
            for (std::size_t i = 0; i < host.size(); ++i) {
                const std::size_t k = i - aligned;  // wraps before the vector
                ASSERT_EQ(got[i], k < n ? 2 * host[i] + other[k] + (k == 0) : host[i]) << i;
            }
            EXPECT_EQ(sum(x), std::accumulate(got.begin() + static_cast<std::ptrdiff_t>(aligned),
                                              got.begin() + static_cast<std::ptrdiff_t>(aligned + n), 0));
            // The same memory through a second vector, one element further: as if computed all at once.
            if (n > 1) {
                vector<int> tail = as_vector(adopt_memory<int>(dev, memory, n, 4 * aligned).range(0, n));
                const auto before = tail.to_host();
                x = tail + 1;
                ASSERT_EQ(x[n - 1], before[n - 1] + 1);
                vector<int> copy = as_vector(dev.mixed_buffer<int>(n));
                copy = x;
                EXPECT_EQ(copy.to_host(), x.to_host());
            }
            clReleaseMemObject(memory);
        }
    });
    on_all_devices([&](const device& dev) {
        auto memory = dev.mixed_buffer<int>(200);
        memory.fill(3);
        vector<int> x = as_vector(memory.range(0, 50));
        x = x + 1;
        const auto got = memory.read();
        EXPECT_EQ(std::count(got.begin(), got.end(), 4), 50);
        EXPECT_EQ(std::count(got.begin(), got.end(), 3), 150);
        dev.execute(scale()(2, x, memory.range(100, 150)), {50});
        EXPECT_EQ(memory.read()[149], 9);
    });
}

// ---- out, and between ----

TEST(V22_interop, native_commands_stand_among_those_of_all_queues) {
    auto random = seeded_random();
    on_opencl_devices([&](const device& dev) {
        const hand_written own(native(dev));
        queue other = dev.make_queue();
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t n = 1 + random() % 2000;
            const auto host = random_numbers<int>(random, n);
            auto a = dev.mixed_buffer<int>(n), b = dev.mixed_buffer<int>(n);
            a.write(host);
            const event first = dev.execute(scale()(3, a, b), {n});
            // Another queue: it waits for the first by itself, and the last for it.
            const event done = run_native(other, reads(), writes(b), [&](native_handle q) {
                EXPECT_EQ(q.value(), native(other).value());
                own.enqueue_add(q, native(b).handle, 0, n, 5, 200);
            });
            const event last = dev.execute(scale()(1, b, a), {n});
            const auto got = a.read(last);
            for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 3 * host[i] + 1 + 1000 + 1) << i;
            EXPECT_TRUE(done.is_complete());
            EXPECT_LE(done.profile().started, done.profile().ended);
        }
    });
}

TEST(V22_interop, profilers_see_native_commands_as_one) {
    on_opencl_devices([&](const device& dev) {
        const hand_written own(native(dev));
        queue q = dev.make_queue();
        const std::size_t n = 1000;
        auto a = dev.mixed_buffer<int>(n);
        a.fill(0).wait();
        profiler prof(q);
        const event done = run_native(q, reads(), writes(a), [&](native_handle given) {
            own.enqueue_add(given, native(a).handle, 0, n, 1, 100);
            own.enqueue_add(given, native(a).handle, 0, n, 1, 100);
        });
        const std::vector<profiled_command> all = prof.commands();
        ASSERT_EQ(all.size(), 1u);
        EXPECT_EQ(all[0].name, "native");
        EXPECT_EQ(all[0].count, 1u);
        EXPECT_EQ(all[0].device, static_cast<std::uint64_t>(done.profile().duration()));
    });
}

TEST(V22_interop, native_commands_wait_for_events_and_pass_on_what_is_thrown) {
    on_opencl_devices([&](const device& dev) {
        const hand_written own(native(dev));
        queue q = dev.queue();
        auto a = dev.mixed_buffer<int>(10);
        a.fill(0);
        user_event go;
        std::jthread setter([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            go.complete();
        });
        bool was_set = false;
        run_native(
            q, reads(), writes(a),
            [&](native_handle native_queue) {
                was_set = event(go).is_complete();
                own.enqueue_add(native_queue, native(a).handle, 0, 10, 1);
            },
            event(go));
        EXPECT_TRUE(was_set) << "what cannot wait in the driver is called when it need not";
        EXPECT_EQ(a.read()[9], 1);
        EXPECT_THROW(run_native(q, reads(a), writes(),
                                [](native_handle) { throw std::logic_error("of the program's own"); }),
                     std::logic_error);
        // Balm may be used meanwhile, the queue itself too.
        run_native(q, reads(a), writes(), [&](native_handle) { EXPECT_EQ(a.read()[0], 1); });
        EXPECT_EQ(a.read()[0], 1);
    });
}

// ---- refusals ----

TEST(V22_interop, refuses_what_does_not_fit_with_words) {
    on_opencl_devices([&](const device& found) {
        const hand_written own(found), foreign(found);
        const device dev = adopt_opencl(own.context, own.id);
        cl_mem memory = own.memory(64), elsewhere = foreign.memory(64);

        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, nullptr, 4); }), HasSubstr("null cl_mem"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, elsewhere, 4); }),
                    HasSubstr("another cl_context"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(found, memory, 4); }),
                    HasSubstr("adopt_opencl"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, 17); }),
                    testing::AllOf(HasSubstr("17 elements of 4 bytes"), HasSubstr("64 bytes")));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, 4, 52); }),
                    HasSubstr("at byte 52"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, SIZE_MAX / 2, 4); }),
                    HasSubstr("64 bytes"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, 4, 2); }),
                    HasSubstr("a multiple of 4"));
        EXPECT_THAT(usage_message_of([&] { as_vector(adopt_memory<int>(dev, memory, 4, 4)); }),
                    HasSubstr("use the elements as a buffer"));
        EXPECT_NO_THROW(adopt_memory<int>(dev, memory, 16));
        EXPECT_NO_THROW(adopt_memory<int>(dev, memory, 0, 64));

        EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, nullptr); }), HasSubstr("null cl_command_queue"));
        EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, foreign.queue); }),
                    HasSubstr("another cl_context"));
        cl_int code = CL_SUCCESS;
        cl_command_queue unordered =
            clCreateCommandQueue(own.context, own.id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
        if (code == CL_SUCCESS) {
            EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, unordered); }), HasSubstr("out-of-order"));
            clReleaseCommandQueue(unordered);
        }

        EXPECT_THAT(usage_message_of([&] { adopt_opencl(nullptr, own.id); }), HasSubstr("null cl_context"));
        EXPECT_THAT(usage_message_of([&] { adopt_opencl(own.context, nullptr); }),
                    HasSubstr("null cl_device_id"));

        EXPECT_THAT(usage_message_of([&] { adopt_opencl_of(nullptr); }), HasSubstr("null cl_command_queue"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, {}, 68); }), HasSubstr("64 bytes"));

        // Memory of one device in a kernel on another, as ever.
        auto here = adopt_memory<int>(dev, memory, 16);
        EXPECT_THAT(usage_message_of([&] { found.execute(scale()(1, here, here), {16}); }),
                    HasSubstr("lives on"));
        queue q = found.queue();
        EXPECT_THAT(usage_message_of([&] { run_native(q, reads(here), writes(), [](native_handle) {}); }),
                    HasSubstr("copy it there first"));
        EXPECT_THAT(usage_message_of(
                        [&] { run_native(q, reads(device_pointer<int>()), writes(), [](native_handle) {}); }),
                    HasSubstr("null device_pointer"));
        clReleaseMemObject(memory);
        clReleaseMemObject(elsewhere);
    });
    const device null(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    int host = 0;
    EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(null, &host, 1); }), HasSubstr("no native handles"));
    EXPECT_THAT(usage_message_of([&] { adopt_queue(null, &host); }), HasSubstr("no native handles"));
    EXPECT_THAT(usage_message_of([&] { adopt_cuda(nullptr); }), HasSubstr("null CUcontext"));
}

TEST(V22_interop, kernels_neither_write_read_only_memory_nor_read_write_only) {
    on_opencl_devices([&](const device& found) {
        const hand_written own(found);
        const device dev = adopt_opencl(own.context, own.id);
        cl_mem read_only = own.memory(64, CL_MEM_READ_ONLY), write_only = own.memory(64, CL_MEM_WRITE_ONLY);
        auto in = adopt_memory<int>(dev, read_only, 16), out = adopt_memory<int>(dev, write_only, 16);
        auto plain = dev.mixed_buffer<int>(16);
        in.fill(4);  // kernels do not write it: others may
        dev.execute(scale()(2, in, plain), {16});
        EXPECT_EQ(plain.read()[15], 9);
        dev.execute(scale()(2, plain, out), {16});
        EXPECT_EQ(out.read()[15], 19);
        EXPECT_THAT(usage_message_of([&] { dev.execute(scale()(2, plain, in), {16}); }),
                    HasSubstr("CL_MEM_READ_ONLY"));
        EXPECT_THAT(usage_message_of([&] { dev.execute(scale()(2, out, plain), {16}); }),
                    HasSubstr("CL_MEM_WRITE_ONLY"));
        vector<int> x = as_vector(in);
        EXPECT_THAT(usage_message_of([&] { x = x + 1; }), HasSubstr("CL_MEM_READ_ONLY"));
        EXPECT_EQ(sum(x), 64);
        clReleaseMemObject(read_only);
        clReleaseMemObject(write_only);
    });
}

TEST(V22_interop, freed_objects_hand_out_nothing) {
    on_all_devices([](const device& dev) {
        auto a = dev.mixed_buffer<int>(4);
        a.free();
        EXPECT_THAT(usage_message_of([&] { native(a); }), HasSubstr("was freed"));
        EXPECT_THAT(usage_message_of([&] { native(device_pointer<int>()); }),
                    HasSubstr("null device_pointer"));
        EXPECT_TRUE(static_cast<bool>(native(dev.queue())));
        EXPECT_TRUE(static_cast<bool>(native(dev).context));
    });
}

// ---- CUDA ----

TEST(V22_interop, computes_on_memory_and_streams_of_hand_written_cuda) {
    auto random = seeded_random();
    on_cuda_devices([&](const device& dev) {
        const native_device here = native(dev);
        EXPECT_EQ(adopt_cuda(here.context), dev) << "the primary context is Balm's own";
        const current now(here.context);
        cuda::CUstream stream = nullptr;
        must(cuda::driver().cuStreamCreate(&stream, cuda::CU_STREAM_NON_BLOCKING));
        {
            queue q = adopt_queue(dev, stream);
            EXPECT_EQ(static_cast<cuda::CUstream>(native(q)), stream);
            for (int turn = 0; turn < 6; ++turn) {
                const std::size_t n = 1 + random() % 3000, before = random() % 100;
                const int factor = static_cast<int>(random() % 50);
                const cuda::CUdeviceptr in = cuda_memory(4 * (before + n)), out = cuda_memory(4 * n);
                const auto host = random_numbers<int>(random, n);
                must(cuda::driver().cuMemcpyHtoDAsync(in + 4 * before, host.data(), 4 * n, stream));
                {
                    auto from = adopt_memory<int>(dev, in + 4 * before, n);
                    auto to = adopt_memory<int>(dev, out, n);
                    EXPECT_EQ(from.storage(), adopt_memory<int>(dev, in, 1).storage());
                    EXPECT_EQ(native(from).handle.value(), in + 4 * before);
                    const event done = q.execute(scale()(factor, from, to), {n});
                    const auto got = cuda_read(out, n, stream);
                    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], factor * host[i] + 1) << i;
                    vector<int> x = as_vector(to);
                    x = x + 1;
                    EXPECT_EQ(x[n - 1], factor * host[n - 1] + 2);
                    EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, out, (n + 1) << 20); }),
                                HasSubstr("the memory has"));
                    EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, out + 1, 0); }),
                                HasSubstr("a multiple of 4"));
                }
                dev.finish();
                must(cuda::driver().cuMemFree(in));
                must(cuda::driver().cuMemFree(out));
            }
        }
        must(cuda::driver().cuStreamDestroy(stream));
    });
}

TEST(V22_interop, cuda_commands_stand_among_those_of_all_queues) {
    auto random = seeded_random();
    on_cuda_devices([&](const device& dev) {
        queue other = dev.make_queue();
        const std::size_t n = 1 << 20;
        const auto host = random_numbers<int>(random, n);
        auto a = dev.mixed_buffer<int>(n), b = dev.mixed_buffer<int>(n), c = dev.mixed_buffer<int>(n);
        a.write(host);
        const event first = dev.execute(scale()(3, a, b), {n});
        const event done = run_native(other, reads(b), writes(c), [&](native_handle stream) {
            cuda::CUcontext found = nullptr;
            must(cuda::driver().cuCtxGetCurrent(&found));
            EXPECT_EQ(found, static_cast<cuda::CUcontext>(native(dev).context));
            must(cuda::driver().cuMemcpyDtoDAsync(native(c).handle, native(b).handle, 4 * n, stream));
        });
        const event last = dev.execute(scale()(1, c, a), {n});
        const auto got = a.read(last);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 3 * host[i] + 2) << i;
        EXPECT_TRUE(done.is_complete());
    });
}

TEST(V22_interop, a_cuda_context_of_the_programs_own_is_a_device_of_its_own) {
    on_cuda_devices([&](const device& dev) {
        const std::vector<std::string> names{"libcuda.so.1"};
        const auto library = runtime::shared_library::open_first(names);
        const auto create =
            library.function<cuda::CUresult(cuda::CUcontext*, unsigned, cuda::CUdevice)>("cuCtxCreate_v2");
        const auto destroy = library.function<cuda::CUresult(cuda::CUcontext)>("cuCtxDestroy_v2");
        ASSERT_TRUE(create != nullptr && destroy != nullptr);
        cuda::CUcontext before = nullptr, own = nullptr;
        must(cuda::driver().cuCtxGetCurrent(&before));
        must(create(&own, 0, static_cast<cuda::CUdevice>(native(dev).device.value())));
        must(cuda::driver().cuCtxSetCurrent(before));
        cuda::CUdeviceptr memory = 0;
        cuda::CUstream stream = nullptr;
        {
            const current now(own);
            memory = cuda_memory(400);
            must(cuda::driver().cuStreamCreate(&stream, cuda::CU_STREAM_NON_BLOCKING));
        }
        {
            const device adopted = adopt_cuda(own);
            EXPECT_NE(adopted, dev);
            EXPECT_EQ(adopted, adopt_cuda(own));
            EXPECT_EQ(static_cast<cuda::CUcontext>(native(adopted).context), own);
            queue q = adopt_queue(adopted, stream);
            auto a = adopt_memory<int>(adopted, memory, 100);
            auto b = adopted.mixed_buffer<int>(100);
            a.fill(20);
            q.execute(scale()(2, a, b), {100});
            EXPECT_EQ(b.read()[99], 41);
            auto there = dev.mixed_buffer<int>(100);
            b.copy_to(there);
            EXPECT_EQ(there.read()[99], 41);
            EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, memory, 100); }),
                        HasSubstr("another CUcontext"));
            EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, stream); }), HasSubstr("another CUcontext"));
            adopted.finish();
        }
        {
            const current now(own);
            must(cuda::driver().cuStreamDestroy(stream));
            must(cuda::driver().cuMemFree(memory));
        }
        runtime::finish_saving();  // the last that holds a program of the context
        must(destroy(own));
        EXPECT_EQ(dev.mixed_buffer<int>(1).size(), 1u) << "the other device goes on";
    });
}

TEST(V22_interop, refuses_cuda_handles_that_do_not_fit) {
    on_cuda_devices([&](const device& dev) {
        auto pinned = dev.pinned_array<int>(4);
        int on_the_stack = 0;
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, nullptr, 4); }),
                    HasSubstr("null CUdeviceptr"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, pinned.data(), 4); }),
                    HasSubstr("host memory"));
        EXPECT_THAT(usage_message_of([&] { adopt_memory<int>(dev, &on_the_stack, 1); }),
                    testing::AnyOf(HasSubstr("unknown to CUDA"), HasSubstr("host memory")));
        EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, nullptr); }), HasSubstr("CU_STREAM_LEGACY"));
        EXPECT_THAT(usage_message_of([&] { adopt_queue(dev, 2ull); }), HasSubstr("CU_STREAM_PER_THREAD"));
    });
}

}  // namespace balm::test

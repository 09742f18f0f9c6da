// An OpenCL program (a context, a queue, memory, a kernel) that adopts Balm piece by piece, and a Balm
// program that launches an OpenCL kernel. Nothing is copied, and neither waits for the other.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <balm/balm.hpp>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace balm::dsl;

namespace {

void must(cl_int code, const char* call) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(call) + " failed: " + std::to_string(code));
}

cl_device_id first_device() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    must(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    return device;
}

/// The kernel x[i] = x[i]^2, for a context and a device.
cl_kernel make_square(cl_context context, cl_device_id device) {
    const char* text =
        "kernel void square(global float* x) { size_t i = get_global_id(0); x[i] = x[i] * x[i]; }";
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "square", &code);
    must(code, "clCreateKernel");
    clReleaseProgram(program);  // the kernel keeps it
    return kernel;
}

void enqueue(cl_command_queue queue, cl_kernel kernel, cl_mem x, std::size_t n) {
    must(clSetKernelArg(kernel, 0, sizeof x, &x), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, nullptr, 0, nullptr, nullptr),
         "clEnqueueNDRangeKernel");
}

/// OpenCL's context, queue and memory; Balm computes in between.
void balm_in_an_opencl_program(std::size_t n) {
    cl_device_id id = first_device();
    cl_int code = CL_SUCCESS;
    cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, &code);
    must(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, id, 0, &code);
    must(code, "clCreateCommandQueue");
    cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, n * sizeof(float), nullptr, &code);
    must(code, "clCreateBuffer");
    cl_kernel square = make_square(context, id);
    std::vector<float> host(n, 3);
    must(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, n * sizeof(float), host.data(), 0, nullptr, nullptr),
         "clEnqueueWriteBuffer");

    {
        const balm::device device = balm::adopt_opencl(context, id);
        balm::queue in_order = balm::adopt_queue(device, queue);
        auto elements = balm::adopt_memory<float>(device, x, n);
        const auto add_index = balm::kernel<1>("add_index(x)", [](InOut<float> values) {
            values[global_id(0)] += cast<float>(global_id(0) % 10);
        });

        enqueue(queue, square, x, n);                                          // OpenCL: 9
        const balm::event added = in_order.execute(add_index(elements), {n});  // Balm: 9 + i % 10
        enqueue(queue, square, x, n);                                          // OpenCL again
        in_order.finish();

        balm::vector<float> v = balm::as_vector(elements);  // and as a vector: the same memory
        v = v / 2;
        std::cout << "the largest of x: " << balm::max(v) << '\n';
        device.finish();
    }

    must(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, n * sizeof(float), host.data(), 0, nullptr, nullptr),
         "clEnqueueReadBuffer");
    std::cout << "x[4] as OpenCL reads it: " << host[4] << '\n';
    clReleaseKernel(square);
    clReleaseMemObject(x);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/// Balm's context, queue and memory; an OpenCL kernel in between.
void opencl_in_a_balm_program(std::size_t n) {
    const balm::context ctx(balm::filter::any && [](const balm::device_info& each) {
        return each.api == balm::backend::opencl;
    } && balm::filter::count(1));
    const balm::device device = ctx.device();
    const balm::native_device own = balm::native(device);
    cl_kernel square = make_square(own.context, own.device);

    balm::vector<float> x(ctx, n);
    x = balm::cast<float>(balm::element_index() % 10);
    balm::queue queue = device.make_queue();  // not the one that wrote x: Balm waits where necessary
    const balm::event squared = balm::run_native(
        queue, balm::reads(), balm::writes(x),
        [&](balm::native_handle native) { enqueue(native, square, balm::native(x).handle, n); });
    x = x + 1;
    std::cout << "x[7] = 7 * 7 + 1 = " << x[7] << '\n';
    clReleaseKernel(square);
}

}  // namespace

int main() {
    constexpr std::size_t n = 1000;
    balm_in_an_opencl_program(n);
    opencl_in_a_balm_program(n);
}

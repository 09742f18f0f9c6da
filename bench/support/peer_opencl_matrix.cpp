// The kernel of peer_matrix.hpp in OpenCL C, with plain OpenCL calls.

#include <cstddef>

#include "peer_matrix.hpp"
#include "support/opencl.hpp"

namespace peer {

namespace {

constexpr const char* source = R"(
#define TILE 32

kernel void multiply(int n, global const float* restrict a, global const float* restrict b,
                     global float* restrict product) {
    local float part_of_a[TILE][TILE], part_of_b[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int col = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;
    float value = 0;
    for (int begin = 0; begin < n; begin += TILE) {
        part_of_a[y][x] = a[row * n + begin + x];
        part_of_b[y][x] = b[(begin + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < TILE; ++k) value = fma(part_of_a[y][k], part_of_b[k][x], value);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    product[row * n + col] = value;
}
)";
constexpr std::size_t tile = 32;

}  // namespace

struct opencl_matrix::state {
    std::size_t n = 0;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_program program = nullptr;
    cl_kernel kernel = nullptr;
    cl_mem memory[3] = {};

    state(cl_device_id device, int size, const float* a, const float* b) : n(static_cast<std::size_t>(size)) {
        cl_int code = 0;
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        check(code, "clCreateContext");
        queue = clCreateCommandQueue(context, device, 0, &code);
        check(code, "clCreateCommandQueue");
        const char* text = source;
        program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
        check(code, "clCreateProgramWithSource");
        check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
        kernel = clCreateKernel(program, "multiply", &code);
        check(code, "clCreateKernel");
        check(clSetKernelArg(kernel, 0, sizeof(cl_int), &size), "clSetKernelArg");
        const float* const from[] = {a, b, nullptr};
        for (cl_uint k = 0; k < 3; ++k) {
            const cl_mem_flags how = k < 2 ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_WRITE_ONLY;
            memory[k] = clCreateBuffer(context, how, bytes(), const_cast<float*>(from[k]), &code);
            check(code, "clCreateBuffer");
            check(clSetKernelArg(kernel, k + 1, sizeof(cl_mem), &memory[k]), "clSetKernelArg");
        }
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
        for (cl_mem m : memory) clReleaseMemObject(m);
        clReleaseKernel(kernel);
        clReleaseProgram(program);
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
    std::size_t bytes() const { return n * n * sizeof(float); }
};

opencl_matrix::opencl_matrix(const char* platform, const char* device, int n, const float* a, const float* b)
    : state_(std::make_unique<state>(find_device(platform, device), n, a, b)) {}
opencl_matrix::~opencl_matrix() = default;

void opencl_matrix::multiply() {
    const std::size_t global[] = {state_->n, state_->n}, local[] = {tile, tile};
    check(
        clEnqueueNDRangeKernel(state_->queue, state_->kernel, 2, nullptr, global, local, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
}
void opencl_matrix::finish() { check(clFinish(state_->queue), "clFinish"); }
void opencl_matrix::read(float* product) {
    check(clEnqueueReadBuffer(state_->queue, state_->memory[2], CL_TRUE, 0, state_->bytes(), product, 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
}

}  // namespace peer

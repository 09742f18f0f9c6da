// The kernel of peer_matrix.hpp in CUDA.

#include <cstddef>

#include "peer_cuda_check.hpp"
#include "peer_matrix.hpp"

namespace {

constexpr int tile = 32;

__global__ void __launch_bounds__(tile* tile)
    multiply_kernel(int n, const float* __restrict__ a, const float* __restrict__ b,
                    float* __restrict__ product) {
    __shared__ float part_of_a[tile][tile], part_of_b[tile][tile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int col = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
    float value = 0;
    for (int begin = 0; begin < n; begin += tile) {
        part_of_a[y][x] = a[row * n + begin + x];
        part_of_b[y][x] = b[(begin + y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile; ++k) value += part_of_a[y][k] * part_of_b[k][x];
        __syncthreads();
    }
    product[row * n + col] = value;
}

struct matrices {
    int n;
    float *a, *b, *product;
    std::size_t bytes() const { return std::size_t{sizeof(float)} * n * n; }
};

float* allocate(std::size_t bytes, const float* from) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    if (from != nullptr) check(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return static_cast<float*>(memory);
}

void* make(int n, const float* a, const float* b) {
    auto* const m = new matrices{n, nullptr, nullptr, nullptr};
    m->a = allocate(m->bytes(), a);
    m->b = allocate(m->bytes(), b);
    m->product = allocate(m->bytes(), nullptr);
    return m;
}

void multiply(void* of) {
    const matrices& m = *static_cast<matrices*>(of);
    multiply_kernel<<<dim3(m.n / tile, m.n / tile), dim3(tile, tile)>>>(m.n, m.a, m.b, m.product);
}

void finish() {
    check(cudaGetLastError(), "a launch");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void read(void* of, float* product) {
    const matrices& m = *static_cast<matrices*>(of);
    check(cudaMemcpy(product, m.product, m.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void release(void* of) {
    auto* const m = static_cast<matrices*>(of);
    for (float* memory : {m->a, m->b, m->product}) check(cudaFree(memory), "cudaFree");
    delete m;
}

constexpr peer::cuda_matrix_functions functions{make, multiply, finish, read, release};

}  // namespace

extern "C" const peer::cuda_matrix_functions* peer_cuda_matrix_functions() { return &functions; }

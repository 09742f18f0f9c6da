// cuBLAS behind the functions of peer_contract.hpp.

#include <cublas_v2.h>
#include <dlfcn.h>

#include "peer_contract.hpp"
#include "peer_cuda_check.hpp"

namespace {

void check(cublasStatus_t code, const char* what) {
    if (code == CUBLAS_STATUS_SUCCESS) return;
    std::fprintf(stderr, "CUDA peer: %s gives %d\n", what, static_cast<int>(code));
    std::abort();
}

struct library {
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    // cublasGemmEx, which is overloaded in C++.
    cublasStatus_t (*multiply)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                               const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                               const void*, void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
};

const library* cublas() {
    static library found;
    static const bool is_there = [] {
        void* opened = nullptr;
        for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
                                 "/usr/local/cuda/lib64/libcublas.so"})
            if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
        if (opened == nullptr) return false;
        found.create = reinterpret_cast<decltype(found.create)>(dlsym(opened, "cublasCreate_v2"));
        found.destroy = reinterpret_cast<decltype(found.destroy)>(dlsym(opened, "cublasDestroy_v2"));
        found.multiply = reinterpret_cast<decltype(found.multiply)>(dlsym(opened, "cublasGemmEx"));
        return found.create && found.destroy && found.multiply;
    }();
    return is_there ? &found : nullptr;
}

struct matrices {
    cublasHandle_t handle;
    peer::matrix_product of;
    void *a, *b, *ordered, *product;
};
matrices& of(void* all) { return *static_cast<matrices*>(all); }

void* allocate(std::size_t bytes, const void* from) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    if (from != nullptr) check(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory;
}

void* make(peer::matrix_product what, const void* a, const void* b) {
    if (cublas() == nullptr) return nullptr;
    auto* const m = new matrices{nullptr, what, nullptr, nullptr, nullptr, nullptr};
    check(cublas()->create(&m->handle), "cublasCreate");
    m->a = allocate(what.bytes_of(what.a()), a);
    m->b = allocate(what.bytes_of(what.b()), b);
    m->ordered = what.middle > 1 ? allocate(what.bytes_of(what.b()), nullptr) : m->b;
    m->product = allocate(what.bytes_of(what.product()), nullptr);
    return m;
}

// Puts rows of `vectors` uint4 in order, several to a block.
__global__ void permute(const uint4* from, uint4* to, unsigned middle, unsigned inner, unsigned vectors) {
    const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= inner) return;
    const unsigned apart = inner / middle, j = row / apart, k = row - j * apart;
    const std::size_t out = std::size_t{row} * vectors, in = (std::size_t{k} * middle + j) * vectors;
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x) to[out + v] = from[in + v];
}

// cuBLAS stores columns: of the transposes, product = b * a.
void multiply(void* all) {
    const matrices& m = of(all);
    if (m.of.middle > 1) {
        const auto vectors = static_cast<unsigned>(m.of.bytes_of(m.of.columns) / sizeof(uint4));
        const auto inner_rows = static_cast<unsigned>(m.of.inner);
        const dim3 block(64, 4);
        permute<<<(inner_rows + block.y - 1) / block.y, block>>>(
            static_cast<const uint4*>(m.b), static_cast<uint4*>(m.ordered),
            static_cast<unsigned>(m.of.middle), inner_rows, vectors);
    }
    const int rows = m.of.rows, columns = m.of.columns, inner = m.of.inner;
    const float one = 1, zero = 0;
    const double one_f64 = 1, zero_f64 = 0;
    const cudaDataType type = m.of.is_double ? CUDA_R_64F : CUDA_R_32F;
    check(
        cublas()->multiply(
            m.handle, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner,
            m.of.is_double ? static_cast<const void*>(&one_f64) : &one, m.ordered, type, columns, m.a, type,
            inner, m.of.is_double ? static_cast<const void*>(&zero_f64) : &zero, m.product, type, columns,
            m.of.is_double ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}
void finish() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void read(void* all, void* product) {
    check(cudaMemcpy(product, of(all).product, of(all).of.bytes_of(of(all).of.product()),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
}

void release(void* all) {
    check(cublas()->destroy(of(all).handle), "cublasDestroy");
    void* const apart = of(all).ordered == of(all).b ? nullptr : of(all).ordered;
    for (void* memory : {of(all).a, of(all).b, apart, of(all).product}) check(cudaFree(memory), "cudaFree");
    delete &of(all);
}

constexpr peer::cuda_contract_functions functions{make, multiply, finish, read, release};

}  // namespace

extern "C" const peer::cuda_contract_functions* peer_cuda_contract_functions() { return &functions; }

#pragma once
// The textbook product of two square matrices: each work-group of 32 x 32 keeps a tile of both in local
// memory, each work-item computes one element.

#include <memory>

namespace peer {

/// The functions that `peer_cuda_matrix_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. multiply is asynchronous.
struct cuda_matrix_functions {
    /// n x n elements each, row-major; n is a multiple of 32.
    void* (*make)(int n, const float* a, const float* b);
    void (*multiply)(void*);
    void (*finish)();
    /// Copies the product.
    void (*read)(void*, float* product);
    void (*release)(void*);
};

/// The same in OpenCL C, with plain OpenCL calls.
class opencl_matrix {
public:
    /// Throws std::runtime_error if OpenCL has no such device, or if a call fails.
    opencl_matrix(const char* platform, const char* device, int n, const float* a, const float* b);
    ~opencl_matrix();
    void multiply();
    void finish();
    void read(float* product);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace peer

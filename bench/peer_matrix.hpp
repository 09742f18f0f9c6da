#pragma once
// The product of two square matrices as textbooks write it: each work-group of 32 x 32 keeps a tile of both
// in local memory, each work-item makes one element.

#include <memory>

namespace peer {

/// Those of libpeer_cuda.so, got with `peer_cuda_matrix_functions`, on the device that cuda_functions::select
/// has chosen. multiply is asynchronous.
struct cuda_matrix_functions {
    /// n x n elements each, row by row; n is a multiple of 32.
    void* (*make)(int n, const float* a, const float* b);
    void (*multiply)(void*);
    void (*finish)();
    /// Copies the product.
    void (*read)(void*, float* product);
    void (*release)(void*);
};

/// The same in OpenCL C, through the OpenCL API alone.
class opencl_matrix {
public:
    /// Throws std::runtime_error where OpenCL has no such device, or refuses something.
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

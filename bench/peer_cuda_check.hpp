#pragma once
// For the CUDA peers: a CUDA error aborts the process with a message.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "CUDA peer: %s: %s\n", what, cudaGetErrorString(code));
    std::abort();
}

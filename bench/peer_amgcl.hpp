#pragma once
// The operations that AMGCL's solvers ask of a device, as its CUDA backend has them: products by cuSPARSE,
// one kernel for each operation on vectors, inner products by CUB.

#include <cstddef>

namespace peer {

/// The functions that `peer_cuda_amgcl_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Vectors are memory of the device. Asynchronous except the making, releasing,
/// reading and writing of memory, dot and finish.
struct cuda_amgcl_functions {
    /// Of n elements, copied from host memory unless that is null.
    double* (*make_vector)(std::size_t n, const double* from);
    void (*release_vector)(double*);
    void (*read)(double* to, const double* vector, std::size_t n);
    void (*write)(double* vector, const double* from, std::size_t n);
    /// A matrix in CSR, copied from host memory; null if cuSPARSE is missing.
    void* (*make_matrix)(std::size_t rows, std::size_t columns, const int* row_pointers,
                         const int* column_indices, const double* values);
    void (*release_matrix)(void*);
    void (*clear)(double* x, std::size_t n);
    void (*copy)(double* to, const double* from, std::size_t n);
    /// y = alpha A x + beta y
    void (*multiply)(double alpha, const void* matrix, double* x, double beta, double* y);
    /// y = a x + b y; where b is 0, y is not read. The same of the next two.
    void (*axpby)(double a, const double* x, double b, double* y, std::size_t n);
    /// z = a x + b y + c z
    void (*axpbypcz)(double a, const double* x, double b, const double* y, double c, double* z,
                     std::size_t n);
    /// z = a x y + b z
    void (*vmul)(double a, const double* x, const double* y, double b, double* z, std::size_t n);
    double (*dot)(const double* x, const double* y, std::size_t n);
    void (*finish)();
};

}  // namespace peer

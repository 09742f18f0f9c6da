#pragma once
// Sparse products that one would write with OpenMP, and those of cuSPARSE.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// A matrix in CSR in host memory, and a vector.
struct sparse_problem {
    std::size_t rows, columns, entries;
    const int* row_pointers;
    const int* column_indices;
    const double* values;
    const double* x;
};

/// Those of libpeer_cuda.so, got with `peer_cuda_sparse_functions`, on the device that cuda_functions::select
/// has chosen. Asynchronous but for make, read and finish.
struct cuda_sparse_functions {
    /// The faster one of the two algorithms for CSR, preprocessed; null without cuSPARSE.
    void* (*make)(const sparse_problem&);
    /// The product y, of as many elements as rows.
    void (*read)(void*, double* y);
    /// The copy moves the bytes of the matrix and of both vectors.
    cuda_work_functions on_work;
};

namespace openmp {

/// y = A x, a row at a time.
void sparse_product(const sparse_problem&, double* y);

}  // namespace openmp

}  // namespace peer

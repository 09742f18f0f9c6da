#pragma once
// Sparse products that one would write with OpenMP, and those of cuSPARSE.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// A matrix in CSR in host memory, and a vector, or a row-major matrix of several right-hand sides.
struct sparse_problem {
    std::size_t rows, columns, entries;
    const int* row_pointers;
    const int* column_indices;
    const double* values;
    const double* x;
    std::size_t right_hand_sides = 1;
    /// Of a matrix of dense square blocks with so many rows: pointers and column indices are those of blocks,
    /// values are row-major within them; rows, columns and entries are single ones.
    std::size_t block = 1;
};

/// Those of libpeer_cuda.so, got with `peer_cuda_sparse_functions`, on the device that cuda_functions::select
/// has chosen. Asynchronous but for make, read and finish.
struct cuda_sparse_functions {
    /// Of a vector the faster one of the two algorithms for CSR, preprocessed, or bsrmv for blocks; of
    /// several right-hand sides the fastest one of SpMM for CSR. Null without cuSPARSE.
    void* (*make)(const sparse_problem&);
    /// The product y, of as many elements as rows for each right-hand side, row-major.
    void (*read)(void*, double* y);
    /// The copy moves the bytes of the matrix and of both vectors.
    cuda_work_functions on_work;
};

namespace openmp {

/// y = A x, a row at a time, or a row of blocks.
void sparse_product(const sparse_problem&, double* y);

}  // namespace openmp

}  // namespace peer

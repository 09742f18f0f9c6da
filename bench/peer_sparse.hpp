#pragma once
// Sparse products: hand-written with OpenMP, and those of cuSPARSE.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// A matrix in CSR in host memory, and a vector or a row-major matrix of several right-hand sides.
struct sparse_problem {
    std::size_t rows, columns, entries;
    const int* row_pointers;
    const int* column_indices;
    const double* values;
    const double* x;
    std::size_t right_hand_sides = 1;
    /// For a matrix of dense square blocks, their rows: pointers and column indices are those of blocks,
    /// values are row-major within blocks; rows, columns and entries count single ones.
    std::size_t block = 1;
};

/// The functions that `peer_cuda_sparse_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select. Asynchronous except make, read and finish.
struct cuda_sparse_functions {
    /// For a vector, the faster of the two algorithms for CSR, preprocessed, or bsrmv for blocks; for several
    /// right-hand sides, the fastest SpMM algorithm for CSR. Null if cuSPARSE is missing.
    void* (*make)(const sparse_problem&);
    /// The product y: as many elements as rows for each right-hand side, row-major.
    void (*read)(void*, double* y);
    /// The copy moves the bytes of the matrix and of both vectors.
    cuda_work_functions on_work;
};

namespace openmp {

/// y = A x, row by row, or by rows of blocks.
void sparse_product(const sparse_problem&, double* y);

}  // namespace openmp

}  // namespace peer

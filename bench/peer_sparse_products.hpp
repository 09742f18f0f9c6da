#pragma once
// Products of sparse matrices: hand-written with OpenMP, and those of cuSPARSE.

#include <cstddef>
#include <vector>

#include "peer_work.hpp"

namespace peer {

/// A matrix in CSR in host memory.
struct csr {
    std::size_t rows, columns, entries;
    const int* row_pointers;
    const int* column_indices;
    const double* values;
};

/// The functions that `peer_cuda_sparse_product_functions` of libpeer_cuda.so returns, on the device chosen
/// by cuda_functions::select. Asynchronous except make, read and finish.
struct cuda_sparse_product_functions {
    /// R (A P); null if cuSPARSE is missing.
    void* (*make)(const csr& r, const csr& a, const csr& p);
    /// The number of the product's entries, hence of its column indices and values.
    std::size_t (*entries)(void*);
    void (*read)(void*, int* row_pointers, int* column_indices, double* values);
    /// The copy moves the bytes of all matrices, operands and results, once.
    cuda_work_functions on_work;
};

namespace openmp {

struct host_csr {
    std::size_t rows = 0, columns = 0;
    std::vector<int> row_pointers, column_indices;
    std::vector<double> values;

    csr view() const {
        return {rows, columns, values.size(), row_pointers.data(), column_indices.data(), values.data()};
    }
};

/// A B, row by row, each thread with its own dense accumulator; columns ascend.
host_csr product(const csr& a, const csr& b);

}  // namespace openmp

}  // namespace peer

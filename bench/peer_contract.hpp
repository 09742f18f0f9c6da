#pragma once
// Matrix products by cuBLAS.

#include <cstddef>

namespace peer {

/// product = a * b, of rows x inner and inner x columns, row-major, in f32 or f64.
struct matrix_product {
    int rows, columns, inner;
    bool is_double;
    int middle = 1;  ///< row j * (inner / middle) + k of b is stored as row k * middle + j

    std::size_t bytes_of(std::size_t elements) const { return elements * (is_double ? 8 : 4); }
    std::size_t a() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(inner); }
    std::size_t b() const { return static_cast<std::size_t>(inner) * static_cast<std::size_t>(columns); }
    std::size_t product() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// The functions that `peer_cuda_contract_functions` of libpeer_cuda.so returns, on the device chosen by
/// cuda_functions::select: cuBLAS, whose library is opened on first use, without tensor cores
/// (CUBLAS_COMPUTE_32F_PEDANTIC), after a kernel that puts the rows of b in order if they are not.
/// Asynchronous except make, finish and read.
struct cuda_contract_functions {
    /// Null if cuBLAS is missing.
    void* (*make)(matrix_product, const void* a, const void* b);
    void (*multiply)(void*);
    void (*finish)();
    void (*read)(void*, void* product);
    void (*release)(void*);
};

}  // namespace peer

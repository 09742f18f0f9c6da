#pragma once
// Products of matrices by the libraries that one would take.

#include <cstddef>

namespace peer {

/// product = a * b, of rows x inner and inner x columns, row by row, in f32 or f64.
struct matrix_product {
    int rows, columns, inner;
    bool is_double;

    std::size_t bytes_of(std::size_t elements) const { return elements * (is_double ? 8 : 4); }
    std::size_t a() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(inner); }
    std::size_t b() const { return static_cast<std::size_t>(inner) * static_cast<std::size_t>(columns); }
    std::size_t product() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// Those of libpeer_cuda.so, got with `peer_cuda_contract_functions`, on the device that
/// cuda_functions::select has chosen: cuBLAS, whose library is opened when first used, without tensor cores
/// (CUBLAS_COMPUTE_32F_PEDANTIC). Asynchronous but for make, finish and read.
struct cuda_contract_functions {
    /// Null where there is no cuBLAS.
    void* (*make)(matrix_product, const void* a, const void* b);
    void (*multiply)(void*);
    void (*finish)();
    void (*read)(void*, void* product);
    void (*release)(void*);
};

}  // namespace peer

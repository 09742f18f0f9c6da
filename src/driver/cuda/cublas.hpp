#pragma once
// cuBLAS, opened on first use: matrix products in a stream.

#include <string>

#include "driver/cuda/driver_api.hpp"
#include "runtime/backend.hpp"

namespace balm::cuda {

/// The cuBLAS of this machine. The first call searches for it.
runtime::matrix_library cublas_library();

/// A cuBLAS handle for one stream, to be used by one thread at a time. The stream's context is current
/// whenever it is created, used or destroyed.
class cublas_handle {
public:
    /// Requires cublas_library().is_found. Allocates memory on the device.
    cublas_handle(CUstream, std::string device_name);
    cublas_handle(const cublas_handle&) = delete;
    cublas_handle& operator=(const cublas_handle&) = delete;
    ~cublas_handle();

    /// Enqueues the products. All arithmetic is that of the element type: neither TF32 nor emulation.
    void multiply(const runtime::matrix_product&);

private:
    void check(int status, const char* call, const std::string& object) const;

    struct cublasContext* handle_ = nullptr;
    std::string device_name_;
};

}  // namespace balm::cuda

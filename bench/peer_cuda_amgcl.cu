// cuSPARSE, CUB and kernels behind the functions of peer_amgcl.hpp.

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cub/device/device_reduce.cuh>

#include "peer_amgcl.hpp"
#include "peer_cuda_cusparse.hpp"
#include "peer_cuda_work.hpp"

namespace {

__global__ void axpby_kernel(double a, const double* x, double b, double* y, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
}
__global__ void axpbypcz_kernel(double a, const double* x, double b, const double* y, double c, double* z,
                                std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) z[i] = c == 0 ? a * x[i] + b * y[i] : a * x[i] + b * y[i] + c * z[i];
}
__global__ void vmul_kernel(double a, const double* x, const double* y, double b, double* z, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) z[i] = b == 0 ? a * x[i] * y[i] : a * x[i] * y[i] + b * z[i];
}

unsigned blocks(std::size_t n) { return static_cast<unsigned>((n + 255) / 256); }
void axpby(double a, const double* x, double b, double* y, std::size_t n) {
    axpby_kernel<<<blocks(n), 256>>>(a, x, b, y, n);
}
void axpbypcz(double a, const double* x, double b, const double* y, double c, double* z, std::size_t n) {
    axpbypcz_kernel<<<blocks(n), 256>>>(a, x, b, y, c, z, n);
}
void vmul(double a, const double* x, const double* y, double b, double* z, std::size_t n) {
    vmul_kernel<<<blocks(n), 256>>>(a, x, y, b, z, n);
}

double* make_vector(std::size_t n, const double* from) { return on_device(from, n); }
void release_vector(double* vector) { check(cudaFree(vector), "cudaFree"); }
void read(double* to, const double* vector, std::size_t n) {
    check(cudaMemcpy(to, vector, n * sizeof(double), cudaMemcpyDeviceToHost), "cudaMemcpy");
}
void write(double* vector, const double* from, std::size_t n) {
    check(cudaMemcpy(vector, from, n * sizeof(double), cudaMemcpyHostToDevice), "cudaMemcpy");
}

cusparseHandle_t handle() {
    static const cusparseHandle_t made = [] {
        cusparseHandle_t created = nullptr;
        check(cusparse()->create(&created), "cusparseCreate");
        return created;
    }();
    return made;
}

/// The arrays of a matrix on the device, and its products.
struct matrix {
    csr_arrays arrays;
    csr_product product;

    /// The vectors are those that the algorithms are timed with.
    matrix(const csr_arrays& on_the_device, double* x, double* y)
        : arrays(on_the_device), product(handle(), arrays, x, y) {}
    ~matrix() {
        for (void* memory : {static_cast<void*>(arrays.row_pointers),
                             static_cast<void*>(arrays.column_indices), static_cast<void*>(arrays.values)})
            check(cudaFree(memory), "cudaFree");
    }
};

void* make_matrix(std::size_t rows, std::size_t columns, const int* row_pointers, const int* column_indices,
                  const double* values) {
    if (cusparse() == nullptr) return nullptr;
    const auto entries = static_cast<std::size_t>(row_pointers[rows]);
    double* const x = on_device<double>(nullptr, columns);
    double* const y = on_device<double>(nullptr, rows);
    auto* const made = new matrix({rows, columns, entries, on_device(row_pointers, rows + 1),
                                   on_device(column_indices, entries), on_device(values, entries)},
                                  x, y);
    release_vector(x);
    release_vector(y);
    return made;
}
void release_matrix(void* made) { delete static_cast<matrix*>(made); }

void clear(double* x, std::size_t n) { check(cudaMemsetAsync(x, 0, n * sizeof(double)), "cudaMemsetAsync"); }
void copy(double* to, const double* from, std::size_t n) {
    check(cudaMemcpyAsync(to, from, n * sizeof(double), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
}
void multiply(double alpha, const void* made, double* x, double beta, double* y) {
    static_cast<const matrix*>(made)->product.multiply(alpha, x, beta, y);
}

struct product_of {
    __host__ __device__ double operator()(const thrust::tuple<double, double>& pair) const {
        return thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};
double dot(const double* x, const double* y, std::size_t n) {
    static void* scratch = nullptr;
    static std::size_t available = 0;
    static double* const result = on_device<double>(nullptr, 1);
    const auto products =
        thrust::make_transform_iterator(thrust::make_zip_iterator(thrust::make_tuple(x, y)), product_of());
    std::size_t needed = 0;
    check(cub::DeviceReduce::Sum(nullptr, needed, products, result, n), "cub::DeviceReduce");
    if (needed > available) {
        make_buffer(scratch, needed);
        available = needed;
    }
    check(cub::DeviceReduce::Sum(scratch, needed, products, result, n), "cub::DeviceReduce");
    double sum = 0;
    read(&sum, result, 1);
    return sum;
}

constexpr peer::cuda_amgcl_functions functions{make_vector, release_vector,
                                               read,        write,
                                               make_matrix, release_matrix,
                                               clear,       copy,
                                               multiply,    axpby,
                                               axpbypcz,    vmul,
                                               dot,         any_work::functions().finish};

}  // namespace

extern "C" const peer::cuda_amgcl_functions* peer_cuda_amgcl_functions() { return &functions; }

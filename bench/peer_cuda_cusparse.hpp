#pragma once
// For the CUDA peers: cuSPARSE, opened at run time, and memory on the device.

#include <cusparse.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "peer_cuda_check.hpp"

inline void check(cusparseStatus_t code, const char* what) {
    if (code == CUSPARSE_STATUS_SUCCESS) return;
    std::fprintf(stderr, "CUDA peer: %s: status %d\n", what, static_cast<int>(code));
    std::abort();
}

/// The functions of cuSPARSE that the peers call.
struct cusparse_functions {
    decltype(&cusparseCreate) create;
    decltype(&cusparseDestroy) destroy;
    decltype(&cusparseCreateCsr) create_csr;
    decltype(&cusparseDestroySpMat) destroy_matrix;
    decltype(&cusparseCreateDnVec) create_vector;
    decltype(&cusparseDestroyDnVec) destroy_vector;
    decltype(&cusparseDnVecSetValues) set_values;
    decltype(&cusparseSpMV_bufferSize) buffer_size;
    decltype(&cusparseSpMV_preprocess) preprocess;
    decltype(&cusparseSpMV) multiply;
    decltype(&cusparseCreateDnMat) create_dense;
    decltype(&cusparseDestroyDnMat) destroy_dense;
    decltype(&cusparseSpMM_bufferSize) columns_buffer_size;
    decltype(&cusparseSpMM_preprocess) columns_preprocess;
    decltype(&cusparseSpMM) multiply_columns;
    decltype(&cusparseCreateMatDescr) create_description;
    decltype(&cusparseDestroyMatDescr) destroy_description;
    decltype(&cusparseDbsrmv) multiply_blocks;
    decltype(&cusparseSpMatGetSize) size;
    decltype(&cusparseCsrSetPointers) set_pointers;
    decltype(&cusparseSpGEMM_createDescr) create_sparse_product;
    decltype(&cusparseSpGEMM_destroyDescr) destroy_sparse_product;
    decltype(&cusparseSpGEMM_workEstimation) estimate_sparse_product;
    decltype(&cusparseSpGEMM_compute) compute_sparse_product;
    decltype(&cusparseSpGEMM_copy) copy_sparse_product;
};

template <class F>
bool find(void* opened, F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(opened, name));
    return function != nullptr;
}

/// Opens cuSPARSE at the first call; null if it is missing.
inline const cusparse_functions* cusparse() {
    static cusparse_functions found;
    static const bool is_there = [] {
        void* opened = nullptr;
        for (const char* name : {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so",
                                 "/usr/local/cuda/lib64/libcusparse.so"})
            if ((opened = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) break;
        return opened != nullptr && find(opened, found.create, "cusparseCreate") &&
               find(opened, found.destroy, "cusparseDestroy") &&
               find(opened, found.create_csr, "cusparseCreateCsr") &&
               find(opened, found.destroy_matrix, "cusparseDestroySpMat") &&
               find(opened, found.create_vector, "cusparseCreateDnVec") &&
               find(opened, found.destroy_vector, "cusparseDestroyDnVec") &&
               find(opened, found.set_values, "cusparseDnVecSetValues") &&
               find(opened, found.buffer_size, "cusparseSpMV_bufferSize") &&
               find(opened, found.preprocess, "cusparseSpMV_preprocess") &&
               find(opened, found.multiply, "cusparseSpMV") &&
               find(opened, found.create_dense, "cusparseCreateDnMat") &&
               find(opened, found.destroy_dense, "cusparseDestroyDnMat") &&
               find(opened, found.columns_buffer_size, "cusparseSpMM_bufferSize") &&
               find(opened, found.columns_preprocess, "cusparseSpMM_preprocess") &&
               find(opened, found.multiply_columns, "cusparseSpMM") &&
               find(opened, found.create_description, "cusparseCreateMatDescr") &&
               find(opened, found.destroy_description, "cusparseDestroyMatDescr") &&
               find(opened, found.multiply_blocks, "cusparseDbsrmv") &&
               find(opened, found.size, "cusparseSpMatGetSize") &&
               find(opened, found.set_pointers, "cusparseCsrSetPointers") &&
               find(opened, found.create_sparse_product, "cusparseSpGEMM_createDescr") &&
               find(opened, found.destroy_sparse_product, "cusparseSpGEMM_destroyDescr") &&
               find(opened, found.estimate_sparse_product, "cusparseSpGEMM_workEstimation") &&
               find(opened, found.compute_sparse_product, "cusparseSpGEMM_compute") &&
               find(opened, found.copy_sparse_product, "cusparseSpGEMM_copy");
    }();
    return is_there ? &found : nullptr;
}

template <class T>
T* on_device(const T* from, std::size_t count) {
    T* made = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&made), count * sizeof(T)), "cudaMalloc");
    if (from != nullptr)
        check(cudaMemcpy(made, from, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return made;
}

inline void make_buffer(void*& buffer, std::size_t bytes) {
    check(cudaFree(buffer), "cudaFree");
    buffer = nullptr;
    check(cudaMalloc(&buffer, bytes + 256), "cudaMalloc");
}

template <class Run>
float milliseconds(const Run& run) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    for (int k = 0; k < 3; ++k) run();
    check(cudaEventRecord(begin), "cudaEventRecord");
    for (int k = 0; k < 20; ++k) run();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float taken = 0;
    check(cudaEventElapsedTime(&taken, begin, end), "cudaEventElapsedTime");
    check(cudaEventDestroy(begin), "cudaEventDestroy");
    check(cudaEventDestroy(end), "cudaEventDestroy");
    return taken;
}

/// Prepares the algorithm whose runs take least time.
template <class Algorithm, class Prepare, class Run>
void choose(std::initializer_list<Algorithm> algorithms, const Prepare& prepare, const Run& run) {
    Algorithm best = *algorithms.begin();
    float least = std::numeric_limits<float>::infinity();
    for (const Algorithm each : algorithms) {
        prepare(each);
        const float taken = milliseconds(run);
        if (taken < least) {
            least = taken;
            best = each;
        }
    }
    prepare(best);
}

/// A matrix in CSR whose arrays are on the device.
struct csr_arrays {
    std::size_t rows, columns, entries;
    int* row_pointers;
    int* column_indices;
    double* values;
};

inline cusparseSpMatDescr_t csr(const csr_arrays& of) {
    cusparseSpMatDescr_t made = nullptr;
    check(cusparse()->create_csr(&made, static_cast<std::int64_t>(of.rows),
                                 static_cast<std::int64_t>(of.columns), static_cast<std::int64_t>(of.entries),
                                 of.row_pointers, of.column_indices, of.values, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
    return made;
}

/// Products of a matrix with vectors by the faster of the two algorithms for CSR, preprocessed. The vectors
/// of the constructor are those that the algorithms are timed with; it overwrites y.
class csr_product {
public:
    csr_product(cusparseHandle_t handle, const csr_arrays& of, double* x, double* y)
        : handle_(handle), matrix_(csr(of)) {
        const cusparse_functions& l = *cusparse();
        check(l.create_vector(&of_x_, static_cast<std::int64_t>(of.columns), x, CUDA_R_64F),
              "cusparseCreateDnVec");
        check(l.create_vector(&of_y_, static_cast<std::int64_t>(of.rows), y, CUDA_R_64F),
              "cusparseCreateDnVec");
        choose(
            {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2},
            [&](cusparseSpMVAlg_t algorithm) { prepare(algorithm); }, [&] { multiply(1, x, 0, y); });
    }
    ~csr_product() {
        const cusparse_functions& l = *cusparse();
        check(l.destroy_vector(of_x_), "cusparseDestroyDnVec");
        check(l.destroy_vector(of_y_), "cusparseDestroyDnVec");
        check(l.destroy_matrix(matrix_), "cusparseDestroySpMat");
        check(cudaFree(buffer_), "cudaFree");
    }
    csr_product(const csr_product&) = delete;
    csr_product& operator=(const csr_product&) = delete;

    /// y = alpha A x + beta y
    void multiply(double alpha, double* x, double beta, double* y) const {
        const cusparse_functions& l = *cusparse();
        check(l.set_values(of_x_, x), "cusparseDnVecSetValues");
        check(l.set_values(of_y_, y), "cusparseDnVecSetValues");
        check(l.multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_, of_x_, &beta, of_y_,
                         CUDA_R_64F, algorithm_, buffer_),
              "cusparseSpMV");
    }

private:
    void prepare(cusparseSpMVAlg_t algorithm) {
        const cusparse_functions& l = *cusparse();
        const double one = 1, zero = 0;
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check(l.buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, of_x_, &zero, of_y_,
                            CUDA_R_64F, algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        make_buffer(buffer_, bytes);
        check(l.preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix_, of_x_, &zero, of_y_,
                           CUDA_R_64F, algorithm, buffer_),
              "cusparseSpMV_preprocess");
    }

    cusparseHandle_t handle_;
    cusparseSpMatDescr_t matrix_;
    cusparseDnVecDescr_t of_x_ = nullptr, of_y_ = nullptr;
    cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_ALG_DEFAULT;
    void* buffer_ = nullptr;
};

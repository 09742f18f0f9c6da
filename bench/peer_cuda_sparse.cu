// cuSPARSE behind the functions of peer_sparse.hpp.

#include <cusparse.h>
#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "peer_cuda_work.hpp"
#include "peer_sparse.hpp"

namespace {

void check(cusparseStatus_t code, const char* what) {
    if (code == CUSPARSE_STATUS_SUCCESS) return;
    std::fprintf(stderr, "CUDA peer: %s: status %d\n", what, static_cast<int>(code));
    std::abort();
}

struct library {
    decltype(&cusparseCreate) create;
    decltype(&cusparseDestroy) destroy;
    decltype(&cusparseCreateCsr) create_csr;
    decltype(&cusparseDestroySpMat) destroy_matrix;
    decltype(&cusparseCreateDnVec) create_vector;
    decltype(&cusparseDestroyDnVec) destroy_vector;
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
};

template <class F>
bool find(void* opened, F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(opened, name));
    return function != nullptr;
}

const library* cusparse() {
    static library found;
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
               find(opened, found.multiply_blocks, "cusparseDbsrmv");
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

/// The arrays of a problem on the device, and the product of a vector or of several.
class work : public any_work {
public:
    explicit work(const peer::sparse_problem& p)
        : rows_(p.rows), columns_(p.columns), sides_(p.right_hand_sides), block_(p.block) {
        const std::size_t indices = p.entries / (p.block * p.block);
        pointers_ = on_device(p.row_pointers, p.rows / p.block + 1);
        indices_ = on_device(p.column_indices, indices);
        values_ = on_device(p.values, p.entries);
        x_ = on_device(p.x, p.columns * sides_);
        y_ = on_device<double>(nullptr, p.rows * sides_);
        copied_ = (indices * sizeof(int) + p.entries * sizeof(double) + (p.rows / p.block + 1) * sizeof(int) +
                   (p.columns + p.rows) * sides_ * sizeof(double)) /
                  2;  // a copy reads and writes
        for (char*& each : copies_) each = on_device<char>(nullptr, copied_);
        check(cusparse()->create(&handle_), "cusparseCreate");
    }
    ~work() override {
        check(cusparse()->destroy(handle_), "cusparseDestroy");
        for (void* memory : {static_cast<void*>(pointers_), static_cast<void*>(indices_),
                             static_cast<void*>(values_), static_cast<void*>(x_), static_cast<void*>(y_),
                             static_cast<void*>(copies_[0]), static_cast<void*>(copies_[1]), buffer_})
            check(cudaFree(memory), "cudaFree");
    }
    void copy() override {
        check(cudaMemcpyAsync(copies_[0], copies_[1], copied_, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }
    void read(double* y) {
        run();
        check(cudaMemcpy(y, y_, rows_ * sides_ * sizeof(double), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }

protected:
    void make_buffer(std::size_t bytes) {
        check(cudaFree(buffer_), "cudaFree");
        buffer_ = nullptr;
        check(cudaMalloc(&buffer_, bytes + 256), "cudaMalloc");
    }
    cusparseSpMatDescr_t csr(std::size_t entries) {
        cusparseSpMatDescr_t made = nullptr;
        check(cusparse()->create_csr(&made, static_cast<std::int64_t>(rows_),
                                     static_cast<std::int64_t>(columns_), static_cast<std::int64_t>(entries),
                                     pointers_, indices_, values_, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
              "cusparseCreateCsr");
        return made;
    }
    float milliseconds() {
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
    /// Prepares the algorithm that takes least time.
    template <class Algorithm, class Prepare>
    void choose(std::initializer_list<Algorithm> algorithms, const Prepare& prepare) {
        Algorithm best = *algorithms.begin();
        float least = std::numeric_limits<float>::infinity();
        for (const Algorithm each : algorithms) {
            prepare(each);
            const float taken = milliseconds();
            if (taken < least) {
                least = taken;
                best = each;
            }
        }
        prepare(best);
    }

    const double one_ = 1, zero_ = 0;
    const std::size_t rows_, columns_, sides_, block_;
    std::size_t copied_ = 0;
    int* pointers_ = nullptr;
    int* indices_ = nullptr;
    double* values_ = nullptr;
    double* x_ = nullptr;
    double* y_ = nullptr;
    char* copies_[2] = {};
    void* buffer_ = nullptr;
    cusparseHandle_t handle_ = nullptr;
};

class vector_work : public work {
public:
    explicit vector_work(const peer::sparse_problem& p) : work(p), matrix_(csr(p.entries)) {
        const library& l = *cusparse();
        check(l.create_vector(&of_x_, static_cast<std::int64_t>(p.columns), x_, CUDA_R_64F),
              "cusparseCreateDnVec");
        check(l.create_vector(&of_y_, static_cast<std::int64_t>(p.rows), y_, CUDA_R_64F),
              "cusparseCreateDnVec");
        choose({CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2},
               [&](cusparseSpMVAlg_t algorithm) { prepare(algorithm); });
    }
    ~vector_work() override {
        const library& l = *cusparse();
        check(l.destroy_vector(of_x_), "cusparseDestroyDnVec");
        check(l.destroy_vector(of_y_), "cusparseDestroyDnVec");
        check(l.destroy_matrix(matrix_), "cusparseDestroySpMat");
    }
    void run() override {
        check(cusparse()->multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_,
                                   of_y_, CUDA_R_64F, algorithm_, buffer_),
              "cusparseSpMV");
    }

private:
    void prepare(cusparseSpMVAlg_t algorithm) {
        const library& l = *cusparse();
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check(l.buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                            CUDA_R_64F, algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        make_buffer(bytes);
        check(l.preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                           CUDA_R_64F, algorithm, buffer_),
              "cusparseSpMV_preprocess");
    }

    cusparseSpMatDescr_t matrix_;
    cusparseDnVecDescr_t of_x_ = nullptr, of_y_ = nullptr;
    cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_ALG_DEFAULT;
};

class columns_work : public work {
public:
    explicit columns_work(const peer::sparse_problem& p) : work(p), matrix_(csr(p.entries)) {
        of_x_ = dense(p.columns, x_);
        of_y_ = dense(p.rows, y_);
        choose({CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3},
               [&](cusparseSpMMAlg_t algorithm) { prepare(algorithm); });
    }
    ~columns_work() override {
        const library& l = *cusparse();
        check(l.destroy_dense(of_x_), "cusparseDestroyDnMat");
        check(l.destroy_dense(of_y_), "cusparseDestroyDnMat");
        check(l.destroy_matrix(matrix_), "cusparseDestroySpMat");
    }
    void run() override {
        check(cusparse()->multiply_columns(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                           CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_,
                                           of_y_, CUDA_R_64F, algorithm_, buffer_),
              "cusparseSpMM");
    }

private:
    cusparseDnMatDescr_t dense(std::size_t rows, double* values) {
        cusparseDnMatDescr_t made = nullptr;
        const auto columns = static_cast<std::int64_t>(sides_);
        check(cusparse()->create_dense(&made, static_cast<std::int64_t>(rows), columns, columns, values,
                                       CUDA_R_64F, CUSPARSE_ORDER_ROW),
              "cusparseCreateDnMat");
        return made;
    }
    void prepare(cusparseSpMMAlg_t algorithm) {
        const library& l = *cusparse();
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check(
            l.columns_buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  &one_, matrix_, of_x_, &zero_, of_y_, CUDA_R_64F, algorithm, &bytes),
            "cusparseSpMM_bufferSize");
        make_buffer(bytes);
        check(
            l.columns_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                 &one_, matrix_, of_x_, &zero_, of_y_, CUDA_R_64F, algorithm, buffer_),
            "cusparseSpMM_preprocess");
    }

    cusparseSpMatDescr_t matrix_;
    cusparseDnMatDescr_t of_x_ = nullptr, of_y_ = nullptr;
    cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_ALG_DEFAULT;
};

class blocks_work : public work {
public:
    explicit blocks_work(const peer::sparse_problem& p)
        : work(p), blocks_(static_cast<int>(p.entries / (p.block * p.block))) {
        check(cusparse()->create_description(&description_), "cusparseCreateMatDescr");
    }
    ~blocks_work() override {
        check(cusparse()->destroy_description(description_), "cusparseDestroyMatDescr");
    }
    void run() override {
        check(cusparse()->multiply_blocks(
                  handle_, CUSPARSE_DIRECTION_ROW, CUSPARSE_OPERATION_NON_TRANSPOSE,
                  static_cast<int>(rows_ / block_), static_cast<int>(columns_ / block_), blocks_, &one_,
                  description_, values_, pointers_, indices_, static_cast<int>(block_), x_, &zero_, y_),
              "cusparseDbsrmv");
    }

private:
    const int blocks_;
    cusparseMatDescr_t description_ = nullptr;
};

void* make(const peer::sparse_problem& p) {
    if (cusparse() == nullptr) return nullptr;
    if (p.block > 1) return static_cast<any_work*>(new blocks_work(p));
    if (p.right_hand_sides > 1) return static_cast<any_work*>(new columns_work(p));
    return static_cast<any_work*>(new vector_work(p));
}
void read(void* of, double* y) { static_cast<work*>(static_cast<any_work*>(of))->read(y); }

constexpr peer::cuda_sparse_functions functions{make, read, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_sparse_functions* peer_cuda_sparse_functions() { return &functions; }

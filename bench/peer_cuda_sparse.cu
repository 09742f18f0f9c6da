// cuSPARSE behind the functions of peer_sparse.hpp.

#include <cusparse.h>
#include <dlfcn.h>

#include <cstdint>
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
               find(opened, found.multiply, "cusparseSpMV");
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

class work : public any_work {
public:
    explicit work(const peer::sparse_problem& p) : rows_(p.rows) {
        pointers_ = on_device(p.row_pointers, p.rows + 1);
        columns_ = on_device(p.column_indices, p.entries);
        values_ = on_device(p.values, p.entries);
        x_ = on_device(p.x, p.columns);
        y_ = on_device<double>(nullptr, p.rows);
        copied_ = (p.entries * (sizeof(int) + sizeof(double)) + (p.rows + 1) * sizeof(int) +
                   (p.columns + p.rows) * sizeof(double)) /
                  2;  // a copy reads and writes
        for (char*& each : copies_) each = on_device<char>(nullptr, copied_);
        const library& l = *cusparse();
        check(l.create(&handle_), "cusparseCreate");
        check(l.create_csr(&matrix_, static_cast<std::int64_t>(p.rows), static_cast<std::int64_t>(p.columns),
                           static_cast<std::int64_t>(p.entries), pointers_, columns_, values_,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
              "cusparseCreateCsr");
        check(l.create_vector(&of_x_, static_cast<std::int64_t>(p.columns), x_, CUDA_R_64F),
              "cusparseCreateDnVec");
        check(l.create_vector(&of_y_, static_cast<std::int64_t>(p.rows), y_, CUDA_R_64F),
              "cusparseCreateDnVec");
        choose_algorithm();
    }
    ~work() override {
        const library& l = *cusparse();
        check(l.destroy_vector(of_x_), "cusparseDestroyDnVec");
        check(l.destroy_vector(of_y_), "cusparseDestroyDnVec");
        check(l.destroy_matrix(matrix_), "cusparseDestroySpMat");
        check(l.destroy(handle_), "cusparseDestroy");
        for (void* memory : {static_cast<void*>(pointers_), static_cast<void*>(columns_),
                             static_cast<void*>(values_), static_cast<void*>(x_), static_cast<void*>(y_),
                             static_cast<void*>(copies_[0]), static_cast<void*>(copies_[1]), buffer_})
            check(cudaFree(memory), "cudaFree");
    }
    void run() override {
        check(cusparse()->multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_,
                                   of_y_, CUDA_R_64F, algorithm_, buffer_),
              "cusparseSpMV");
    }
    void copy() override {
        check(cudaMemcpyAsync(copies_[0], copies_[1], copied_, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }
    void read(double* y) {
        run();
        check(cudaMemcpy(y, y_, rows_ * sizeof(double), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }

private:
    void prepare(cusparseSpMVAlg_t algorithm) {
        const library& l = *cusparse();
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check(l.buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                            CUDA_R_64F, algorithm, &bytes),
              "cusparseSpMV_bufferSize");
        check(cudaFree(buffer_), "cudaFree");
        buffer_ = nullptr;
        check(cudaMalloc(&buffer_, bytes + 256), "cudaMalloc");
        check(l.preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, of_x_, &zero_, of_y_,
                           CUDA_R_64F, algorithm, buffer_),
              "cusparseSpMV_preprocess");
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
    void choose_algorithm() {
        cusparseSpMVAlg_t best = CUSPARSE_SPMV_CSR_ALG1;
        float least = std::numeric_limits<float>::infinity();
        for (const cusparseSpMVAlg_t each : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
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
    std::size_t rows_, copied_ = 0;
    int* pointers_ = nullptr;
    int* columns_ = nullptr;
    double* values_ = nullptr;
    double* x_ = nullptr;
    double* y_ = nullptr;
    char* copies_[2] = {};
    void* buffer_ = nullptr;
    cusparseHandle_t handle_ = nullptr;
    cusparseSpMatDescr_t matrix_ = nullptr;
    cusparseDnVecDescr_t of_x_ = nullptr, of_y_ = nullptr;
    cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_ALG_DEFAULT;
};

void* make(const peer::sparse_problem& p) {
    return cusparse() == nullptr ? nullptr : static_cast<any_work*>(new work(p));
}
void read(void* of, double* y) { static_cast<work*>(static_cast<any_work*>(of))->read(y); }

constexpr peer::cuda_sparse_functions functions{make, read, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_sparse_functions* peer_cuda_sparse_functions() { return &functions; }

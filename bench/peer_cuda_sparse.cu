// cuSPARSE behind the functions of peer_sparse.hpp.

#include <cstdint>

#include "peer_cuda_cusparse.hpp"
#include "peer_cuda_work.hpp"
#include "peer_sparse.hpp"

namespace {

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
    explicit vector_work(const peer::sparse_problem& p)
        : work(p), product_(handle_, {p.rows, p.columns, p.entries, pointers_, indices_, values_}, x_, y_) {}
    void run() override { product_.multiply(1, x_, 0, y_); }

private:
    csr_product product_;
};

class columns_work : public work {
public:
    explicit columns_work(const peer::sparse_problem& p)
        : work(p), matrix_(csr({p.rows, p.columns, p.entries, pointers_, indices_, values_})) {
        of_x_ = dense(p.columns, x_);
        of_y_ = dense(p.rows, y_);
        choose(
            {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3},
            [&](cusparseSpMMAlg_t algorithm) { prepare(algorithm); }, [&] { run(); });
    }
    ~columns_work() override {
        const cusparse_functions& l = *cusparse();
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
        const cusparse_functions& l = *cusparse();
        algorithm_ = algorithm;
        std::size_t bytes = 0;
        check(
            l.columns_buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  &one_, matrix_, of_x_, &zero_, of_y_, CUDA_R_64F, algorithm, &bytes),
            "cusparseSpMM_bufferSize");
        make_buffer(buffer_, bytes);
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

// cuSPARSE behind the functions of peer_sparse_products.hpp. Memory comes from a pool that keeps it, as
// programs that multiply again and again have it.

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "peer_cuda_cusparse.hpp"
#include "peer_cuda_work.hpp"
#include "peer_sparse_products.hpp"

namespace {

/// Memory of the pool.
template <class T>
class memory {
public:
    memory() = default;
    explicit memory(std::size_t count) {
        check(cudaMallocAsync(reinterpret_cast<void**>(&first_), count * sizeof(T) + 256, nullptr),
              "cudaMallocAsync");
    }
    memory(const T* from, std::size_t count) : memory(count) {
        check(cudaMemcpy(first_, from, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    memory(memory&& other) noexcept : first_(other.first_) { other.first_ = nullptr; }
    memory& operator=(memory&& other) noexcept {
        std::swap(first_, other.first_);
        return *this;
    }
    ~memory() {
        if (first_ != nullptr) check(cudaFreeAsync(first_, nullptr), "cudaFreeAsync");
    }
    T* get() const { return first_; }

private:
    T* first_ = nullptr;
};

class matrix {
public:
    explicit matrix(const peer::csr& m)
        : matrix(m.rows, m.columns, m.entries, memory<int>(m.row_pointers, m.rows + 1),
                 memory<int>(m.column_indices, m.entries), memory<double>(m.values, m.entries)) {}
    /// Without entries so far.
    matrix(std::size_t rows, std::size_t columns)
        : matrix(rows, columns, 0, memory<int>(rows + 1), memory<int>(), memory<double>()) {}
    matrix(const matrix&) = delete;
    ~matrix() { check(cusparse()->destroy_matrix(handle_), "cusparseDestroySpMat"); }

    cusparseSpMatDescr_t handle() const { return handle_; }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::size_t entries() const { return entries_; }
    std::size_t bytes() const {
        return (rows_ + 1) * sizeof(int) + entries_ * (sizeof(int) + sizeof(double));
    }
    void make_room() {
        std::int64_t rows = 0, columns = 0, entries = 0;
        check(cusparse()->size(handle_, &rows, &columns, &entries), "cusparseSpMatGetSize");
        entries_ = static_cast<std::size_t>(entries);
        indices_ = memory<int>(entries_);
        values_ = memory<double>(entries_);
        check(cusparse()->set_pointers(handle_, pointers_.get(), indices_.get(), values_.get()),
              "cusparseCsrSetPointers");
    }
    void read(int* pointers, int* indices, double* values) const {
        check(cudaMemcpy(pointers, pointers_.get(), (rows_ + 1) * sizeof(int), cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        check(cudaMemcpy(indices, indices_.get(), entries_ * sizeof(int), cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        check(cudaMemcpy(values, values_.get(), entries_ * sizeof(double), cudaMemcpyDeviceToHost),
              "cudaMemcpy");
    }

private:
    matrix(std::size_t rows, std::size_t columns, std::size_t entries, memory<int> pointers,
           memory<int> indices, memory<double> values)
        : rows_(rows),
          columns_(columns),
          entries_(entries),
          pointers_(std::move(pointers)),
          indices_(std::move(indices)),
          values_(std::move(values)) {
        handle_ = csr({rows, columns, entries, pointers_.get(), indices_.get(), values_.get()});
    }

    std::size_t rows_, columns_, entries_;
    memory<int> pointers_, indices_;
    memory<double> values_;
    cusparseSpMatDescr_t handle_ = nullptr;
};

class work : public any_work {
public:
    work(const peer::csr& r, const peer::csr& a, const peer::csr& p) : r_(r), a_(a), p_(p) {
        cudaMemPool_t pool = nullptr;
        int device = 0;
        std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
              "cudaMemPoolSetAttribute");
        check(cusparse()->create(&handle_), "cusparseCreate");
        run();
        copied_ =
            (r_.bytes() + a_.bytes() + p_.bytes() + 2 * ap_bytes_ + made_->bytes()) / 2;  // reads and writes
        for (memory<char>& each : copies_) each = memory<char>(copied_);
    }
    ~work() override { check(cusparse()->destroy(handle_), "cusparseDestroy"); }
    void run() override {
        const std::unique_ptr<matrix> ap = product(a_, p_);
        ap_bytes_ = ap->bytes();
        made_ = product(r_, *ap);
    }
    void copy() override {
        check(cudaMemcpyAsync(copies_[0].get(), copies_[1].get(), copied_, cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
    }
    const matrix& made() const { return *made_; }

private:
    std::unique_ptr<matrix> product(const matrix& a, const matrix& b) const {
        const cusparse_functions& l = *cusparse();
        const double one = 1, zero = 0;
        constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
        auto c = std::make_unique<matrix>(a.rows(), b.columns());
        cusparseSpGEMMDescr_t how = nullptr;
        check(l.create_sparse_product(&how), "cusparseSpGEMM_createDescr");
        const auto estimate = [&](std::size_t* bytes, void* buffer) {
            check(l.estimate_sparse_product(handle_, plain, plain, &one, a.handle(), b.handle(), &zero,
                                            c->handle(), CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, how, bytes,
                                            buffer),
                  "cusparseSpGEMM_workEstimation");
        };
        const auto compute = [&](std::size_t* bytes, void* buffer) {
            check(l.compute_sparse_product(handle_, plain, plain, &one, a.handle(), b.handle(), &zero,
                                           c->handle(), CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, how, bytes,
                                           buffer),
                  "cusparseSpGEMM_compute");
        };
        std::size_t bytes = 0;
        estimate(&bytes, nullptr);
        const memory<char> estimated(bytes);
        estimate(&bytes, estimated.get());
        compute(&bytes, nullptr);
        const memory<char> computed(bytes);
        compute(&bytes, computed.get());
        c->make_room();
        check(l.copy_sparse_product(handle_, plain, plain, &one, a.handle(), b.handle(), &zero, c->handle(),
                                    CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, how),
              "cusparseSpGEMM_copy");
        check(l.destroy_sparse_product(how), "cusparseSpGEMM_destroyDescr");
        return c;
    }

    const matrix r_, a_, p_;
    std::unique_ptr<matrix> made_;
    std::size_t copied_ = 0, ap_bytes_ = 0;
    memory<char> copies_[2];
    cusparseHandle_t handle_ = nullptr;
};

void* make(const peer::csr& r, const peer::csr& a, const peer::csr& p) {
    return cusparse() == nullptr ? nullptr : static_cast<any_work*>(new work(r, a, p));
}
std::size_t entries(void* of) { return static_cast<work*>(static_cast<any_work*>(of))->made().entries(); }
void read(void* of, int* row_pointers, int* column_indices, double* values) {
    static_cast<work*>(static_cast<any_work*>(of))->made().read(row_pointers, column_indices, values);
}

constexpr peer::cuda_sparse_product_functions functions{make, entries, read, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_sparse_product_functions* peer_cuda_sparse_product_functions() {
    return &functions;
}

// cuBLAS for the fake CUDA driver, built as libcublas.so.12. BALM_FAKE_CUBLAS=newer makes it pass for a
// version that the driver does not support.

#include <complex>
#include <cstdlib>
#include <string_view>

#include "fake_drivers/cuda/driver.hpp"
#include "fake_drivers/products.hpp"

namespace balm::cuda {

struct cublasContext : test::driver_object {
    CUstream stream = nullptr;
};

namespace {

enum status : int { success = 0, allocation_failed = 3, execution_failed = 13 };

template <class Body>
int library_call(const char* name, status failure, Body&& body) {
    const test::in_driver inside;
    if (test::driver_call_fails(name)) return failure;
    body();
    return success;
}

struct column_major {
    int is_transposed;
    const void* first;
    int stride;
    long long next;

    template <class T>
    test::fake_matrices<T> as() const {
        const auto along = static_cast<std::size_t>(stride), jump = static_cast<std::size_t>(next);
        T* const at = static_cast<T*>(const_cast<void*>(first));
        return is_transposed != 0 ? test::fake_matrices<T>{at, along, 1, jump}
                                  : test::fake_matrices<T>{at, 1, along, jump};
    }
};
struct batch {
    int rows, columns, inner, count;
    column_major a, b, c;

    template <class T>
    void run() const {
        const auto number = [](int n) { return static_cast<std::size_t>(n); };
        test::multiply(number(rows), number(columns), number(inner), number(count), a.as<T>(), b.as<T>(),
                       c.as<T>());
    }
};

void enqueue(cublasContext* handle, int type, const batch& of) {
    handle->stream->commands.add([=] {
        switch (type) {
            case 0: return of.run<float>();
            case 1: return of.run<double>();
            case 4: return of.run<std::complex<float>>();
            case 5: return of.run<std::complex<double>>();
            default: test::refuse("a data type that cuBLAS does not multiply");
        }
    });
    handle->stream->commands.flush();
}

}  // namespace

extern "C" {

int cublasCreate_v2(cublasContext** made) {
    return library_call(__func__, allocation_failed, [&] { *made = new cublasContext; });
}
int cublasDestroy_v2(cublasContext* gone) {
    const test::in_driver inside;
    delete gone;
    return success;
}
int cublasSetStream_v2(cublasContext* handle, CUstream stream) {
    return library_call(__func__, execution_failed, [&] { handle->stream = stream; });
}
int cublasGetProperty(int which, int* value) {
    const char* const set = std::getenv("BALM_FAKE_CUBLAS");
    const bool is_newer = set != nullptr && std::string_view(set) == "newer";
    *value = which == 0 ? (is_newer ? 13 : 12) : 4;
    return success;
}
const char* cublasGetStatusName(int status) {
    return status == allocation_failed ? "CUBLAS_STATUS_ALLOC_FAILED" : "CUBLAS_STATUS_EXECUTION_FAILED";
}

int cublasGemmEx(cublasContext* handle, int transpose_a, int transpose_b, int rows, int columns, int inner,
                 const void*, const void* a, int type, int a_stride, const void* b, int, int b_stride,
                 const void*, void* c, int, int c_stride, int, int) {
    return library_call(__func__, execution_failed, [&] {
        enqueue(handle, type,
                {rows,
                 columns,
                 inner,
                 1,
                 {transpose_a, a, a_stride, 0},
                 {transpose_b, b, b_stride, 0},
                 {0, c, c_stride, 0}});
    });
}
int cublasGemmStridedBatchedEx(cublasContext* handle, int transpose_a, int transpose_b, int rows, int columns,
                               int inner, const void*, const void* a, int type, int a_stride,
                               long long a_next, const void* b, int, int b_stride, long long b_next,
                               const void*, void* c, int, int c_stride, long long c_next, int count, int,
                               int) {
    return library_call(__func__, execution_failed, [&] {
        enqueue(handle, type,
                {rows,
                 columns,
                 inner,
                 count,
                 {transpose_a, a, a_stride, a_next},
                 {transpose_b, b, b_stride, b_next},
                 {0, c, c_stride, c_next}});
    });
}

}  // extern "C"

}  // namespace balm::cuda

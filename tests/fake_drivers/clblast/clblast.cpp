// CLBlast for the fake OpenCL, built as libclblast.so.1.

#include <complex>

#include "fake_drivers/opencl/objects.hpp"
#include "fake_drivers/products.hpp"

namespace {

using namespace balm::test;

constexpr int temporary_buffer_fails = -4;

template <class T>
fake_matrices<T> row_major(int transpose, cl_mem memory, std::size_t offset, std::size_t stride,
                           std::size_t next) {
    T* const first = reinterpret_cast<T*>(memory->bytes) + offset;
    return transpose == 112 ? fake_matrices<T>{first, 1, stride, next}
                            : fake_matrices<T>{first, stride, 1, next};
}

template <class T>
int enqueue(const char* name, cl_command_queue queue, std::size_t rows, std::size_t columns,
            std::size_t inner, std::size_t count, const fake_matrices<T>& a, const fake_matrices<T>& b,
            const fake_matrices<T>& c) {
    const in_driver inside;
    if (driver_call_fails(name)) return temporary_buffer_fails;
    queue->commands.add([=] { multiply(rows, columns, inner, count, a, b, c); });
    if (queue->context->device->runs_in_the_call) queue->commands.flush_and_run();
    return CL_SUCCESS;
}

}  // namespace

extern "C" {

#define FAKE_GEMM(name, T, number)                                                                           \
    int name(int, int turn_a, int turn_b, std::size_t m, std::size_t n, std::size_t k, number, cl_mem a,     \
             std::size_t a_at, std::size_t a_stride, cl_mem b, std::size_t b_at, std::size_t b_stride,       \
             number, cl_mem c, std::size_t c_at, std::size_t c_stride, cl_command_queue* queue, cl_event*) { \
        return enqueue(#name, *queue, m, n, k, 1, row_major<T>(turn_a, a, a_at, a_stride, 0),                \
                       row_major<T>(turn_b, b, b_at, b_stride, 0), row_major<T>(111, c, c_at, c_stride, 0)); \
    }                                                                                                        \
    int name##StridedBatched(int, int turn_a, int turn_b, std::size_t m, std::size_t n, std::size_t k,       \
                             number, cl_mem a, std::size_t a_at, std::size_t a_stride, std::size_t a_next,   \
                             cl_mem b, std::size_t b_at, std::size_t b_stride, std::size_t b_next, number,   \
                             cl_mem c, std::size_t c_at, std::size_t c_stride, std::size_t c_next,           \
                             std::size_t count, cl_command_queue* queue, cl_event*) {                        \
        return enqueue(#name, *queue, m, n, k, count, row_major<T>(turn_a, a, a_at, a_stride, a_next),       \
                       row_major<T>(turn_b, b, b_at, b_stride, b_next),                                      \
                       row_major<T>(111, c, c_at, c_stride, c_next));                                        \
    }

FAKE_GEMM(CLBlastSgemm, float, float)
FAKE_GEMM(CLBlastDgemm, double, double)
FAKE_GEMM(CLBlastCgemm, std::complex<float>, cl_float2)
FAKE_GEMM(CLBlastZgemm, std::complex<double>, cl_double2)

}  // extern "C"

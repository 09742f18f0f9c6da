// One element a thread in blocks of 256, as in peer_cuda.cu.

#include "peer_elementwise.hpp"

namespace {

constexpr unsigned threads = 256;
unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

__device__ std::size_t own() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }

template <class T>
__global__ void set_kernel(T* a, T value, std::size_t n) {
    const std::size_t i = own();
    if (i < n) a[i] = value + T(1e-6) * static_cast<T>(i % 1000003);
}
template <class T>
__global__ void add_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                           std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = a[i] + b[i];
}
template <class T>
__global__ void twice_minus_sine_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                                        std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = 2 * a[i] - sin(b[i]);
}
template <class T>
__global__ void polynomial_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                                  std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = (a[i] - b[i]) * (a[i] + b[i]) / (1 + b[i] * b[i]);
}
template <class T>
__global__ void exp_kernel(const T* __restrict__ a, const T*, T* __restrict__ out, std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = exp(a[i]);
}
template <class T>
__global__ void log_kernel(const T* __restrict__ a, const T*, T* __restrict__ out, std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = log(a[i]);
}
template <class T>
__global__ void sin_kernel(const T* __restrict__ a, const T*, T* __restrict__ out, std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = sin(a[i]);
}
template <class T>
__global__ void pow_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                           std::size_t n) {
    const std::size_t i = own();
    if (i < n) out[i] = pow(a[i], b[i]);
}

template <class T>
struct launches {
    static void set(T* a, T value, std::size_t n) { set_kernel<<<blocks_for(n), threads>>>(a, value, n); }
    template <void (*Kernel)(const T*, const T*, T*, std::size_t)>
    static void run(const T* a, const T* b, T* out, std::size_t n) {
        Kernel<<<blocks_for(n), threads>>>(a, b, out, n);
    }
    static constexpr peer::elementwise_functions<T> all{set,
                                                        run<add_kernel<T>>,
                                                        run<twice_minus_sine_kernel<T>>,
                                                        run<polynomial_kernel<T>>,
                                                        run<exp_kernel<T>>,
                                                        run<log_kernel<T>>,
                                                        run<sin_kernel<T>>,
                                                        run<pow_kernel<T>>};
};

constexpr peer::elementwise functions{launches<float>::all, launches<double>::all};

}  // namespace

extern "C" const peer::elementwise* peer_cuda_elementwise() { return &functions; }

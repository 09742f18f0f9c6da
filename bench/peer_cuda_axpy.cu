// 16-byte accesses wherever y is aligned to 16 bytes: threads that lie before the first such address or
// behind the last take single elements. Where x is not aligned with y, its elements are loaded one by one,
// which the L1 cache serves; bytes are cut out of two aligned loads, which is faster still.

#include <cuda_fp16.h>

#include <cstring>

#include "peer_axpy.hpp"

namespace {

constexpr unsigned threads = 256;

using peer::half_bits;
struct complex_double {
    double re, im;
};

__device__ std::int8_t axpy(std::int8_t y, std::int8_t x, int a) {
    return static_cast<std::int8_t>(y + a * x);
}
__device__ half_bits axpy(half_bits y, half_bits x, float a) {
    __half_raw raw_x, raw_y;
    raw_x.x = x.bits;
    raw_y.x = y.bits;
    const float sum = fmaf(a, __half2float(__half(raw_x)), __half2float(__half(raw_y)));
    return {static_cast<__half_raw>(__float2half(sum)).x};
}
__device__ float axpy(float y, float x, float a) { return fmaf(a, x, y); }
__device__ double axpy(double y, double x, double a) { return fma(a, x, y); }
__device__ complex_double axpy(complex_double y, complex_double x, double a) {
    return {fma(a, x.re, y.re), fma(a, x.im, y.im)};
}

/// 16 bytes from an address of any alignment.
__device__ uint4 cut_out(const void* from) {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const auto* const aligned = reinterpret_cast<const uint4*>(address & ~std::uintptr_t{15});
    const unsigned bytes = address & 15;
    const uint4 low = aligned[0], high = bytes == 0 ? low : aligned[1];
    const unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    unsigned by_two[6], by_one[5];
    for (int k = 0; k < 6; ++k) by_two[k] = bytes & 8 ? words[k + 2] : words[k];
    for (int k = 0; k < 5; ++k) by_one[k] = bytes & 4 ? by_two[k + 1] : by_two[k];
    const unsigned bits = 8 * (bytes & 3);
    return {__funnelshift_r(by_one[0], by_one[1], bits), __funnelshift_r(by_one[1], by_one[2], bits),
            __funnelshift_r(by_one[2], by_one[3], bits), __funnelshift_r(by_one[3], by_one[4], bits)};
}

template <class T, class A>
__global__ void axpy_kernel(T* __restrict__ y, const T* __restrict__ x, A a, std::size_t n, unsigned head) {
    constexpr unsigned width = 16 / sizeof(T);
    const std::size_t own = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * width;
    // The first thread's vector begins `head` elements ahead of y.
    const std::size_t end = own + width - head;
    if (own < head || end > n) {
        for (std::size_t i = own < head ? 0 : own - head; i < end && i < n; ++i) y[i] = axpy(y[i], x[i], a);
        return;
    }
    const std::size_t i = own - head;
    T ys[width], xs[width];
    uint4 vector = *reinterpret_cast<const uint4*>(y + i);
    memcpy(ys, &vector, sizeof vector);
    if (reinterpret_cast<std::uintptr_t>(x + i) % 16 == 0) {
        vector = *reinterpret_cast<const uint4*>(x + i);
        memcpy(xs, &vector, sizeof vector);
    } else if (sizeof(T) == 1 && end + width < n) {
        vector = cut_out(x + i);
        memcpy(xs, &vector, sizeof vector);
    } else {
        for (unsigned k = 0; k < width; ++k) xs[k] = x[i + k];
    }
    for (unsigned k = 0; k < width; ++k) ys[k] = axpy(ys[k], xs[k], a);
    memcpy(&vector, ys, sizeof vector);
    *reinterpret_cast<uint4*>(y + i) = vector;
}

template <class Device, class T, class A>
void run(T* y, const T* x, A a, std::size_t n) {
    static_assert(sizeof(Device) == sizeof(T));
    constexpr std::size_t width = 16 / sizeof(T);
    const auto head = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(y) % 16 / sizeof(T));
    const std::size_t vectors = (n + head + width - 1) / width;
    axpy_kernel<<<static_cast<unsigned>((vectors + threads - 1) / threads), threads>>>(
        reinterpret_cast<Device*>(y), reinterpret_cast<const Device*>(x), a, n, head);
}

constexpr peer::axpy_functions functions{run<std::int8_t>, run<half_bits>, run<float>, run<double>,
                                         run<complex_double>};

}  // namespace

extern "C" const peer::axpy_functions* peer_cuda_axpy() { return &functions; }

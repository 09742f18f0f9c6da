// A thread takes 16 bytes of each operand in one access; blocks of 256.

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
/// Floats four a thread, in 16-byte accesses; doubles one, which is as fast (H200, 2^27: 4,333 and 4,342
/// GB/s).
template <class T>
constexpr unsigned width = sizeof(T) == 4 ? 4 : 1;

template <class T>
struct alignas(sizeof(T) * width<T>) pack {
    T lanes[width<T>];
};

template <class T, class F>
__global__ void map_kernel(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out,
                           std::size_t n) {
    constexpr F f{};
    const std::size_t first = own() * width<T>;
    if (first + width<T> <= n) {
        const auto as = *reinterpret_cast<const pack<T>*>(a + first);
        const auto bs = F::reads_b ? *reinterpret_cast<const pack<T>*>(b + first) : as;
        pack<T> made;
        for (unsigned k = 0; k < width<T>; ++k) made.lanes[k] = f(as.lanes[k], bs.lanes[k]);
        *reinterpret_cast<pack<T>*>(out + first) = made;
    } else {
        for (std::size_t i = first; i < n; ++i) out[i] = f(a[i], F::reads_b ? b[i] : a[i]);
    }
}

struct add {
    static constexpr bool reads_b = true;
    template <class T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct twice_minus_sine {
    static constexpr bool reads_b = true;
    template <class T>
    __device__ T operator()(T a, T b) const {
        return 2 * a - sin(b);
    }
};
struct polynomial {
    static constexpr bool reads_b = true;
    template <class T>
    __device__ T operator()(T a, T b) const {
        return (a - b) * (a + b) / (1 + b * b);
    }
};
struct exponential {
    static constexpr bool reads_b = false;
    template <class T>
    __device__ T operator()(T a, T) const {
        return exp(a);
    }
};
struct logarithm {
    static constexpr bool reads_b = false;
    template <class T>
    __device__ T operator()(T a, T) const {
        return log(a);
    }
};
struct sine {
    static constexpr bool reads_b = false;
    template <class T>
    __device__ T operator()(T a, T) const {
        return sin(a);
    }
};
struct power {
    static constexpr bool reads_b = true;
    template <class T>
    __device__ T operator()(T a, T b) const {
        return pow(a, b);
    }
};

template <class T>
struct launches {
    static void set(T* a, T value, std::size_t n) { set_kernel<<<blocks_for(n), threads>>>(a, value, n); }
    template <class F>
    static void run(const T* a, const T* b, T* out, std::size_t n) {
        map_kernel<T, F><<<blocks_for((n + width<T> - 1) / width<T>), threads>>>(a, b, out, n);
    }
    static constexpr peer::elementwise_functions<T> all{
        set,       run<add>,  run<twice_minus_sine>, run<polynomial>, run<exponential>, run<logarithm>,
        run<sine>, run<power>};
};

constexpr peer::elementwise functions{launches<float>::all, launches<double>::all};

}  // namespace

extern "C" const peer::elementwise* peer_cuda_elementwise() { return &functions; }

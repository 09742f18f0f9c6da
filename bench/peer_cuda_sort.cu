// cub::DeviceRadixSort behind the functions of peer_sort.hpp.

#include <cub/device/device_radix_sort.cuh>

#include "peer_cuda_work.hpp"
#include "peer_sort.hpp"

namespace {

template <class T>
__global__ void set_kernel(T* x, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    std::uint64_t k = i;  // peer::hashed
    k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ull;
    k ^= k >> 33;
    memcpy(&x[i], &k, sizeof(T));
}

template <class T>
class work : public any_work {
public:
    work(bool has_values, std::size_t n) : has_values_(has_values), n_(n) {
        for (T** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(T)), "cudaMalloc");
        if (has_values_)
            for (std::uint32_t** memory : {&values_from_, &values_to_})
                check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(std::uint32_t)), "cudaMalloc");
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(from_, n);
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory : {static_cast<void*>(from_), static_cast<void*>(to_),
                             static_cast<void*>(values_from_), static_cast<void*>(values_to_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        const auto n = static_cast<long long>(n_);
        if (has_values_)
            check(cub::DeviceRadixSort::SortPairs(scratch_, scratch_bytes_, from_, to_, values_from_,
                                                  values_to_, n),
                  "cub::DeviceRadixSort::SortPairs");
        else
            check(cub::DeviceRadixSort::SortKeys(scratch_, scratch_bytes_, from_, to_, n),
                  "cub::DeviceRadixSort::SortKeys");
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
        if (has_values_)
            check(cudaMemcpyAsync(values_to_, values_from_, n_ * sizeof(std::uint32_t),
                                  cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
    }

private:
    bool has_values_;
    std::size_t n_;
    T *from_ = nullptr, *to_ = nullptr;
    std::uint32_t *values_from_ = nullptr, *values_to_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(peer::sort_keys keys, bool has_values, std::size_t n) {
    switch (keys) {
        case peer::sort_keys::u32: return static_cast<any_work*>(new work<std::uint32_t>(has_values, n));
        case peer::sort_keys::u64: return static_cast<any_work*>(new work<std::uint64_t>(has_values, n));
        default: return static_cast<any_work*>(new work<float>(has_values, n));
    }
}
constexpr peer::cuda_sort_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_sort_functions* peer_cuda_sort_functions() { return &functions; }

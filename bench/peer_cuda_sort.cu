// CUB's sorts behind the functions of peer_sort.hpp.

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

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

__global__ void set_rows_kernel(int* offsets, int rows) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= rows) offsets[i] = i * static_cast<int>(peer::sort_row);
}

struct is_less {
    template <class T>
    __device__ bool operator()(const T& a, const T& b) const {
        return a < b;
    }
};

template <class T>
class work : public any_work {
public:
    work(peer::sort_way way, std::size_t n)
        : way_(way),
          has_values_(way == peer::sort_way::keys_and_values),
          n_(n),
          rows_(static_cast<int>(n / peer::sort_row)) {
        for (T** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(T)), "cudaMalloc");
        if (has_values_)
            for (std::uint32_t** memory : {&values_from_, &values_to_})
                check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(std::uint32_t)), "cudaMalloc");
        if (way_ == peer::sort_way::rows) {
            check(cudaMalloc(reinterpret_cast<void**>(&offsets_),
                             (static_cast<std::size_t>(rows_) + 1) * sizeof(int)),
                  "cudaMalloc");
            set_rows_kernel<<<static_cast<unsigned>(rows_ / 256 + 1), 256>>>(offsets_, rows_);
        }
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(from_, n);
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory :
             {static_cast<void*>(from_), static_cast<void*>(to_), static_cast<void*>(values_from_),
              static_cast<void*>(values_to_), static_cast<void*>(offsets_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        const auto n = static_cast<long long>(n_);
        switch (way_) {
            case peer::sort_way::keys:
                return check(cub::DeviceRadixSort::SortKeys(scratch_, scratch_bytes_, from_, to_, n),
                             "cub::DeviceRadixSort::SortKeys");
            case peer::sort_way::keys_and_values:
                return check(cub::DeviceRadixSort::SortPairs(scratch_, scratch_bytes_, from_, to_,
                                                             values_from_, values_to_, n),
                             "cub::DeviceRadixSort::SortPairs");
            case peer::sort_way::comparison:
                return check(
                    cub::DeviceMergeSort::SortKeysCopy(scratch_, scratch_bytes_, from_, to_, n, is_less()),
                    "cub::DeviceMergeSort::SortKeysCopy");
            case peer::sort_way::rows:
                return check(cub::DeviceSegmentedSort::SortKeys(scratch_, scratch_bytes_, from_, to_, n,
                                                                rows_, offsets_, offsets_ + 1),
                             "cub::DeviceSegmentedSort::SortKeys");
        }
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
        if (has_values_)
            check(cudaMemcpyAsync(values_to_, values_from_, n_ * sizeof(std::uint32_t),
                                  cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
    }

private:
    peer::sort_way way_;
    bool has_values_;
    std::size_t n_;
    int rows_;
    int* offsets_ = nullptr;
    T *from_ = nullptr, *to_ = nullptr;
    std::uint32_t *values_from_ = nullptr, *values_to_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(peer::sort_keys keys, peer::sort_way way, std::size_t n) {
    switch (keys) {
        case peer::sort_keys::u32: return static_cast<any_work*>(new work<std::uint32_t>(way, n));
        case peer::sort_keys::u64: return static_cast<any_work*>(new work<std::uint64_t>(way, n));
        default: return static_cast<any_work*>(new work<float>(way, n));
    }
}
constexpr peer::cuda_sort_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_sort_functions* peer_cuda_sort_functions() { return &functions; }

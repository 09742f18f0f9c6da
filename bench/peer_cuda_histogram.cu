// cub::DeviceHistogram behind the functions of peer_histogram.hpp.

#include <cub/device/device_histogram.cuh>

#include "peer_cuda_work.hpp"
#include "peer_histogram.hpp"

namespace {

/// The hash of peer_histogram.hpp: Balm's benchmark computes the same.
template <class T>
__global__ void set_kernel(T* x, std::size_t n, bool are_equal) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned hash = are_equal ? 42u << 24 : static_cast<unsigned>(i) * 2654435769u;
    x[i] = sizeof(T) == 1 ? static_cast<T>(hash >> 24)
                          : static_cast<T>(static_cast<float>(hash >> 8) / 16777216.f);
}

template <class T>
class work : public any_work {
public:
    work(std::size_t n, bool are_equal) : n_(n) {
        for (void** memory : {reinterpret_cast<void**>(&from_), reinterpret_cast<void**>(&to_)})
            check(cudaMalloc(memory, n * sizeof(T)), "cudaMalloc");
        check(cudaMalloc(reinterpret_cast<void**>(&counts_), 1024 * sizeof(int)), "cudaMalloc");
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(from_, n, are_equal);
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory :
             {static_cast<void*>(from_), static_cast<void*>(to_), static_cast<void*>(counts_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        constexpr int bins = sizeof(T) == 1 ? 256 : 1024;
        if constexpr (sizeof(T) == 1)
            check(cub::DeviceHistogram::HistogramEven(scratch_, scratch_bytes_, from_, counts_, bins + 1, 0,
                                                      256, static_cast<int>(n_)),
                  "cub::DeviceHistogram::HistogramEven");
        else
            check(cub::DeviceHistogram::HistogramEven(scratch_, scratch_bytes_, from_, counts_, bins + 1, 0.f,
                                                      1.f, static_cast<int>(n_)),
                  "cub::DeviceHistogram::HistogramEven");
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    std::size_t n_;
    T* from_ = nullptr;
    T* to_ = nullptr;
    int* counts_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(bool of_floats, bool are_equal, std::size_t n) {
    if (of_floats) return static_cast<any_work*>(new work<float>(n, are_equal));
    return static_cast<any_work*>(new work<unsigned char>(n, are_equal));
}
constexpr peer::cuda_histogram_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_histogram_functions* peer_cuda_histogram_functions() { return &functions; }

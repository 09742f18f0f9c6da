// cub::DeviceScan behind the functions of peer_scan.hpp.

#include <cub/device/device_scan.cuh>

#include "peer_cuda_work.hpp"
#include "peer_scan.hpp"

namespace {

template <class T>
__global__ void set_kernel(T* x, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) x[i] = static_cast<T>(i % 1000003);
}
__global__ void set_keys_kernel(std::int32_t* keys, std::size_t run, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) keys[i] = static_cast<std::int32_t>(i / run);
}

/// A scan of n elements; by key if `run_length`, the number of equal keys in a row, is not 0.
template <class T>
class work : public any_work {
public:
    explicit work(std::size_t n, std::size_t run_length = 0) : n_(n) {
        for (T** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(T)), "cudaMalloc");
        const auto blocks = static_cast<unsigned>((n + 255) / 256);
        set_kernel<<<blocks, 256>>>(from_, n);
        if (run_length > 0) {
            check(cudaMalloc(reinterpret_cast<void**>(&keys_), n * sizeof(std::int32_t)), "cudaMalloc");
            set_keys_kernel<<<blocks, 256>>>(keys_, run_length, n);
        }
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory :
             {static_cast<void*>(from_), static_cast<void*>(to_), static_cast<void*>(keys_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        const auto n = static_cast<long long>(n_);
        if (keys_ == nullptr)
            check(cub::DeviceScan::InclusiveSum(scratch_, scratch_bytes_, from_, to_, n),
                  "cub::DeviceScan::InclusiveSum");
        else
            check(cub::DeviceScan::InclusiveSumByKey(scratch_, scratch_bytes_, keys_, from_, to_, n),
                  "cub::DeviceScan::InclusiveSumByKey");
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    std::size_t n_;
    T* from_ = nullptr;
    T* to_ = nullptr;
    std::int32_t* keys_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(bool of_doubles, std::size_t n) {
    if (of_doubles) return static_cast<any_work*>(new work<double>(n));
    return static_cast<any_work*>(new work<std::uint32_t>(n));
}
void* make_by_key(std::size_t run, std::size_t n) {
    return static_cast<any_work*>(new work<std::uint32_t>(n, run));
}
constexpr peer::cuda_scan_functions functions{make, make_by_key, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_scan_functions* peer_cuda_scan_functions() { return &functions; }

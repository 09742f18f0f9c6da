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

template <class T>
class work : public any_work {
public:
    explicit work(std::size_t n) : n_(n) {
        for (T** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(T)), "cudaMalloc");
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(from_, n);
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory : {static_cast<void*>(from_), static_cast<void*>(to_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        check(cub::DeviceScan::InclusiveSum(scratch_, scratch_bytes_, from_, to_, static_cast<long long>(n_)),
              "cub::DeviceScan::InclusiveSum");
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    std::size_t n_;
    T* from_ = nullptr;
    T* to_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(bool of_doubles, std::size_t n) {
    if (of_doubles) return static_cast<any_work*>(new work<double>(n));
    return static_cast<any_work*>(new work<std::uint32_t>(n));
}
constexpr peer::cuda_scan_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_scan_functions* peer_cuda_scan_functions() { return &functions; }

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

class work_by_key : public any_work {
public:
    work_by_key(std::size_t run_length, std::size_t n) : n_(n) {
        check(cudaMalloc(reinterpret_cast<void**>(&keys_), n * sizeof(std::int32_t)), "cudaMalloc");
        for (std::uint32_t** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(std::uint32_t)), "cudaMalloc");
        const auto blocks = static_cast<unsigned>((n + 255) / 256);
        set_kernel<<<blocks, 256>>>(from_, n);
        set_keys_kernel<<<blocks, 256>>>(keys_, run_length, n);
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work_by_key() override {
        for (void* memory :
             {static_cast<void*>(keys_), static_cast<void*>(from_), static_cast<void*>(to_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    void run() override {
        check(cub::DeviceScan::InclusiveSumByKey(scratch_, scratch_bytes_, keys_, from_, to_,
                                                 static_cast<long long>(n_)),
              "cub::DeviceScan::InclusiveSumByKey");
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
    }

private:
    std::size_t n_;
    std::int32_t* keys_ = nullptr;
    std::uint32_t* from_ = nullptr;
    std::uint32_t* to_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(bool of_doubles, std::size_t n) {
    if (of_doubles) return static_cast<any_work*>(new work<double>(n));
    return static_cast<any_work*>(new work<std::uint32_t>(n));
}
void* make_by_key(std::size_t run, std::size_t n) { return static_cast<any_work*>(new work_by_key(run, n)); }
constexpr peer::cuda_scan_functions functions{make, make_by_key, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_scan_functions* peer_cuda_scan_functions() { return &functions; }

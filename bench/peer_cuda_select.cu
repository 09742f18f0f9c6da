// cub::DeviceSelect, DeviceReduce::ReduceByKey and DeviceRunLengthEncode behind the functions of
// peer_select.hpp.

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "peer_cuda_work.hpp"
#include "peer_select.hpp"

namespace {

/// The hash of peer_select.hpp: Balm's benchmark computes the same.
__global__ void set_kernel(int* keys, float* values, std::size_t n, double share, std::size_t run) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    keys[i] = static_cast<int>(i / run);
    const unsigned hash = static_cast<unsigned>(i) * 2654435769u;
    values[i] = hash < 4294967295.0 * share ? 1.f : -1.f;
}

struct is_positive {
    __device__ bool operator()(float value) const { return value > 0; }
};
struct adds {
    __device__ float operator()(float a, float b) const { return a + b; }
};

class work : public any_work {
public:
    work(peer::selection what, std::size_t n, double share, std::size_t run) : what_(what), n_(n) {
        for (void** memory : {reinterpret_cast<void**>(&keys_), reinterpret_cast<void**>(&to_keys_),
                              reinterpret_cast<void**>(&values_), reinterpret_cast<void**>(&to_values_)})
            check(cudaMalloc(memory, n * 4), "cudaMalloc");
        check(cudaMalloc(reinterpret_cast<void**>(&count_), sizeof(long long)), "cudaMalloc");
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(keys_, values_, n, share, run);
        this->run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory :
             {static_cast<void*>(keys_), static_cast<void*>(to_keys_), static_cast<void*>(values_),
              static_cast<void*>(to_values_), static_cast<void*>(count_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        const int n = static_cast<int>(n_);
        switch (what_) {
            case peer::selection::copy_if:
                return check(cub::DeviceSelect::If(scratch_, scratch_bytes_, values_, to_values_, count_, n,
                                                   is_positive{}),
                             "cub::DeviceSelect::If");
            case peer::selection::unique:
                return check(cub::DeviceSelect::Unique(scratch_, scratch_bytes_, keys_, to_keys_, count_, n),
                             "cub::DeviceSelect::Unique");
            case peer::selection::reduce_by_key:
                return check(cub::DeviceReduce::ReduceByKey(scratch_, scratch_bytes_, keys_, to_keys_,
                                                            values_, to_values_, count_, adds{}, n),
                             "cub::DeviceReduce::ReduceByKey");
            case peer::selection::run_length_encode:
                return check(
                    cub::DeviceRunLengthEncode::Encode(scratch_, scratch_bytes_, keys_, to_keys_,
                                                       reinterpret_cast<int*>(to_values_), count_, n),
                    "cub::DeviceRunLengthEncode::Encode");
        }
    }
    void copy() override {
        check(cudaMemcpyAsync(to_keys_, keys_, n_ * 4, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    peer::selection what_;
    std::size_t n_;
    int* keys_ = nullptr;
    int* to_keys_ = nullptr;
    float* values_ = nullptr;
    float* to_values_ = nullptr;
    long long* count_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(peer::selection what, std::size_t n, double share, std::size_t run) {
    return static_cast<any_work*>(new work(what, n, share, run));
}
constexpr peer::cuda_select_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_select_functions* peer_cuda_select_functions() { return &functions; }

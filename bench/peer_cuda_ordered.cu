// thrust::merge, merge_by_key, set_union, set_intersection and cub::DeviceRadixSort behind the functions of
// peer_ordered.hpp.

#include <thrust/execution_policy.h>
#include <thrust/merge.h>
#include <thrust/set_operations.h>
#include <thrust/system/cuda/execution_policy.h>

#include <cub/device/device_radix_sort.cuh>

#include "peer_cuda_work.hpp"
#include "peer_ordered.hpp"

namespace {

__device__ std::uint32_t element(std::uint32_t i, std::uint32_t array) {
    return 2 * i + ((i ^ array * 0x55555555u) * 2654435769u >> 31);
}
__global__ void set_kernel(std::uint32_t* a, std::uint32_t* b, float* x, float* y, std::uint32_t* positions,
                           std::size_t n) {
    const std::size_t k = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (k >= n) return;
    const auto i = static_cast<std::uint32_t>(k);
    if (a != nullptr) {
        a[k] = element(i, 0);
        b[k] = element(i, 1);
    }
    if (x != nullptr) x[k] = static_cast<float>(i * 2654435769u) * 2.3283064e-10f;
    if (y != nullptr) y[k] = -x[k];
    if (positions != nullptr) positions[k] = i;
}

/// Gives Thrust the same memory at each call: it asks for one block at a time.
class kept_memory {
public:
    using value_type = char;
    ~kept_memory() { check(cudaFree(memory_), "cudaFree"); }
    char* allocate(std::ptrdiff_t bytes) {
        if (bytes > size_) {
            check(cudaFree(memory_), "cudaFree");
            check(cudaMalloc(&memory_, static_cast<std::size_t>(bytes)), "cudaMalloc");
            size_ = bytes;
        }
        return static_cast<char*>(memory_);
    }
    void deallocate(char*, std::size_t) {}

private:
    void* memory_ = nullptr;
    std::ptrdiff_t size_ = 0;
};

class work : public any_work {
public:
    work(peer::ordered what, std::size_t n) : what_(what), n_(n) {
        const bool sorts = what == peer::ordered::top_k;
        if (sorts || what == peer::ordered::merge_by_key) x_ = made<float>(n);
        if (sorts) {
            positions_ = made<std::uint32_t>(n);
            to_ = made<std::uint32_t>(n);
            z_ = made<float>(n);
        } else {
            a_ = made<std::uint32_t>(n);
            b_ = made<std::uint32_t>(n);
            to_ = made<std::uint32_t>(2 * n);
        }
        if (what == peer::ordered::merge_by_key) {
            y_ = made<float>(n);
            z_ = made<float>(2 * n);
        }
        set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a_, b_, x_, y_, positions_, n);
        if (sorts) {
            run();
            check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        }
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory :
             {static_cast<void*>(a_), static_cast<void*>(b_), static_cast<void*>(to_), static_cast<void*>(x_),
              static_cast<void*>(y_), static_cast<void*>(z_), static_cast<void*>(positions_), scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    void run() override {
        const auto on = thrust::cuda::par_nosync(memory_);
        switch (what_) {
            case peer::ordered::merge: thrust::merge(on, a_, a_ + n_, b_, b_ + n_, to_); return;
            case peer::ordered::merge_by_key:
                thrust::merge_by_key(on, a_, a_ + n_, b_, b_ + n_, x_, y_, to_, z_);
                return;
            case peer::ordered::set_union: thrust::set_union(on, a_, a_ + n_, b_, b_ + n_, to_); return;
            case peer::ordered::set_intersection:
                thrust::set_intersection(on, a_, a_ + n_, b_, b_ + n_, to_);
                return;
            case peer::ordered::top_k:
                return check(cub::DeviceRadixSort::SortPairsDescending(scratch_, scratch_bytes_, x_, z_,
                                                                       positions_, to_, static_cast<int>(n_)),
                             "cub::DeviceRadixSort::SortPairsDescending");
        }
    }
    void copy() override {
        const bool sorts = what_ == peer::ordered::top_k;
        const void* const from = sorts ? static_cast<const void*>(x_) : a_;
        check(cudaMemcpyAsync(to_, from, n_ * 4, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
        if (!sorts) check(cudaMemcpyAsync(to_ + n_, b_, n_ * 4, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    template <class T>
    static T* made(std::size_t count) {
        void* memory = nullptr;
        check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
        return static_cast<T*>(memory);
    }

    peer::ordered what_;
    std::size_t n_;
    std::uint32_t *a_ = nullptr, *b_ = nullptr, *to_ = nullptr, *positions_ = nullptr;
    float *x_ = nullptr, *y_ = nullptr, *z_ = nullptr;
    kept_memory memory_;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(peer::ordered what, std::size_t n, std::size_t) {
    return static_cast<any_work*>(new work(what, n));
}
constexpr peer::cuda_ordered_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_ordered_functions* peer_cuda_ordered_functions() { return &functions; }

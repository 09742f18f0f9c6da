// cub::DeviceReduce behind the functions of peer_reduce.hpp: elements are transformed as they are read.

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cub/device/device_reduce.cuh>

#include "peer_cuda_work.hpp"
#include "peer_reduce.hpp"

namespace {

template <class T>
struct three {
    T least, most, sum;
};

template <class T>
struct multiply {
    __host__ __device__ T operator()(const thrust::tuple<T, T>& pair) const {
        return thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};
template <class T>
struct absolute {
    __host__ __device__ T operator()(T x) const { return x < 0 ? -x : x; }
};
template <class T>
struct as_three {
    __host__ __device__ three<T> operator()(T x) const { return {x, x, x}; }
};
template <class T>
struct larger {
    __host__ __device__ T operator()(T a, T b) const { return b > a ? b : a; }
};
template <class T>
struct join {
    __host__ __device__ three<T> operator()(const three<T>& a, const three<T>& b) const {
        return {b.least < a.least ? b.least : a.least, b.most > a.most ? b.most : a.most, a.sum + b.sum};
    }
};

template <class T>
__global__ void set_kernel(T* x, double value, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) x[i] = static_cast<T>(value + 1e-6 * static_cast<double>(i % 1000003));
}

template <class T>
class work : public any_work {
public:
    work(peer::reduction what, std::size_t n) : what_(what), n_(n) {
        for (T** memory : {&x_, &y_}) {
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(T)), "cudaMalloc");
            set_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(*memory, memory == &x_ ? 1 : 2, n);
        }
        check(cudaMalloc(&result_, sizeof(three<T>)), "cudaMalloc");
        run();
        check(cudaMalloc(&scratch_, scratch_bytes_), "cudaMalloc");
        check(cudaDeviceSynchronize(), "setting arrays");
    }
    ~work() override {
        for (void* memory : {static_cast<void*>(x_), static_cast<void*>(y_), result_, scratch_})
            check(cudaFree(memory), "cudaFree");
    }
    /// Without scratch memory CUB says how much it needs.
    void run() override {
        const auto n = static_cast<long long>(n_);
        switch (what_) {
            case peer::reduction::dot: {
                const auto products = thrust::make_transform_iterator(
                    thrust::make_zip_iterator(thrust::make_tuple(x_, y_)), multiply<T>());
                check(cub::DeviceReduce::Sum(scratch_, scratch_bytes_, products, static_cast<T*>(result_), n),
                      "cub::DeviceReduce::Sum");
                break;
            }
            case peer::reduction::most_of_abs: {
                const auto values = thrust::make_transform_iterator(x_, absolute<T>());
                check(cub::DeviceReduce::Reduce(scratch_, scratch_bytes_, values, static_cast<T*>(result_), n,
                                                larger<T>(), T(0)),
                      "cub::DeviceReduce::Reduce");
                break;
            }
            case peer::reduction::least_most_sum: {
                const auto values = thrust::make_transform_iterator(x_, as_three<T>());
                check(cub::DeviceReduce::Reduce(scratch_, scratch_bytes_, values,
                                                static_cast<three<T>*>(result_), n, join<T>(),
                                                three<T>{T(1e30), T(-1e30), T(0)}),
                      "cub::DeviceReduce::Reduce");
                break;
            }
        }
    }
    void copy() override {
        const std::size_t moved = what_ == peer::reduction::dot ? n_ : n_ / 2;
        check(cudaMemcpyAsync(y_, x_, moved * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }

private:
    peer::reduction what_;
    std::size_t n_;
    T* x_ = nullptr;
    T* y_ = nullptr;
    void* result_ = nullptr;
    void* scratch_ = nullptr;
    std::size_t scratch_bytes_ = 0;
};

void* make(bool of_doubles, peer::reduction what, std::size_t n) {
    if (of_doubles) return static_cast<any_work*>(new work<double>(what, n));
    return static_cast<any_work*>(new work<float>(what, n));
}
constexpr peer::cuda_reduce_functions functions{make, any_work::functions()};

}  // namespace

extern "C" const peer::cuda_reduce_functions* peer_cuda_reduce_functions() { return &functions; }

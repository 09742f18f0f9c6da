// Bicubic B-splines, one point a thread.

#include <algorithm>

#include "peer_cuda_work.hpp"
#include "peer_spline.hpp"

namespace {

constexpr int threads = 256;

unsigned blocks_for(std::size_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

template <class T>
struct located {
    int first;
    T along_x[4], along_y[4];
};

template <class T>
__device__ __forceinline__ void basis(T t, T* to) {
    const T s = 1 - t, s2 = s * s, t2 = t * t;
    to[0] = s2 * s * T(1.0 / 6);
    to[1] = T(2.0 / 3) - t2 * (1 - T(0.5) * t);
    to[2] = T(2.0 / 3) - s2 * (1 - T(0.5) * s);
    to[3] = t2 * t * T(1.0 / 6);
}

template <class T>
__device__ __forceinline__ located<T> locate(T x, T y, int cells) {
    const T u = x * static_cast<T>(cells), v = y * static_cast<T>(cells);
    const int i = min(max(static_cast<int>(u), 0), cells - 1),
              j = min(max(static_cast<int>(v), 0), cells - 1);
    located<T> found;
    found.first = i * (cells + 3) + j;
    basis(u - static_cast<T>(i), found.along_x);
    basis(v - static_cast<T>(j), found.along_y);
    return found;
}

template <class T>
__device__ __forceinline__ T value_at(const T* __restrict__ lattice, T x, T y, int cells) {
    const located<T> at = locate(x, y, cells);
    T sum = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const T* const row = lattice + at.first + k * (cells + 3);
        sum += at.along_x[k] * (at.along_y[0] * __ldg(row) + at.along_y[1] * __ldg(row + 1) +
                                at.along_y[2] * __ldg(row + 2) + at.along_y[3] * __ldg(row + 3));
    }
    return sum;
}

template <class T>
__global__ void __launch_bounds__(threads)
    evaluate(T* __restrict__ to, const T* __restrict__ lattice, int cells, std::size_t n,
             const T* __restrict__ x, const T* __restrict__ y) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) to[i] = value_at(lattice, x[i], y[i], cells);
}

template <class T>
__global__ void __launch_bounds__(threads)
    residual(T* __restrict__ left, const T* __restrict__ values, const T* __restrict__ lattice, int cells,
             std::size_t n, const T* __restrict__ x, const T* __restrict__ y) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) left[i] = values[i] - value_at(lattice, x[i], y[i], cells);
}

/// While a level has few control points, a block adds up in shared memory first.
constexpr int most_shared = 35 * 35;

template <class T>
__global__ void __launch_bounds__(threads)
    scatter(T* sums, T* squares, const T* __restrict__ left, int cells, std::size_t n,
            const T* __restrict__ x, const T* __restrict__ y) {
    __shared__ T of_block[2 * most_shared];
    const int extent = cells + 3, size = extent * extent;
    const bool is_shared = size <= most_shared;
    T* const sum = is_shared ? of_block : sums;
    T* const square = is_shared ? of_block + size : squares;
    if (is_shared)
        for (int c = static_cast<int>(threadIdx.x); c < 2 * size; c += threads) of_block[c] = 0;
    __syncthreads();
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * threads;
    for (std::size_t p = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x; p < n; p += stride) {
        const located<T> at = locate(x[p], y[p], cells);
        T all_x = 0, all_y = 0;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            all_x += at.along_x[k] * at.along_x[k];
            all_y += at.along_y[k] * at.along_y[k];
        }
        const T share = left[p] / (all_x * all_y);
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
            for (int l = 0; l < 4; ++l) {
                const T w = at.along_x[k] * at.along_y[l], w2 = w * w;
                const int c = at.first + k * extent + l;
                atomicAdd(sum + c, w2 * w * share);
                atomicAdd(square + c, w2);
            }
    }
    if (!is_shared) return;
    __syncthreads();
    for (int c = static_cast<int>(threadIdx.x); c < size; c += threads) {
        atomicAdd(sums + c, of_block[c]);
        atomicAdd(squares + c, of_block[size + c]);
    }
}

/// The lattice of the level before on this level's grid, and what the points add to it.
template <class T>
__global__ void __launch_bounds__(threads)
    advance(T* __restrict__ fine, const T* __restrict__ coarse, int cells, const T* __restrict__ sums,
            const T* __restrict__ squares) {
    const int extent = cells + 3, coarse_extent = cells / 2 + 3;
    const int c = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    if (c >= extent * extent) return;
    const int i = c / extent, j = c % extent;
    T sum = squares[c] > 0 ? sums[c] / squares[c] : T(0);
    if (cells > 1)
        for (int k = 0; k < 2 + i % 2; ++k)
            for (int l = 0; l < 2 + j % 2; ++l) {
                const T a = i % 2 == 0 ? T(0.5) : k == 1 ? T(0.75) : T(0.125);
                const T b = j % 2 == 0 ? T(0.5) : l == 1 ? T(0.75) : T(0.125);
                sum += a * b * coarse[(i / 2 + k) * coarse_extent + j / 2 + l];
            }
    fine[c] = sum;
}

template <class T>
class device_array {
public:
    explicit device_array(std::size_t size, const void* from = nullptr) : size_(size) {
        check(cudaMalloc(reinterpret_cast<void**>(&first_), size * sizeof(T)), "cudaMalloc");
        if (from != nullptr)
            check(cudaMemcpy(first_, from, size * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    device_array(const device_array&) = delete;
    ~device_array() { check(cudaFree(first_), "cudaFree"); }
    T* get() const { return first_; }
    void read(void* to, std::size_t size) const {
        check(cudaMemcpy(to, first_, size * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    void clear(std::size_t size) { check(cudaMemsetAsync(first_, 0, size * sizeof(T)), "cudaMemsetAsync"); }

private:
    std::size_t size_;
    T* first_ = nullptr;
};

struct spline_work : any_work {
    virtual void read(void* to) = 0;
};

template <class T>
class points_work : public spline_work {
protected:
    points_work(std::size_t n, const void* x, const void* y)
        : n_(n), x_(n, x), y_(n, y), copied_from_(n + n / 2), copied_to_(n + n / 2) {}
    void copy() override {
        check(cudaMemcpyAsync(copied_to_.get(), copied_from_.get(), (n_ + n_ / 2) * sizeof(T),
                              cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
    }

    std::size_t n_;
    device_array<T> x_, y_;

private:
    device_array<T> copied_from_, copied_to_;
};

template <class T>
class evaluation : public points_work<T> {
public:
    evaluation(std::size_t cells, const void* lattice, std::size_t n, const void* x, const void* y)
        : points_work<T>(n, x, y),
          cells_(static_cast<int>(cells)),
          lattice_((cells + 3) * (cells + 3), lattice),
          to_(n) {}
    void run() override {
        evaluate<<<blocks_for(this->n_), threads>>>(to_.get(), static_cast<const T*>(lattice_.get()), cells_,
                                                    this->n_, static_cast<const T*>(this->x_.get()),
                                                    static_cast<const T*>(this->y_.get()));
    }
    void read(void* to) override {
        run();
        to_.read(to, this->n_);
    }

private:
    int cells_;
    device_array<T> lattice_, to_;
};

std::size_t lattice_size(int levels) {
    const std::size_t extent = (std::size_t{1} << (levels - 1)) + 3;
    return extent * extent;
}

template <class T>
class fit : public points_work<T> {
public:
    fit(int levels, std::size_t n, const void* x, const void* y, const void* values)
        : points_work<T>(n, x, y),
          levels_(levels),
          values_(n, values),
          left_(n),
          sums_(lattice_size(levels)),
          squares_(lattice_size(levels)),
          even_(lattice_size(levels)),
          odd_(lattice_size(levels)) {}
    void run() override {
        check(cudaMemcpyAsync(left_.get(), values_.get(), this->n_ * sizeof(T), cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
        const T *const x = this->x_.get(), *const y = this->y_.get();
        for (int level = 0; level < levels_; ++level) {
            const int cells = 1 << level;
            const std::size_t size = lattice_size(level + 1);
            sums_.clear(size);
            squares_.clear(size);
            const unsigned blocks = blocks_for(this->n_), some = std::min(blocks, 132u * 8);
            const T* const left = left_.get();
            scatter<<<some, threads>>>(sums_.get(), squares_.get(), left, cells, this->n_, x, y);
            T* const now = level % 2 == 0 ? even_.get() : odd_.get();
            const T* const before = level % 2 == 0 ? odd_.get() : even_.get();
            advance<<<blocks_for(size), threads>>>(now, before, cells, static_cast<const T*>(sums_.get()),
                                                   static_cast<const T*>(squares_.get()));
            residual<<<blocks, threads>>>(left_.get(), static_cast<const T*>(values_.get()),
                                          static_cast<const T*>(now), cells, this->n_, x, y);
        }
    }
    void read(void* to) override {
        run();
        (levels_ % 2 == 1 ? even_ : odd_).read(to, lattice_size(levels_));
    }

private:
    int levels_;
    device_array<T> values_, left_, sums_, squares_, even_, odd_;
};

void* make_evaluation(bool of_doubles, std::size_t cells, const void* lattice, std::size_t n, const void* x,
                      const void* y) {
    if (of_doubles) return static_cast<any_work*>(new evaluation<double>(cells, lattice, n, x, y));
    return static_cast<any_work*>(new evaluation<float>(cells, lattice, n, x, y));
}
void* make_fit(bool of_doubles, int levels, std::size_t n, const void* x, const void* y, const void* values) {
    if (of_doubles) return static_cast<any_work*>(new fit<double>(levels, n, x, y, values));
    return static_cast<any_work*>(new fit<float>(levels, n, x, y, values));
}
void read(void* made, void* to) { static_cast<spline_work*>(static_cast<any_work*>(made))->read(to); }

constexpr peer::cuda_spline_functions functions{make_evaluation, make_fit, any_work::functions(), read};

}  // namespace

extern "C" const peer::cuda_spline_functions* peer_cuda_spline_functions() { return &functions; }

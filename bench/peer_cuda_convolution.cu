// Convolutions with tiles in shared memory.

#include <vector>

#include "peer_convolution.hpp"
#include "peer_cuda_work.hpp"

namespace {

constexpr int threads = 256;
constexpr std::size_t most_weights = 4096;

__constant__ float all_weights[most_weights];

/// The tile's values, from a multiple of 4 on, as vectors; zeros beyond the ends.
__device__ void stage(float4* tile, int vectors, const float4* from, long long first, long long end) {
    for (int v = static_cast<int>(threadIdx.x); v < vectors; v += threads) {
        const long long at = first + v;
        tile[v] = at >= 0 && at < end ? from[at] : make_float4(0, 0, 0, 0);
    }
}

/// Four results a thread, which has all values that they need in registers.
template <int Count>
__global__ void __launch_bounds__(threads) known_width(float4* to, const float4* from, long long vectors) {
    constexpr int behind = Count / 2, ahead = Count - 1 - behind;
    constexpr int vectors_ahead = (ahead + 3) / 4, vectors_behind = (behind + 3) / 4;
    constexpr int values = 4 * (vectors_ahead + 1 + vectors_behind);
    __shared__ float4 tile[threads + vectors_ahead + vectors_behind];
    const long long first = static_cast<long long>(blockIdx.x) * threads;
    stage(tile, threads + vectors_ahead + vectors_behind, from, first - vectors_ahead, vectors);
    __syncthreads();
    float x[values];
#pragma unroll
    for (int v = 0; v < values / 4; ++v) {
        const float4 loaded = tile[static_cast<int>(threadIdx.x) + v];
        x[4 * v] = loaded.x, x[4 * v + 1] = loaded.y, x[4 * v + 2] = loaded.z, x[4 * v + 3] = loaded.w;
    }
    float sum[4] = {};
#pragma unroll
    for (int k = 0; k < Count; ++k)
#pragma unroll
        for (int e = 0; e < 4; ++e)
            sum[e] = fmaf(all_weights[k], x[4 * vectors_ahead + e + behind - k], sum[e]);
    if (first + threadIdx.x < vectors) to[first + threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

/// Twelve results a thread: vectors twelve floats apart are in different banks.
constexpr int each = 12, chunk = 256;

__global__ void __launch_bounds__(threads)
    any_width(float4* to, const float4* from, long long vectors, int count) {
    constexpr int staged = (threads * each + chunk) / 4 + 1;
    __shared__ float4 tile[staged];
    const int behind = count / 2;
    const long long first = static_cast<long long>(blockIdx.x) * threads * each;
    float sum[each] = {};
    for (int k0 = 0; k0 < count; k0 += chunk) {
        // Value j of the tile is from[lowest + j]; of result i and weight k: j = i + chunk - 1 - (k - k0) +
        // shift.
        const long long wanted = first + behind - k0 - (chunk - 1);
        const long long lowest = wanted >= 0 ? wanted / 4 : -((-wanted + 3) / 4);
        const int shift = static_cast<int>(wanted - 4 * lowest);
        __syncthreads();
        stage(tile, staged, from, lowest, vectors);
        __syncthreads();
        const float* const x = reinterpret_cast<const float*>(tile) + threadIdx.x * each + shift + chunk - 1;
        float value[each];
#pragma unroll
        for (int e = 1; e < each; ++e) value[e] = x[e];
        const int some = min(chunk, count - k0);
        int k = 0;
        for (; k + each <= some; k += each)
#pragma unroll
            for (int s = 0; s < each; ++s) {
                value[(each - s) % each] = x[-(k + s)];
#pragma unroll
                for (int e = 0; e < each; ++e)
                    sum[e] = fmaf(all_weights[k0 + k + s], value[(e + each - s) % each], sum[e]);
            }
        for (; k < some; ++k)
#pragma unroll
            for (int e = 0; e < each; ++e) sum[e] = fmaf(all_weights[k0 + k], x[e - k], sum[e]);
    }
    const long long vector = first / 4 + threadIdx.x * (each / 4);
#pragma unroll
    for (int v = 0; v < each / 4; ++v)
        if (vector + v < vectors)
            to[vector + v] = make_float4(sum[4 * v], sum[4 * v + 1], sum[4 * v + 2], sum[4 * v + 3]);
}

unsigned blocks_for(std::size_t n, std::size_t of_block) {
    return static_cast<unsigned>((n + of_block - 1) / of_block);
}

class work : public any_work {
public:
    work(std::size_t n, const float* weights, std::size_t count) : n_(n), count_(count) {
        std::vector<float> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = peer::convolved_value(i);
        for (float** memory : {&from_, &to_})
            check(cudaMalloc(reinterpret_cast<void**>(memory), n * sizeof(float)), "cudaMalloc");
        check(cudaMemcpy(from_, values.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemcpyToSymbol(all_weights, weights, count * sizeof(float)), "cudaMemcpyToSymbol");
    }
    ~work() override {
        for (float* memory : {from_, to_}) check(cudaFree(memory), "cudaFree");
    }
    void run() override {
        auto* const to = reinterpret_cast<float4*>(to_);
        const auto* const from = reinterpret_cast<const float4*>(from_);
        const auto vectors = static_cast<long long>(n_ / 4);
        if (count_ == 5)
            known_width<5><<<blocks_for(n_ / 4, threads), threads>>>(to, from, vectors);
        else if (count_ == 33)
            known_width<33><<<blocks_for(n_ / 4, threads), threads>>>(to, from, vectors);
        else
            any_width<<<blocks_for(n_, threads * each), threads>>>(to, from, vectors,
                                                                   static_cast<int>(count_));
    }
    void copy() override {
        check(cudaMemcpyAsync(to_, from_, n_ * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    }
    void read(float* to) {
        run();
        check(cudaMemcpy(to, to_, n_ * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }

private:
    std::size_t n_, count_;
    float* from_ = nullptr;
    float* to_ = nullptr;
};

void* make(std::size_t n, const float* weights, std::size_t count) {
    if (count > most_weights) return nullptr;
    return static_cast<any_work*>(new work(n, weights, count));
}
void read(void* made, float* to) { static_cast<work*>(static_cast<any_work*>(made))->read(to); }

constexpr peer::cuda_convolution_functions functions{make, any_work::functions(), read};

}  // namespace

extern "C" const peer::cuda_convolution_functions* peer_cuda_convolution_functions() { return &functions; }

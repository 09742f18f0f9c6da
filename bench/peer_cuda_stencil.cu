// Stencils with a cell a thread, which the caches serve, and with tiles in shared memory.

#include "peer_stencil.hpp"

namespace {

unsigned blocks_for(std::size_t n, unsigned size) { return static_cast<unsigned>((n + size - 1) / size); }

struct wave_cell {
    static constexpr int reach = 1;
    template <class At>
    __device__ static float of(const At& at, float other) {
        return 2.f * at(0, 0) - other + 0.1f * (at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1) - 4.f * at(0, 0));
    }
};
struct points25_cell {
    static constexpr int reach = 2;
    template <class At>
    __device__ static float of(const At& at, float) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 25; ++k) sum += 0.01f * static_cast<float>(k) * at(k / 5 - 2, k % 5 - 2);
        return sum;
    }
};

template <class Cell>
__global__ void cells(float* __restrict__ to, const float* __restrict__ from, const float* __restrict__ other,
                      int m) {
    const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + Cell::reach;
    const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) + Cell::reach;
    if (i >= m - Cell::reach || j >= m - Cell::reach) return;
    const auto at = [&](int y, int x) { return from[(i + y) * m + j + x]; };
    to[i * m + j] = Cell::of(at, other == nullptr ? 0.f : other[i * m + j]);
}

/// Blocks of 32 x 8 threads, 32 x 32 cells.
template <class Cell>
__global__ void tiles(float* __restrict__ to, const float* __restrict__ from, const float* __restrict__ other,
                      int m) {
    constexpr int size = 32, r = Cell::reach, side = size + 2 * r;
    __shared__ float tile[side][side];
    const int first_row = static_cast<int>(blockIdx.y) * size,
              first_column = static_cast<int>(blockIdx.x) * size;
    for (int k = static_cast<int>(threadIdx.y) * 32 + static_cast<int>(threadIdx.x); k < side * side;
         k += 256) {
        const int i = min(first_row + k / side, m - 1), j = min(first_column + k % side, m - 1);
        tile[k / side][k % side] = from[i * m + j];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < size; k += 8) {
        const int y = static_cast<int>(threadIdx.y) + k + r, x = static_cast<int>(threadIdx.x) + r;
        const int i = first_row + y, j = first_column + x;
        if (i >= m - r || j >= m - r) continue;
        const auto at = [&](int dy, int dx) { return tile[y + dy][x + dx]; };
        to[i * m + j] = Cell::of(at, other == nullptr ? 0.f : other[i * m + j]);
    }
}

__global__ void seven(float* __restrict__ to, const float* __restrict__ from, int m) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
    const int j = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) + 1;
    const int i = static_cast<int>(blockIdx.z) + 1;
    if (i >= m - 1 || j >= m - 1 || k >= m - 1) return;
    const float* const x = from + (i * m + j) * m + k;
    to[(i * m + j) * m + k] = x[-m * m] + x[m * m] + x[-m] + x[m] + x[-1] + x[1] - 6.f * x[0];
}
/// Blocks of 32 x 8 threads that walk along the planes; a plane is in shared memory, its neighbours are in
/// registers.
__global__ void seven_in_planes(float* __restrict__ to, const float* __restrict__ from, int m) {
    constexpr int planes = 32;
    __shared__ float plane[10][34];
    const int k = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x) + 1;
    const int j = static_cast<int>(blockIdx.y) * 8 + static_cast<int>(threadIdx.y) + 1;
    const int first = static_cast<int>(blockIdx.z) * planes + 1;
    const int y = static_cast<int>(threadIdx.y) + 1, x = static_cast<int>(threadIdx.x) + 1;
    const int row = min(j, m - 1), column = min(k, m - 1);
    const auto at = [&](int i, int dy, int dx) {
        return from[(i * m + min(row + dy, m - 1)) * m + min(column + dx, m - 1)];
    };
    float before = at(first - 1, 0, 0), now = at(first, 0, 0);
    for (int i = first; i < min(first + planes, m - 1); ++i) {
        const float after = at(i + 1, 0, 0);
        plane[y][x] = now;
        if (y == 1) plane[0][x] = at(i, -1, 0);
        if (y == 8) plane[9][x] = at(i, 1, 0);
        if (x == 1) plane[y][0] = at(i, 0, -1);
        if (x == 32) plane[y][33] = at(i, 0, 1);
        __syncthreads();
        if (j < m - 1 && k < m - 1)
            to[(i * m + j) * m + k] = before + after + plane[y - 1][x] + plane[y + 1][x] + plane[y][x - 1] +
                                      plane[y][x + 1] - 6.f * now;
        __syncthreads();
        before = now;
        now = after;
    }
}

template <class Cell>
void in_cells(float* to, const float* from, const float* other, std::size_t m) {
    cells<Cell>
        <<<dim3(blocks_for(m, 64), blocks_for(m, 4)), dim3(64, 4)>>>(to, from, other, static_cast<int>(m));
}
template <class Cell>
void in_tiles(float* to, const float* from, const float* other, std::size_t m) {
    tiles<Cell>
        <<<dim3(blocks_for(m, 32), blocks_for(m, 32)), dim3(32, 8)>>>(to, from, other, static_cast<int>(m));
}
void wave(float* to, const float* from, const float* other, std::size_t m) {
    in_cells<wave_cell>(to, from, other, m);
}
void points25(float* to, const float* from, const float*, std::size_t m) {
    in_cells<points25_cell>(to, from, nullptr, m);
}
void points7(float* to, const float* from, const float*, std::size_t m) {
    seven<<<dim3(blocks_for(m, 64), blocks_for(m, 4), static_cast<unsigned>(m)), dim3(64, 4)>>>(
        to, from, static_cast<int>(m));
}
void tiled_wave(float* to, const float* from, const float* other, std::size_t m) {
    in_tiles<wave_cell>(to, from, other, m);
}
void tiled_points25(float* to, const float* from, const float*, std::size_t m) {
    in_tiles<points25_cell>(to, from, nullptr, m);
}
void tiled_points7(float* to, const float* from, const float*, std::size_t m) {
    seven_in_planes<<<dim3(blocks_for(m, 32), blocks_for(m, 8), blocks_for(m, 32)), dim3(32, 8)>>>(
        to, from, static_cast<int>(m));
}

constexpr peer::stencil_functions of_cells{wave, points25, points7};
constexpr peer::stencil_functions of_tiles{tiled_wave, tiled_points25, tiled_points7};

}  // namespace

extern "C" const peer::stencil_functions* peer_cuda_stencils() { return &of_cells; }
extern "C" const peer::stencil_functions* peer_cuda_tiled_stencils() { return &of_tiles; }

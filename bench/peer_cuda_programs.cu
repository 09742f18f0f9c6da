// A thread takes four elements, with 16-byte accesses.

#include <algorithm>
#include <vector>

#include "peer_cuda_work.hpp"
#include "peer_program_steps.hpp"
#include "peer_programs.hpp"

namespace {

constexpr unsigned threads = 256;

/// Arrays of n floats.
struct arrays : any_work {
    arrays(std::size_t count, std::size_t size) : n(size) {
        for (std::size_t k = 0; k < count; ++k) {
            float* made = nullptr;
            check(cudaMalloc(&made, n * sizeof(float)), "cudaMalloc");
            const std::vector<float> values(n, 0.5f);
            check(cudaMemcpy(made, values.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
            all.push_back(made);
        }
    }
    ~arrays() override {
        for (float* each : all) cudaFree(each);
    }
    void copy() override { cudaMemcpyAsync(all[0], all[1], n * sizeof(float), cudaMemcpyDeviceToDevice); }
    unsigned groups() const { return static_cast<unsigned>((n / 4 + threads - 1) / threads); }

    std::size_t n;
    std::vector<float*> all;
};

struct slope_pointers {
    float* to[8];
};

template <bool Stores>
__global__ void step_pendulums(float* __restrict__ angle, float* __restrict__ speed, slope_pointers slopes,
                               std::size_t n) {
    const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    float4 a = *reinterpret_cast<const float4*>(angle + i), s = *reinterpret_cast<const float4*>(speed + i);
    float k[4][8];
    peer::step_pendulum(a.x, s.x, k[0]);
    peer::step_pendulum(a.y, s.y, k[1]);
    peer::step_pendulum(a.z, s.z, k[2]);
    peer::step_pendulum(a.w, s.w, k[3]);
    *reinterpret_cast<float4*>(angle + i) = a;
    *reinterpret_cast<float4*>(speed + i) = s;
    if (Stores)
        for (int j = 0; j < 8; ++j)
            *reinterpret_cast<float4*>(slopes.to[j] + i) = make_float4(k[0][j], k[1][j], k[2][j], k[3][j]);
}

struct pendulums final : arrays {
    pendulums(std::size_t size, bool with_slopes) : arrays(with_slopes ? 10 : 2, size), stores(with_slopes) {}
    void run() override {
        slope_pointers to{};
        for (std::size_t k = 2; k < all.size(); ++k) to.to[k - 2] = all[k];
        if (stores)
            step_pendulums<true><<<groups(), threads>>>(all[0], all[1], to, n);
        else
            step_pendulums<false><<<groups(), threads>>>(all[0], all[1], to, n);
    }
    bool stores;
};

__global__ void step_adam(float* __restrict__ p, const float* __restrict__ g, float* __restrict__ m,
                          float* __restrict__ v, std::size_t n) {
    const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    float4 a = *reinterpret_cast<const float4*>(p + i), b = *reinterpret_cast<const float4*>(m + i),
           c = *reinterpret_cast<const float4*>(v + i);
    const float4 d = *reinterpret_cast<const float4*>(g + i);
    peer::step_adam(a.x, d.x, b.x, c.x);
    peer::step_adam(a.y, d.y, b.y, c.y);
    peer::step_adam(a.z, d.z, b.z, c.z);
    peer::step_adam(a.w, d.w, b.w, c.w);
    *reinterpret_cast<float4*>(p + i) = a;
    *reinterpret_cast<float4*>(m + i) = b;
    *reinterpret_cast<float4*>(v + i) = c;
}

struct adam final : arrays {
    explicit adam(std::size_t size) : arrays(4, size) {}
    void run() override { step_adam<<<groups(), threads>>>(all[0], all[1], all[2], all[3], n); }
};

__global__ void average(const float* __restrict__ from, float* __restrict__ to, unsigned n) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 0.5f * (from[i] + from[i + 1 < n ? i + 1 : 0]);
}

/// What enqueue(stream) enqueues, as a graph.
class captured_graph {
public:
    template <class Enqueue>
    explicit captured_graph(const Enqueue& enqueue) {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        check(cudaStreamCreate(&stream), "cudaStreamCreate");
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
        enqueue(stream);
        check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    captured_graph(const captured_graph&) = delete;
    captured_graph& operator=(const captured_graph&) = delete;
    ~captured_graph() { cudaGraphExecDestroy(executable_); }
    void launch() const { check(cudaGraphLaunch(executable_, nullptr), "cudaGraphLaunch"); }

private:
    cudaGraphExec_t executable_ = nullptr;
};

struct averages final : arrays {
    averages(std::size_t size, int kernels)
        : arrays(2, size), graph([&](cudaStream_t stream) {
              const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
              for (int k = 0; k < kernels; ++k)
                  average<<<blocks, threads, 0, stream>>>(all[k % 2], all[1 - k % 2],
                                                          static_cast<unsigned>(n));
          }) {}
    void run() override { graph.launch(); }
    captured_graph graph;
};

/// The scalars of conjugate gradients: products of this step, and of the one before.
struct products {
    double pq, rho, next;
    unsigned done;
};

/// Adds a value of each thread to *sum; the last block of the grid calls last(total).
template <class Last>
__device__ void add_to(double* sum, unsigned* done, double value, const Last& last) {
    __shared__ double of_warp[threads / 32];
    for (int width = 16; width > 0; width /= 2) value += __shfl_down_sync(~0u, value, width);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x > 0) return;
    value = 0;
    for (double each : of_warp) value += each;
    atomicAdd(sum, value);
    __threadfence();
    if (atomicAdd(done, 1) + 1 != gridDim.x) return;
    *done = 0;
    last(atomicAdd(sum, 0.0));
}

__global__ void multiply(const double* __restrict__ p, double* __restrict__ q, products* s, unsigned n,
                         unsigned rows) {
    double own = 0;
    for (unsigned row = blockIdx.x * (threads / 32) + threadIdx.x / 32; row < rows;
         row += gridDim.x * (threads / 32)) {
        const unsigned y = row % n, z = row / n;
        for (unsigned x = threadIdx.x % 32; x < n; x += 32) {
            const std::size_t i = std::size_t{row} * n + x;
            const double value = peer::times_poisson(p, x, y, z, n);
            q[i] = value;
            own += p[i] * value;
        }
    }
    add_to(&s->pq, &s->done, own, [s](double) { s->next = 0; });
}
__global__ void advance(double* __restrict__ x, double* __restrict__ r, const double* __restrict__ p,
                        const double* __restrict__ q, products* s, std::size_t n) {
    const double alpha = s->rho / s->pq;
    double own = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n / 2;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const double2 by_p = reinterpret_cast<const double2*>(p)[i],
                      by_q = reinterpret_cast<const double2*>(q)[i];
        double2 at = reinterpret_cast<double2*>(x)[i], left = reinterpret_cast<double2*>(r)[i];
        at.x += alpha * by_p.x;
        at.y += alpha * by_p.y;
        left.x -= alpha * by_q.x;
        left.y -= alpha * by_q.y;
        reinterpret_cast<double2*>(x)[i] = at;
        reinterpret_cast<double2*>(r)[i] = left;
        own += left.x * left.x + left.y * left.y;
    }
    add_to(&s->next, &s->done, own, [s](double) { s->pq = 0; });
}
__global__ void turn(const double* __restrict__ r, double* __restrict__ p, products* s, std::size_t n) {
    const double beta = s->next / s->rho;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n / 2;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const double2 left = reinterpret_cast<const double2*>(r)[i];
        double2 along = reinterpret_cast<double2*>(p)[i];
        along.x = left.x + beta * along.x;
        along.y = left.y + beta * along.y;
        reinterpret_cast<double2*>(p)[i] = along;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&s->done, 1) + 1 != gridDim.x) return;
    s->done = 0;
    s->rho = s->next;
}

/// x, r, p and q, each of n * n * n doubles.
struct gradients final : arrays {
    explicit gradients(std::size_t side)
        : arrays(4, 2 * side * side * side), scalars(made(side)), graph([&](cudaStream_t stream) {
              const std::size_t count = side * side * side, rows = side * side;
              const auto blocks = [](std::size_t items) {
                  return static_cast<unsigned>(
                      std::min<std::size_t>((items + threads - 1) / threads, 132 * 8));
              };
              double* of[4];
              for (int k = 0; k < 4; ++k) of[k] = reinterpret_cast<double*>(all[static_cast<std::size_t>(k)]);
              multiply<<<blocks(rows * 32), threads, 0, stream>>>(
                  of[2], of[3], scalars, static_cast<unsigned>(side), static_cast<unsigned>(rows));
              advance<<<blocks(count / 2), threads, 0, stream>>>(of[0], of[1], of[2], of[3], scalars, count);
              turn<<<blocks(count / 2), threads, 0, stream>>>(of[1], of[2], scalars, count);
          }) {}
    ~gradients() override { cudaFree(scalars); }
    void run() override { graph.launch(); }

    static products* made(std::size_t side) {
        const products start{0, static_cast<double>(side * side * side), 0, 0};
        products* on_device = nullptr;
        check(cudaMalloc(&on_device, sizeof start), "cudaMalloc");
        check(cudaMemcpy(on_device, &start, sizeof start, cudaMemcpyHostToDevice), "cudaMemcpy");
        return on_device;
    }
    products* scalars;
    captured_graph graph;
};

template <int Lanes, class Combine>
__device__ float in_row(float value, const Combine& combine) {
    for (int width = Lanes / 2; width > 0; width /= 2)
        value = combine(value, __shfl_xor_sync(~0u, value, width));
    return value;
}

/// Neighbouring threads hold a row in registers.
template <int Columns, bool Normalises>
__global__ void of_rows(const float* __restrict__ x, float* __restrict__ y) {
    constexpr int lanes = Columns / 4 < 32 ? Columns / 4 : 32, each = Columns / lanes;
    const std::size_t row = (std::size_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const unsigned lane = threadIdx.x % lanes;
    const auto sum = [](float a, float b) { return a + b; };
    const auto greater = [](float a, float b) { return fmaxf(a, b); };
    float v[each];
#pragma unroll
    for (int k = 0; k < each / 4; ++k)
        reinterpret_cast<float4*>(v)[k] =
            reinterpret_cast<const float4*>(x + row * Columns)[lane + static_cast<unsigned>(k * lanes)];
    float first = v[0], second = 0;
#pragma unroll
    for (int k = 1; k < each; ++k) first = Normalises ? first + v[k] : fmaxf(first, v[k]);
    first = Normalises ? in_row<lanes>(first, sum) / Columns : in_row<lanes>(first, greater);
#pragma unroll
    for (int k = 0; k < each; ++k) {
        v[k] = Normalises ? v[k] - first : expf(v[k] - first);
        second += Normalises ? v[k] * v[k] : v[k];
    }
    second = in_row<lanes>(second, sum);
    const float scale = Normalises ? rsqrtf(second / Columns + peer::least_variance) : 1 / second;
#pragma unroll
    for (int k = 0; k < each; ++k) v[k] *= scale;
#pragma unroll
    for (int k = 0; k < each / 4; ++k)
        reinterpret_cast<float4*>(y + row * Columns)[lane + static_cast<unsigned>(k * lanes)] =
            reinterpret_cast<const float4*>(v)[k];
}

struct rows_work final : arrays {
    rows_work(std::size_t rows, std::size_t columns, bool normalised)
        : arrays(2, rows * columns), is_long(columns == 1024), normalises(normalised) {}
    void run() override {
        const auto kernel = is_long ? (normalises ? of_rows<1024, true> : of_rows<1024, false>)
                                    : (normalises ? of_rows<64, true> : of_rows<64, false>);
        const std::size_t held = is_long ? 32 : 4;  // floats of a thread
        kernel<<<static_cast<unsigned>(n / held / threads), threads>>>(all[0], all[1]);
    }
    bool is_long, normalises;
};

/// Adds an element's share of each column to `sums`: neighbouring threads take four columns each.
template <int Columns, class F>
__device__ void add_columns(const float* __restrict__ x, float* sums, std::size_t rows, const F& f) {
    constexpr unsigned lanes = Columns / 4, at_once = threads / lanes;
    __shared__ float4 of_thread[threads];
    const unsigned lane = threadIdx.x % lanes;
    float4 own = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (std::size_t row = std::size_t{blockIdx.x} * at_once + threadIdx.x / lanes; row < rows;
         row += std::size_t{gridDim.x} * at_once) {
        const float4 each = reinterpret_cast<const float4*>(x + row * Columns)[lane];
        own.x += f(4 * lane, each.x);
        own.y += f(4 * lane + 1, each.y);
        own.z += f(4 * lane + 2, each.z);
        own.w += f(4 * lane + 3, each.w);
    }
    of_thread[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x >= lanes) return;
    for (unsigned k = 1; k < at_once; ++k) {
        const float4 more = of_thread[k * lanes + lane];
        own.x += more.x;
        own.y += more.y;
        own.z += more.z;
        own.w += more.w;
    }
    atomicAdd(sums + 4 * lane, own.x);
    atomicAdd(sums + 4 * lane + 1, own.y);
    atomicAdd(sums + 4 * lane + 2, own.z);
    atomicAdd(sums + 4 * lane + 3, own.w);
}
/// sums: of the elements, then of the squares of their distances from the mean.
template <int Columns>
__global__ void add_elements(const float* __restrict__ x, float* sums, std::size_t rows) {
    add_columns<Columns>(x, sums, rows, [](unsigned, float each) { return each; });
}
template <int Columns>
__global__ void add_squares(const float* __restrict__ x, float* sums, std::size_t rows) {
    const float part = 1 / static_cast<float>(rows);
    const unsigned first = threadIdx.x % (Columns / 4) * 4;
    const float mean[4] = {sums[first] * part, sums[first + 1] * part, sums[first + 2] * part,
                           sums[first + 3] * part};
    add_columns<Columns>(x, sums + Columns, rows, [&](unsigned column, float each) {
        const float apart = each - mean[column % 4];
        return apart * apart;
    });
}
template <int Columns>
__global__ void standardise(const float* __restrict__ x, float* __restrict__ y, const float* sums,
                            std::size_t rows) {
    constexpr unsigned lanes = Columns / 4, at_once = threads / lanes;
    const float part = 1 / static_cast<float>(rows);
    const unsigned lane = threadIdx.x % lanes;
    float mean[4], scale[4];
    for (unsigned k = 0; k < 4; ++k) {
        mean[k] = sums[4 * lane + k] * part;
        scale[k] = rsqrtf(sums[Columns + 4 * lane + k] * part + peer::least_variance);
    }
    for (std::size_t row = std::size_t{blockIdx.x} * at_once + threadIdx.x / lanes; row < rows;
         row += std::size_t{gridDim.x} * at_once) {
        const float4 from = reinterpret_cast<const float4*>(x + row * Columns)[lane];
        reinterpret_cast<float4*>(y + row * Columns)[lane] =
            make_float4((from.x - mean[0]) * scale[0], (from.y - mean[1]) * scale[1],
                        (from.z - mean[2]) * scale[2], (from.w - mean[3]) * scale[3]);
    }
}

struct columns_work final : arrays {
    columns_work(std::size_t rows, std::size_t columns)
        : arrays(2, rows * columns), sums(made(columns)), graph([&](cudaStream_t stream) {
              if (columns == 64)
                  enqueue<64>(rows, stream);
              else
                  enqueue<1024>(rows, stream);
          }) {}
    ~columns_work() override { cudaFree(sums); }
    void run() override { graph.launch(); }

    static float* made(std::size_t columns) {
        float* on_device = nullptr;
        check(cudaMalloc(&on_device, 2 * columns * sizeof(float)), "cudaMalloc");
        return on_device;
    }
    template <int Columns>
    void enqueue(std::size_t rows, cudaStream_t stream) const {
        constexpr unsigned blocks = 132 * 8;
        cudaMemsetAsync(sums, 0, 2 * Columns * sizeof(float), stream);
        add_elements<Columns><<<blocks, threads, 0, stream>>>(all[0], sums, rows);
        add_squares<Columns><<<blocks, threads, 0, stream>>>(all[0], sums, rows);
        standardise<Columns><<<blocks, threads, 0, stream>>>(all[0], all[1], sums, rows);
    }
    float* sums;
    captured_graph graph;
};

/// A thread computes some points of a column, and keeps the two rows that it reads again.
__global__ void react(const float* __restrict__ u, const float* __restrict__ v, float* __restrict__ next_u,
                      float* __restrict__ next_v, unsigned n) {
    constexpr unsigned rows = 4;
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                   y0 = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (x >= n || y0 >= n) return;
    const unsigned left = x == 0 ? n - 1 : x - 1, right = x + 1 == n ? 0 : x + 1;
    const std::size_t before = std::size_t{y0 == 0 ? n - 1 : y0 - 1} * n + x;
    float up_u = u[before], up_v = v[before], at_u = u[std::size_t{y0} * n + x],
          at_v = v[std::size_t{y0} * n + x];
#pragma unroll
    for (unsigned y = y0; y < y0 + rows; ++y) {
        if (y >= n) return;
        const std::size_t row = std::size_t{y} * n, below = std::size_t{y + 1 == n ? 0 : y + 1} * n + x;
        const float down_u = u[below], down_v = v[below];
        peer::step_gray_scott(at_u, at_v, u[row + left] + u[row + right] + up_u + down_u,
                              v[row + left] + v[row + right] + up_v + down_v, next_u[row + x],
                              next_v[row + x]);
        up_u = at_u;
        up_v = at_v;
        at_u = down_u;
        at_v = down_v;
    }
}

struct gray_scott final : arrays {
    explicit gray_scott(std::size_t points)
        : arrays(4, points * points), side(static_cast<unsigned>(points)) {}
    void run() override {
        const dim3 items(128, 2), blocks((side + 127) / 128, (side + 7) / 8);
        react<<<blocks, items>>>(all[0], all[1], all[2], all[3], side);
        react<<<blocks, items>>>(all[2], all[3], all[0], all[1], side);
    }
    unsigned side;
};

void* make_columns(std::size_t rows, std::size_t columns) {
    return static_cast<any_work*>(new columns_work(rows, columns));
}
void* make_gray_scott(std::size_t n) { return static_cast<any_work*>(new gray_scott(n)); }
void* make_rows(std::size_t rows, std::size_t columns, bool normalises) {
    return static_cast<any_work*>(new rows_work(rows, columns, normalises));
}
void* make_pendulums(std::size_t n, bool stores) { return static_cast<any_work*>(new pendulums(n, stores)); }
void* make_adam(std::size_t n) { return static_cast<any_work*>(new adam(n)); }
void* make_averages(std::size_t n, int kernels) { return static_cast<any_work*>(new averages(n, kernels)); }

void* make_gradients(std::size_t n) { return static_cast<any_work*>(new gradients(n)); }

constexpr peer::program_functions functions{any_work::functions(), make_pendulums, make_adam,
                                            make_averages,         make_gradients, make_rows,
                                            make_columns,          make_gray_scott};

}  // namespace

extern "C" const peer::program_functions* peer_cuda_programs() { return &functions; }

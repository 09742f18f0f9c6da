// Compiled with -Ofast (CMakeLists.txt): the sines are libmvec's.

#include <algorithm>
#include <cmath>

#include "peer_program_steps.hpp"
#include "peer_programs.hpp"

namespace {

void pendulums(float* __restrict angle, float* __restrict speed, std::size_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
        float k[8];
        peer::step_pendulum(angle[i], speed[i], k);
    }
}

void stored_pendulums(float* __restrict angle, float* __restrict speed, float* __restrict slopes,
                      std::size_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
        float k[8];
        peer::step_pendulum(angle[i], speed[i], k);
        for (std::size_t j = 0; j < 8; ++j) slopes[j * n + i] = k[j];
    }
}

void adam(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v,
          std::size_t n) {
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < n; ++i) peer::step_adam(p[i], g[i], m[i], v[i]);
}

double gradients(double* __restrict x, double* __restrict r, double* __restrict p, double* __restrict q,
                 double rho, std::size_t n) {
    double pq = 0, next = 0;
#pragma omp parallel for schedule(static) reduction(+ : pq)
    for (std::size_t z = 0; z < n; ++z)
        for (std::size_t y = 0; y < n; ++y)
            for (std::size_t x0 = 0; x0 < n; ++x0) {
                const std::size_t i = (z * n + y) * n + x0;
                q[i] = peer::times_poisson(p, x0, y, z, n);
                pq += p[i] * q[i];
            }
    const double alpha = rho / pq;
#pragma omp parallel for simd schedule(static) reduction(+ : next)
    for (std::size_t i = 0; i < n * n * n; ++i) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        next += r[i] * r[i];
    }
    const double beta = next / rho;
#pragma omp parallel for simd schedule(static)
    for (std::size_t i = 0; i < n * n * n; ++i) p[i] = r[i] + beta * p[i];
    return next;
}

void softmax(const float* __restrict x, float* __restrict y, std::size_t rows, std::size_t columns) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < rows; ++k) {
        const float* const from = x + k * columns;
        float* const to = y + k * columns;
        float most = from[0], sum = 0;
#pragma omp simd reduction(max : most)
        for (std::size_t c = 0; c < columns; ++c) most = std::max(most, from[c]);
#pragma omp simd reduction(+ : sum)
        for (std::size_t c = 0; c < columns; ++c) sum += to[c] = std::exp(from[c] - most);
#pragma omp simd
        for (std::size_t c = 0; c < columns; ++c) to[c] /= sum;
    }
}

void normalise(const float* __restrict x, float* __restrict y, std::size_t rows, std::size_t columns) {
    const auto count = static_cast<float>(columns);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < rows; ++k) {
        const float* const from = x + k * columns;
        float* const to = y + k * columns;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t c = 0; c < columns; ++c) sum += from[c];
        const float mean = sum / count;
#pragma omp simd reduction(+ : squares)
        for (std::size_t c = 0; c < columns; ++c) squares += (from[c] - mean) * (from[c] - mean);
        const float scale = 1 / std::sqrt(squares / count + peer::least_variance);
#pragma omp simd
        for (std::size_t c = 0; c < columns; ++c) to[c] = (from[c] - mean) * scale;
    }
}

constexpr peer::openmp::programs all_loops{pendulums, stored_pendulums, adam, gradients, softmax, normalise};

}  // namespace

const peer::openmp::programs& peer::openmp::all_programs() { return all_loops; }

// Compiled with -Ofast (CMakeLists.txt): the sines are libmvec's.

#include <algorithm>
#include <cmath>
#include <vector>

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

/// Adds f(column's mean so far, element) of all rows to `to`.
template <class F>
void add_columns(const float* __restrict x, std::vector<float>& to, std::size_t rows, const F& f) {
    const std::size_t columns = to.size();
    float* const sums = to.data();
#pragma omp parallel for schedule(static) reduction(+ : sums[:columns])
    for (std::size_t k = 0; k < rows; ++k)
#pragma omp simd
        for (std::size_t c = 0; c < columns; ++c) sums[c] += f(c, x[k * columns + c]);
    for (float& each : to) each /= static_cast<float>(rows);
}

void standardise(const float* __restrict x, float* __restrict y, std::size_t rows, std::size_t columns) {
    std::vector<float> mean(columns), scale(columns);
    const float* const means = mean.data();
    add_columns(x, mean, rows, [](std::size_t, float each) { return each; });
    add_columns(x, scale, rows,
                [=](std::size_t c, float each) { return (each - means[c]) * (each - means[c]); });
    for (float& each : scale) each = 1 / std::sqrt(each + peer::least_variance);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < rows; ++k)
#pragma omp simd
        for (std::size_t c = 0; c < columns; ++c)
            y[k * columns + c] = (x[k * columns + c] - mean[c]) * scale[c];
}

void gray_scott(const float* __restrict u, const float* __restrict v, float* __restrict next_u,
                float* __restrict next_v, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t y = 0; y < n; ++y) {
        const std::size_t row = y * n, up = (y == 0 ? n - 1 : y - 1) * n, down = (y + 1 == n ? 0 : y + 1) * n;
        const auto step = [&](std::size_t x, std::size_t left, std::size_t right) {
            peer::step_gray_scott(
                u[row + x], v[row + x], u[row + left] + u[row + right] + u[up + x] + u[down + x],
                v[row + left] + v[row + right] + v[up + x] + v[down + x], next_u[row + x], next_v[row + x]);
        };
        step(0, n - 1, 1);
#pragma omp simd
        for (std::size_t x = 1; x < n - 1; ++x) step(x, x - 1, x + 1);
        step(n - 1, n - 2, 0);
    }
}

constexpr peer::openmp::programs all_loops{pendulums, stored_pendulums, adam,        gradients,
                                           softmax,   normalise,        standardise, gray_scott};

}  // namespace

const peer::openmp::programs& peer::openmp::all_programs() { return all_loops; }

// Compiled with -Ofast (CMakeLists.txt): the sines are libmvec's.

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

constexpr peer::openmp::programs all_loops{pendulums, stored_pendulums, adam, gradients};

}  // namespace

const peer::openmp::programs& peer::openmp::all_programs() { return all_loops; }

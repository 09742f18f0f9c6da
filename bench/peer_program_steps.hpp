#pragma once
// A step of each program for one element, on the host and in CUDA.

#include <cmath>

#ifdef __CUDACC__
#define PEER_FUNCTION __host__ __device__ inline
#else
#define PEER_FUNCTION inline
#endif

namespace peer {

constexpr float dt = 0.01f, learning_rate = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
/// Added to variances.
constexpr float least_variance = 1e-5f;

/// k: the four slopes of the angle, then those of the speed.
PEER_FUNCTION void step_pendulum(float& angle, float& speed, float k[8]) {
    k[0] = speed;
    k[4] = -sinf(angle);
    k[1] = speed + dt / 2 * k[4];
    k[5] = -sinf(angle + dt / 2 * k[0]);
    k[2] = speed + dt / 2 * k[5];
    k[6] = -sinf(angle + dt / 2 * k[1]);
    k[3] = speed + dt * k[6];
    k[7] = -sinf(angle + dt * k[2]);
    angle += dt / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]);
    speed += dt / 6 * (k[4] + 2 * k[5] + 2 * k[6] + k[7]);
}

PEER_FUNCTION void step_adam(float& p, float g, float& m, float& v) {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    p -= learning_rate * (m / 0.5f) / (sqrtf(v / 0.25f) + epsilon);
}

/// Row i of the seven-point matrix of Poisson's equation on n × n × n points, times p.
PEER_FUNCTION double times_poisson(const double* p, std::size_t x, std::size_t y, std::size_t z,
                                   std::size_t n) {
    const std::size_t i = (z * n + y) * n + x;
    double sum = 6 * p[i];
    if (x > 0) sum -= p[i - 1];
    if (x + 1 < n) sum -= p[i + 1];
    if (y > 0) sum -= p[i - n];
    if (y + 1 < n) sum -= p[i + n];
    if (z > 0) sum -= p[i - n * n];
    if (z + 1 < n) sum -= p[i + n * n];
    return sum;
}

/// The Gray-Scott reaction at one point, from the sums of the four neighbours.
constexpr float diffusion_u = 0.16f, diffusion_v = 0.08f, feed = 0.035f, kill = 0.06f;
PEER_FUNCTION void step_gray_scott(float u, float v, float around_u, float around_v, float& next_u,
                                   float& next_v) {
    const float reaction = u * v * v;
    next_u = u + diffusion_u * (around_u - 4 * u) - reaction + feed * (1 - u);
    next_v = v + diffusion_v * (around_v - 4 * v) + reaction - (feed + kill) * v;
}

}  // namespace peer

#undef PEER_FUNCTION

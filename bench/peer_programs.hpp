#pragma once
// Programs of statements, fused by hand.

#include <cstddef>

#include "peer_work.hpp"

namespace peer {

/// Steps on arrays of n floats, all but the slopes set to 0.5. `make_…` returns the work of one step, on the
/// device chosen by cuda_functions::select.
struct program_functions {
    cuda_work_functions work;
    /// The Runge-Kutta method of order 4 for pendulums; with `stores`, all eight slopes are stored.
    void* (*make_pendulums)(std::size_t n, bool stores);
    void* (*make_adam)(std::size_t n);
    /// A graph of kernels, each of which averages neighbours.
    void* (*make_averages)(std::size_t n, int kernels);
    /// A step of conjugate gradients with Poisson's matrix on n × n × n points: a graph of three kernels.
    void* (*make_gradients)(std::size_t n);
    /// Of each row of 64 or 1,024 columns the softmax, or, normalised, its distance from the mean in standard
    /// deviations.
    void* (*make_rows)(std::size_t rows, std::size_t columns, bool normalises);
    /// The distance of each column's elements from its mean, in standard deviations; 64 or 1,024 columns. A
    /// graph of three kernels.
    void* (*make_columns)(std::size_t rows, std::size_t columns);
    /// Two steps of the Gray-Scott reaction on n × n points, periodic: a kernel each.
    void* (*make_gray_scott)(std::size_t n);
};

/// `peer_cuda_programs` returns those of libpeer_cuda.so.

namespace openmp {

struct programs {
    void (*pendulums)(float* angle, float* speed, std::size_t n);
    /// slopes: eight arrays, one after the other
    void (*stored_pendulums)(float* angle, float* speed, float* slopes, std::size_t n);
    void (*adam)(float* p, const float* g, float* m, float* v, std::size_t n);
    /// Returns the square of the residual's length, which `rho` is before the step.
    double (*gradients)(double* x, double* r, double* p, double* q, double rho, std::size_t n);
    void (*softmax)(const float* x, float* y, std::size_t rows, std::size_t columns);
    void (*normalise)(const float* x, float* y, std::size_t rows, std::size_t columns);
    void (*standardise)(const float* x, float* y, std::size_t rows, std::size_t columns);
    /// From u and v to `next`, both n × n.
    void (*gray_scott)(const float* u, const float* v, float* next_u, float* next_v, std::size_t n);
};
const programs& all_programs();

}  // namespace openmp

}  // namespace peer

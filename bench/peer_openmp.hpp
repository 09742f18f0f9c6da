#pragma once
// The loops that a CPU programmer writes, compiled with -O3 -march=native.

#include <cstddef>

namespace peer::openmp {

/// Uninitialised memory, aligned to cache lines; its pages are touched by the threads that use them.
double* allocate(std::size_t n, double value);
void release(double*);

double sum_of_products(const double* x, const double* y, std::size_t n);

}  // namespace peer::openmp

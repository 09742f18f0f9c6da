#pragma once
// Hand-written CPU loops, compiled with -O3 -march=native.

#include <cstddef>

namespace peer::openmp {

/// Elements value + 1e-6 (i mod 1,000,003), aligned to pages, which the threads that use them touch first.
double* allocate(std::size_t n, double value);
void release(double*);

double sum_of_products(const double* x, const double* y, std::size_t n);

}  // namespace peer::openmp

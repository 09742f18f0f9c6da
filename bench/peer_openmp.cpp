#include "peer_openmp.hpp"

#include <cstdlib>
#include <new>

namespace peer::openmp {

double* allocate(std::size_t n, double value) {
    void* const memory = std::aligned_alloc(4096, (n * sizeof(double) + 4095) / 4096 * 4096);
    if (memory == nullptr) throw std::bad_alloc();
    auto* const elements = static_cast<double*>(memory);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) elements[i] = value + 1e-6 * static_cast<double>(i % 1000003);
    return elements;
}

void release(double* elements) { std::free(elements); }

double sum_of_products(const double* __restrict x, const double* __restrict y, std::size_t n) {
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

}  // namespace peer::openmp

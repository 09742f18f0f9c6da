#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "peer_reduce.hpp"

namespace peer::openmp {

template <class T>
T* numbers(std::size_t n, double value) {
    void* const memory = std::aligned_alloc(4096, (n * sizeof(T) + 4095) / 4096 * 4096);
    if (memory == nullptr) throw std::bad_alloc();
    auto* const elements = static_cast<T*>(memory);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i)
        elements[i] = static_cast<T>(value + 1e-6 * static_cast<double>(i % 1000003));
    return elements;
}

template <class T>
T dot(const T* __restrict x, const T* __restrict y, std::size_t n) {
    T sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

template <class T>
T most_of_abs(const T* x, std::size_t n) {
    T most = 0;
#pragma omp parallel for simd reduction(max : most) schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
        const T value = std::fabs(x[i]);
        most = value > most ? value : most;
    }
    return most;
}

template <class T>
T least_most_sum(const T* x, std::size_t n, T* least, T* most) {
    T low = std::numeric_limits<T>::infinity(), high = -low, sum = 0;
#pragma omp parallel for simd reduction(min : low) reduction(max : high) reduction(+ : sum) schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        sum += x[i];
    }
    *least = low;
    *most = high;
    return sum;
}

template float* numbers<float>(std::size_t, double);
template double* numbers<double>(std::size_t, double);
template float dot(const float*, const float*, std::size_t);
template double dot(const double*, const double*, std::size_t);
template float most_of_abs(const float*, std::size_t);
template double most_of_abs(const double*, std::size_t);
template float least_most_sum(const float*, std::size_t, float*, float*);
template double least_most_sum(const double*, std::size_t, double*, double*);

}  // namespace peer::openmp

#pragma once
// The loops of peer_openmp_elementwise.cpp and peer_openmp_fast.cpp, which include this file once each and
// differ in compiler flags.

#include <cmath>

#include "peer_elementwise.hpp"

namespace {

template <class T>
struct loops {
    static void set(T* a, T value, std::size_t n) {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < n; ++i) a[i] = value + T(1e-6) * static_cast<T>(i % 1000003);
    }
    static void add(const T* __restrict a, const T* __restrict b, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
    }
    static void twice_minus_sine(const T* __restrict a, const T* __restrict b, T* __restrict out,
                                 std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = 2 * a[i] - std::sin(b[i]);
    }
    static void polynomial(const T* __restrict a, const T* __restrict b, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = (a[i] - b[i]) * (a[i] + b[i]) / (1 + b[i] * b[i]);
    }
    static void exp(const T* __restrict a, const T* __restrict, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = std::exp(a[i]);
    }
    static void log(const T* __restrict a, const T* __restrict, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = std::log(a[i]);
    }
    static void sin(const T* __restrict a, const T* __restrict, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = std::sin(a[i]);
    }
    static void pow(const T* __restrict a, const T* __restrict b, T* __restrict out, std::size_t n) {
#pragma omp parallel for simd schedule(static)
        for (std::size_t i = 0; i < n; ++i) out[i] = std::pow(a[i], b[i]);
    }
    static constexpr peer::elementwise_functions<T> all{set, add, twice_minus_sine, polynomial, exp, log,
                                                        sin, pow};
};

constexpr peer::elementwise all_loops{loops<float>::all, loops<double>::all};

}  // namespace

#pragma once
// y += a * x for elements of 1 to 16 bytes, hand-written.

#include <complex>
#include <cstddef>
#include <cstdint>

namespace peer {

/// The bits of a half.
struct half_bits {
    std::uint16_t bits;
};

/// One function per element type, all asynchronous, on the device chosen by cuda_functions::select. The
/// product is computed in 32-bit integers for bytes, in f32 for halves.
struct axpy_functions {
    void (*i8)(std::int8_t* y, const std::int8_t* x, int a, std::size_t n);
    void (*f16)(half_bits* y, const half_bits* x, float a, std::size_t n);
    void (*f32)(float* y, const float* x, float a, std::size_t n);
    void (*f64)(double* y, const double* x, double a, std::size_t n);
    void (*c64)(std::complex<double>* y, const std::complex<double>* x, double a, std::size_t n);
};

/// `peer_cuda_axpy` returns those of libpeer_cuda.so. y and x need only the alignment of their elements.

}  // namespace peer

#pragma once
// Discrete Fourier transforms of a few numbers in registers, recorded into the kernel that is being traced.

#include <cstdint>
#include <vector>

#include "algorithm/fft/roots.hpp"
#include "balm/trace.hpp"

namespace balm::array {

/// A complex number in a kernel: two scalars, or two short vectors with one transform per lane.
struct complex_parts {
    trace::node re, im;
};
using complex_list = std::vector<complex_parts>;

complex_parts operator+(const complex_parts&, const complex_parts&);
complex_parts operator-(const complex_parts&, const complex_parts&);
/// (a c - b d, a d + b c), left to the compiler to contract. A scalar factor multiplies all lanes.
complex_parts operator*(const complex_parts&, const complex_parts& factor);
/// Exchanges the real and the imaginary part: a forward transform between two swaps is an inverse one.
complex_parts swapped(const complex_parts&);
complex_parts scaled(const complex_parts&, trace::node factor);

/// The transform of as many numbers: X[k] = Σ x[j] exp(-2 π i j k / n). Composite sizes are split (Cooley and
/// Tukey); odd primes p take (p - 1)² / 2 real multiply-adds, by the symmetry of the roots.
complex_list transformed(const complex_list& x);

/// The largest size that is worth transforming in registers.
inline constexpr int most_in_registers = 16;

}  // namespace balm::array

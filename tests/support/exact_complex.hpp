#pragma once
// Functions of complex numbers by MPFR, part by part: the reference where the host's long double is not
// enough.

#include <complex>
#include <cstdint>

namespace balm::test {

enum class complex_row : std::uint8_t {
    exp,
    log,
    log10,
    sqrt,
    sin,
    cos,
    tan,
    sinh,
    cosh,
    tanh,
    asin,
    acos,
    atan,
    asinh,
    acosh,
    atanh
};
inline constexpr int complex_rows = static_cast<int>(complex_row::atanh) + 1;
const char* name_of(complex_row);

/// The function of a number with finite parts. Each part has a relative error of an epsilon of long double.
/// On branch cuts the signs of zeros decide, as in C.
std::complex<long double> exact(complex_row, std::complex<long double> z);

/// The same, by the host's library: the reference of signs of zeros, infinities and NaN.
std::complex<long double> by_host(complex_row, std::complex<long double> z);

}  // namespace balm::test

#pragma once
// Hand-written element-wise statements for float and double: OpenMP loops and CUDA kernels.

#include <cstddef>

namespace peer {

/// One function per statement. Statements on one array take a second array, which they do not read, so that
/// all functions have the same type.
template <class T>
struct elementwise_functions {
    using statement = void (*)(const T* a, const T* b, T* out, std::size_t n);

    /// a[i] = value + 1e-6 (i mod 1,000,003)
    void (*set)(T* a, T value, std::size_t n);
    statement add;               ///< a + b
    statement twice_minus_sine;  ///< 2 a - sin(b)
    statement polynomial;        ///< (a - b) (a + b) / (1 + b b)
    statement exp, log, sin;     ///< of a
    statement pow;               ///< a to the power b
};

/// The functions of a module or a library.
struct elementwise {
    elementwise_functions<float> f32;
    elementwise_functions<double> f64;

    template <class T>
    const elementwise_functions<T>& of() const {
        if constexpr (sizeof(T) == 4)
            return f32;
        else
            return f64;
    }
};

/// `peer_cuda_elementwise` returns those of libpeer_cuda.so, which run asynchronously on the device chosen by
/// cuda_functions::select.

namespace openmp {

/// Compiled with -O3 -march=native.
const elementwise& exact_loops();
/// Compiled with -Ofast -march=native: exp, log, sin and pow are libmvec's, with errors of up to 4 units in
/// the last place.
const elementwise& fast_loops();

}  // namespace openmp

}  // namespace peer

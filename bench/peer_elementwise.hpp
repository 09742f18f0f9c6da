#pragma once
// Element-wise statements as one writes them by hand, for float and for double: OpenMP loops, and CUDA
// kernels.

#include <cstddef>

namespace peer {

/// One function a statement. Those that use one array take a second that they do not read, so that all have
/// one type.
template <class T>
struct elementwise_functions {
    using statement = void (*)(const T* a, const T* b, T* out, std::size_t n);

    /// a[i] = value + 1e-6 (i mod 1,000,003)
    void (*set)(T* a, T value, std::size_t n);
    statement add;               ///< a + b
    statement twice_minus_sine;  ///< 2 a - sin(b)
    statement polynomial;        ///< (a - b) (a + b) / (1 + b b)
    statement exp, log, sin;     ///< of a
    statement pow;               ///< a to the b
};

/// Those of a module or a library.
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

/// Those of libpeer_cuda.so are got with `peer_cuda_elementwise`, and run asynchronously on the device that
/// cuda_functions::select has chosen.

namespace openmp {

/// -O3 -march=native.
const elementwise& exact_loops();
/// -Ofast -march=native: exp, log, sin and pow are libmvec's, which are wrong in up to 4 units of the last
/// place.
const elementwise& fast_loops();

}  // namespace openmp

}  // namespace peer

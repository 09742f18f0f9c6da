#pragma once
// Hand-written accesses: strided, reversed, to neighbours, transposed, and at given positions.

#include <cstddef>
#include <cstdint>

namespace peer {

/// All arrays hold doubles; m x m matrices are row-major.
struct view_functions {
    /// to[i] = from[stride * i]
    void (*strided)(double* to, const double* from, std::size_t n, std::size_t stride);
    /// to[i] = from[n - 1 - i]
    void (*reversed)(double* to, const double* from, std::size_t n);
    /// The inner elements of `to` are the sums of the four neighbours in `from`.
    void (*neighbours)(double* to, const double* from, std::size_t m);
    void (*transpose)(double* to, const double* from, std::size_t m);
    /// Positions within 64 kB of each other, like the columns of a sparse matrix: at[i] = i / 8192 * 8192 +
    /// 2731 i % 8192.
    void (*positions)(std::int32_t* at, std::size_t n);
    /// to[i] = from[at[i]]
    void (*gather)(double* to, const double* from, const std::int32_t* at, std::size_t n);
};

namespace openmp {
extern const view_functions views;
}

/// `peer_cuda_views` returns that of libpeer_cuda.so.

}  // namespace peer

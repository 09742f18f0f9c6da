#pragma once
// Accesses with strides, by rows of blocks, across rows and at given positions, as one writes them by hand.

#include <cstddef>
#include <cstdint>

namespace peer {

/// All on doubles; m x m matrices row by row.
struct view_functions {
    /// to[i] = from[stride * i]
    void (*strided)(double* to, const double* from, std::size_t n, std::size_t stride);
    /// to[i] = from[n - 1 - i]
    void (*reversed)(double* to, const double* from, std::size_t n);
    /// The inner elements of `to` are the sums of the four neighbours in `from`.
    void (*neighbours)(double* to, const double* from, std::size_t m);
    void (*transpose)(double* to, const double* from, std::size_t m);
    /// Positions within 64 kB of each other, as the columns of a sparse matrix are: at[i] = i / 8192 * 8192 +
    /// 2731 i % 8192.
    void (*positions)(std::int32_t* at, std::size_t n);
    /// to[i] = from[at[i]]
    void (*gather)(double* to, const double* from, const std::int32_t* at, std::size_t n);
};

namespace openmp {
extern const view_functions views;
}

/// That of libpeer_cuda.so is got with `peer_cuda_views`.

}  // namespace peer

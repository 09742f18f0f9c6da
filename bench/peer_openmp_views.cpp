#include "peer_views.hpp"

namespace peer::openmp {

namespace {

void strided(double* __restrict to, const double* __restrict from, std::size_t n, std::size_t stride) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) to[i] = from[stride * i];
}

void reversed(double* __restrict to, const double* __restrict from, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) to[i] = from[n - 1 - i];
}

void neighbours(double* __restrict to, const double* __restrict from, std::size_t m) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 1; i < m - 1; ++i)
        for (std::size_t j = 1; j < m - 1; ++j)
            to[i * m + j] =
                from[(i - 1) * m + j] + from[(i + 1) * m + j] + from[i * m + j - 1] + from[i * m + j + 1];
}

void transpose(double* __restrict to, const double* __restrict from, std::size_t m) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j) to[i * m + j] = from[j * m + i];
}

void positions(std::int32_t* at, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::int32_t>(i / 8192 * 8192 + i * 2731 % 8192);
}

void gather(double* __restrict to, const double* __restrict from, const std::int32_t* __restrict at,
            std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) to[i] = from[at[i]];
}

}  // namespace

const view_functions views{strided, reversed, neighbours, transpose, positions, gather};

}  // namespace peer::openmp

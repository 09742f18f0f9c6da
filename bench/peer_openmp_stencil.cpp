#include "peer_stencil.hpp"

namespace peer::openmp {

namespace {

void wave(float* __restrict to, const float* __restrict from, const float* __restrict other, std::size_t m) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 1; i < m - 1; ++i)
        for (std::size_t j = 1; j < m - 1; ++j) {
            const float* const x = from + i * m + j;
            to[i * m + j] =
                2.f * x[0] - other[i * m + j] + 0.1f * (*(x - m) + x[m] + *(x - 1) + x[1] - 4.f * x[0]);
        }
}

void points25(float* __restrict to, const float* __restrict from, const float*, std::size_t m) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 2; i < m - 2; ++i)
        for (std::size_t j = 2; j < m - 2; ++j) {
            float sum = 0;
            for (std::size_t k = 0; k < 25; ++k)
                sum += 0.01f * static_cast<float>(k) * from[(i + k / 5 - 2) * m + j + k % 5 - 2];
            to[i * m + j] = sum;
        }
}

void points7(float* __restrict to, const float* __restrict from, const float*, std::size_t m) {
    const std::size_t plane = m * m;
#pragma omp parallel for schedule(static)
    for (std::size_t i = 1; i < m - 1; ++i)
        for (std::size_t j = 1; j < m - 1; ++j)
            for (std::size_t k = 1; k < m - 1; ++k) {
                const float* const x = from + (i * m + j) * m + k;
                to[(i * m + j) * m + k] =
                    *(x - plane) + x[plane] + *(x - m) + x[m] + *(x - 1) + x[1] - 6.f * x[0];
            }
}

}  // namespace

const stencil_functions stencils{wave, points25, points7};

}  // namespace peer::openmp

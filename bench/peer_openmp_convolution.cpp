#include <algorithm>
#include <cstdint>
#include <vector>

#include "peer_convolution.hpp"

namespace peer::openmp {

namespace {

/// Results whose neighbours are all inside.
template <std::size_t Count>
void inside(float* __restrict to, const float* __restrict from, std::size_t n, const float* weights) {
    for (std::size_t i = 0; i < n; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < Count; ++k) sum += weights[k] * from[i + Count - 1 - k];
        to[i] = sum;
    }
}
void inside(float* __restrict to, const float* __restrict from, std::size_t n, const float* weights,
            std::size_t count) {
    if (count == 5) return inside<5>(to, from, n, weights);
    if (count == 33) return inside<33>(to, from, n, weights);
    constexpr std::size_t pass = 8;
    std::fill(to, to + n, 0.f);
    std::size_t k = 0;
    for (; k + pass <= count; k += pass)
        for (std::size_t i = 0; i < n; ++i) {
            float sum = to[i];
            for (std::size_t s = 0; s < pass; ++s) sum += weights[k + s] * from[i + count - 1 - k - s];
            to[i] = sum;
        }
    for (; k < count; ++k)
        for (std::size_t i = 0; i < n; ++i) to[i] += weights[k] * from[i + count - 1 - k];
}

}  // namespace

void convolve(float* to, const float* from, std::size_t n, const float* weights, std::size_t count) {
    const std::size_t behind = count / 2, ahead = count - 1 - behind;
    const auto at_border = [&](std::size_t i) {
        float sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t at = i + behind - k;  // wraps around below 0
            if (at < n) sum += weights[k] * from[at];
        }
        to[i] = sum;
    };
    const std::size_t first = std::min(ahead, n), last = std::max(n - std::min(behind, n), first);
    constexpr std::size_t block = 2048;
    const std::size_t blocks = (last - first + block - 1) / block;
    for (std::size_t i = 0; i < first; ++i) at_border(i);
    for (std::size_t i = last; i < n; ++i) at_border(i);
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t i = first + b * block;
        inside(to + i, from + i - ahead, std::min(block, last - i), weights, count);
    }
}

}  // namespace peer::openmp

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "peer_random.hpp"

namespace peer::openmp {

namespace {

r123::Philox4x32::ctr_type block(std::uint64_t seed, std::size_t k) {
    const r123::Philox4x32::ctr_type counter = {
        {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(std::uint64_t{k} >> 32), 0, 0}};
    const r123::Philox4x32::key_type key = {
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    return r123::Philox4x32()(counter, key);
}

}  // namespace

void uniform(std::uint64_t seed, float* __restrict out, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < n / 4; ++k) {
        const auto words = block(seed, k);
        for (std::size_t w = 0; w < 4; ++w) out[4 * k + w] = static_cast<float>(words[w] >> 8) * 0x1p-24f;
    }
}

void normal(std::uint64_t seed, float* __restrict out, std::size_t n) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < n / 4; ++k) {
        const auto words = block(seed, k);
        for (std::size_t w = 0; w < 4; w += 2) {
            const float radius = std::sqrt(-2 * std::log(static_cast<float>(words[w]) * 0x1p-32f + 0x1p-33f));
            const float angle = static_cast<float>(words[w + 1]) * 0x1p-31f * std::numbers::pi_v<float>;
            out[4 * k + w] = radius * std::cos(angle);
            out[4 * k + w + 1] = radius * std::sin(angle);
        }
    }
}

}  // namespace peer::openmp

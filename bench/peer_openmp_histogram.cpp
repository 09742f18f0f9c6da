#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "peer_histogram.hpp"

namespace peer::openmp {

namespace {

/// Four tables per thread hide the store-to-load latency of a counter.
template <std::size_t Bins, class T, class F>
void count(const T* __restrict x, std::size_t n, std::int64_t* __restrict counts, const F& bin_of) {
    std::fill_n(counts, Bins, 0);
#pragma omp parallel
    {
        std::vector<std::array<std::uint32_t, Bins>> tables(4);
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < n / 4; ++i)
            for (std::size_t k = 0; k < 4; ++k) {
                const std::size_t bin = bin_of(x[4 * i + k]);
                if (bin < Bins) ++tables[k][bin];
            }
#pragma omp critical
        for (std::size_t k = 0; k < Bins; ++k)
            for (const auto& each : tables) counts[k] += each[k];
    }
    for (std::size_t i = n / 4 * 4; i < n; ++i) {
        const std::size_t bin = bin_of(x[i]);
        if (bin < Bins) ++counts[bin];
    }
}

}  // namespace

void histogram(const std::uint8_t* x, std::size_t n, std::int64_t* counts) {
    count<256>(x, n, counts, [](std::uint8_t each) { return std::size_t{each}; });
}
void histogram(const float* x, std::size_t n, std::int64_t* counts) {
    count<1024>(x, n, counts, [](float each) {
        return each >= 0 && each < 1 ? static_cast<std::size_t>(each * 1024) : std::size_t{1024};
    });
}

}  // namespace peer::openmp

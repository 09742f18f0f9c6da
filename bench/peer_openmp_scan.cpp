#include <omp.h>

#include <vector>

#include "peer_scan.hpp"

namespace peer::openmp {

template <class T>
void inclusive_scan(const T* __restrict from, T* __restrict to, std::size_t n) {
    std::vector<T> totals(static_cast<std::size_t>(omp_get_max_threads()) + 1);
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto own = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = n * own / threads, end = n * (own + 1) / threads;
        T total = 0;
#pragma omp simd reduction(+ : total)
        for (std::size_t i = begin; i < end; ++i) total += from[i];
        totals[own + 1] = total;
#pragma omp barrier
        T sum = 0;
        for (std::size_t k = 1; k <= own; ++k) sum += totals[k];
        for (std::size_t i = begin; i < end; ++i) to[i] = sum += from[i];
    }
}

template void inclusive_scan(const std::uint32_t*, std::uint32_t*, std::size_t);
template void inclusive_scan(const double*, double*, std::size_t);

}  // namespace peer::openmp

#include "peer_along.hpp"

#include <omp.h>

#include <algorithm>

namespace peer::openmp {

template <class T>
void sums_of_rows(const T* __restrict matrix, T* __restrict sums, std::size_t rows, std::size_t columns) {
    const bool is_by_rows = rows >= static_cast<std::size_t>(omp_get_max_threads());
#pragma omp parallel for schedule(static) if (is_by_rows)
    for (std::size_t i = 0; i < rows; ++i) {
        const T* const row = matrix + i * columns;
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t j = 0; j < columns; ++j) sum += row[j];
        sums[i] = sum;
    }
}

template <class T>
void sums_of_columns(const T* __restrict matrix, T* __restrict sums, std::size_t rows, std::size_t columns) {
    std::fill(sums, sums + columns, T(0));
    const auto add_row = [&](T* to, std::size_t i, std::size_t begin, std::size_t end) {
        const T* const row = matrix + i * columns;
#pragma omp simd
        for (std::size_t j = begin; j < end; ++j) to[j] += row[j];
    };
    // Each thread has some rows and sums of its own, the array reduction of OpenMP, which lie on its stack;
    // of wide matrices some columns.
    constexpr std::size_t wide = 16384;
    if (columns < wide) {
#pragma omp parallel for schedule(static) reduction(+ : sums[:columns])
        for (std::size_t i = 0; i < rows; ++i) add_row(sums, i, 0, columns);
    } else {
#pragma omp parallel
        {
            const auto threads = static_cast<std::size_t>(omp_get_num_threads());
            const auto thread = static_cast<std::size_t>(omp_get_thread_num());
            const std::size_t begin = columns * thread / threads, end = columns * (thread + 1) / threads;
            for (std::size_t i = 0; i < rows; ++i) add_row(sums, i, begin, end);
        }
    }
}

template void sums_of_rows<float>(const float*, float*, std::size_t, std::size_t);
template void sums_of_rows<double>(const double*, double*, std::size_t, std::size_t);
template void sums_of_columns<float>(const float*, float*, std::size_t, std::size_t);
template void sums_of_columns<double>(const double*, double*, std::size_t, std::size_t);

}  // namespace peer::openmp

#include "peer_along.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

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
    // Each thread has some rows and its own sums, the array reduction of OpenMP, which are on its stack; for
    // wide matrices it has some columns.
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

template <class T>
void scans_of_rows(const T* __restrict matrix, T* __restrict scans, std::size_t rows, std::size_t columns) {
    const auto scan = [&](std::size_t begin, std::size_t end, T sum) {
        for (std::size_t k = begin; k < end; ++k) scans[k] = sum += matrix[k];
    };
    if (rows >= static_cast<std::size_t>(omp_get_max_threads())) {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < rows; ++i) scan(i * columns, (i + 1) * columns, T(0));
        return;
    }
    std::vector<T> totals(static_cast<std::size_t>(omp_get_max_threads()));
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t row = i * columns;
#pragma omp parallel
        {
            const auto threads = static_cast<std::size_t>(omp_get_num_threads());
            const auto thread = static_cast<std::size_t>(omp_get_thread_num());
            const std::size_t begin = row + columns * thread / threads,
                              end = row + columns * (thread + 1) / threads;
            T total = 0;
#pragma omp simd reduction(+ : total)
            for (std::size_t k = begin; k < end; ++k) total += matrix[k];
            totals[thread] = total;
#pragma omp barrier
            T sum = 0;
            for (std::size_t k = 0; k < thread; ++k) sum += totals[k];
            scan(begin, end, sum);
        }
    }
}

template <class T>
void scans_of_columns(const T* __restrict matrix, T* __restrict scans, std::size_t rows,
                      std::size_t columns) {
    const auto threads_at_most = static_cast<std::size_t>(omp_get_max_threads());
    constexpr std::size_t wide = 512;  // elements of a strip
    if (columns >= wide * threads_at_most) {
        const std::size_t strips = (columns + wide - 1) / wide;
#pragma omp parallel for schedule(static)
        for (std::size_t s = 0; s < strips; ++s) {
            T sums[wide] = {};
            const std::size_t first = s * wide, width = std::min(columns - first, wide);
            for (std::size_t i = 0; i < rows; ++i) {
                const T* const from = matrix + i * columns + first;
                T* const to = scans + i * columns + first;
#pragma omp simd
                for (std::size_t j = 0; j < width; ++j) to[j] = sums[j] += from[j];
            }
        }
        return;
    }
    std::vector<std::vector<T>> totals(threads_at_most, std::vector<T>(columns));
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = rows * thread / threads, end = rows * (thread + 1) / threads;
        std::vector<T> sums(columns);
        for (std::size_t i = begin; i < end; ++i)
#pragma omp simd
            for (std::size_t j = 0; j < columns; ++j) sums[j] += matrix[i * columns + j];
        totals[thread] = sums;
#pragma omp barrier
        std::fill(sums.begin(), sums.end(), T(0));
        for (std::size_t k = 0; k < thread; ++k)
            for (std::size_t j = 0; j < columns; ++j) sums[j] += totals[k][j];
        for (std::size_t i = begin; i < end; ++i)
#pragma omp simd
            for (std::size_t j = 0; j < columns; ++j)
                scans[i * columns + j] = sums[j] += matrix[i * columns + j];
    }
}

template void scans_of_rows<float>(const float*, float*, std::size_t, std::size_t);
template void scans_of_rows<double>(const double*, double*, std::size_t, std::size_t);
template void scans_of_columns<float>(const float*, float*, std::size_t, std::size_t);
template void scans_of_columns<double>(const double*, double*, std::size_t, std::size_t);
template void sums_of_rows<float>(const float*, float*, std::size_t, std::size_t);
template void sums_of_rows<double>(const double*, double*, std::size_t, std::size_t);
template void sums_of_columns<float>(const float*, float*, std::size_t, std::size_t);
template void sums_of_columns<double>(const double*, double*, std::size_t, std::size_t);

}  // namespace peer::openmp

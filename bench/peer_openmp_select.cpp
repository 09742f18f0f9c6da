#include <omp.h>

#include <vector>

#include "peer_select.hpp"

namespace peer::openmp {

namespace {

/// Calls count(begin, end) for each thread's share, then move(begin, end, count of the shares before it, its
/// own count).
template <class Count, class Move>
std::size_t in_two_passes(std::size_t n, const Count& count, const Move& move) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(omp_get_max_threads()) + 1);
    std::size_t all = 0;
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        const auto own = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t begin = n * own / threads, end = n * (own + 1) / threads;
        counts[own + 1] = count(begin, end);
#pragma omp barrier
        std::size_t before = 0;
        for (std::size_t k = 1; k <= own; ++k) before += counts[k];
        move(begin, end, before, counts[own + 1]);
        if (own + 1 == threads) all = before + counts[own + 1];
    }
    return all;
}

}  // namespace

std::size_t copy_positive(const float* __restrict from, float* __restrict to, std::size_t n) {
    return in_two_passes(
        n,
        [=](std::size_t begin, std::size_t end) {
            std::size_t count = 0;
#pragma omp simd reduction(+ : count)
            for (std::size_t i = begin; i < end; ++i) count += from[i] > 0 ? 1 : 0;
            return count;
        },
        [=](std::size_t begin, std::size_t end, std::size_t place, std::size_t count) {
            const std::size_t limit = place + count;
            for (std::size_t i = begin; i < end && place < limit; ++i) {
                to[place] = from[i];
                place += from[i] > 0 ? 1 : 0;
            }
        });
}

std::size_t unique(const std::int32_t* __restrict from, std::int32_t* __restrict to, std::size_t n) {
    const auto begins = [=](std::size_t i) { return i == 0 || from[i] != from[i - 1]; };
    return in_two_passes(
        n,
        [=](std::size_t begin, std::size_t end) {
            std::size_t count = begin == 0 && end > 0 ? 1 : 0;
#pragma omp simd reduction(+ : count)
            for (std::size_t i = begin == 0 ? 1 : begin; i < end; ++i)
                count += from[i] != from[i - 1] ? 1 : 0;
            return count;
        },
        [=](std::size_t begin, std::size_t end, std::size_t place, std::size_t count) {
            const std::size_t limit = place + count;
            for (std::size_t i = begin; i < end && place < limit; ++i) {
                to[place] = from[i];
                place += begins(i) ? 1 : 0;
            }
        });
}

std::size_t reduce_by_key(const std::int32_t* __restrict keys, const float* __restrict values,
                          std::int32_t* __restrict to_keys, float* __restrict sums, std::size_t n) {
    const auto begins = [=](std::size_t i) { return i == 0 || keys[i] != keys[i - 1]; };
    return in_two_passes(
        n,
        [=](std::size_t begin, std::size_t end) {
            std::size_t count = begin == 0 && end > 0 ? 1 : 0;
#pragma omp simd reduction(+ : count)
            for (std::size_t i = begin == 0 ? 1 : begin; i < end; ++i)
                count += keys[i] != keys[i - 1] ? 1 : 0;
            return count;
        },
        [=](std::size_t begin, std::size_t end, std::size_t place, std::size_t) {
            std::size_t i = begin;
            while (i < end && !begins(i)) ++i;
            while (i < end) {
                const std::int32_t key = keys[i];
                float sum = values[i];
                for (++i; i < n && keys[i] == key; ++i) sum += values[i];
                to_keys[place] = key;
                sums[place++] = sum;
            }
        });
}

}  // namespace peer::openmp

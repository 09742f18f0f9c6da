#include <omp.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "peer_ordered.hpp"

namespace peer::openmp {

namespace {

/// How many of the first `count` merged elements come from `a`.
std::size_t merge_path(const std::uint32_t* a, const std::uint32_t* b, std::size_t n, std::size_t count) {
    std::size_t low = count > n ? count - n : 0, high = std::min(count, n);
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (b[count - 1 - middle] < a[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
/// Calls f(begin in a, end in a, begin in b, end in b) for the calling thread's share of the output.
template <class F>
void on_share_of_output(const std::uint32_t* a, const std::uint32_t* b, std::size_t n, const F& f) {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads()),
               own = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t begin = 2 * n * own / threads, end = 2 * n * (own + 1) / threads;
    const std::size_t first = merge_path(a, b, n, begin), last = merge_path(a, b, n, end);
    f(first, last, begin - first, end - last);
}

/// An output iterator that counts the stores.
struct counter {
    using iterator_category = std::output_iterator_tag;
    using value_type = void;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = void;
    std::size_t count = 0;
    counter& operator*() { return *this; }
    counter& operator++() { return ++count, *this; }
    counter operator++(int) { return ++*this; }
    void operator=(std::uint32_t) {}
};

template <class Operation>
std::size_t in_two_passes(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to, std::size_t n,
                          const Operation& combine) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(omp_get_max_threads()) + 1);
    std::size_t all = 0;
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads()),
                   own = static_cast<std::size_t>(omp_get_thread_num());
        const auto place_in_b = [&](std::size_t place) {
            if (place == 0) return std::size_t{0};
            if (place == n) return n;
            return static_cast<std::size_t>(std::lower_bound(b, b + n, a[place]) - b);
        };
        const std::size_t begin = n * own / threads, end = n * (own + 1) / threads;
        const std::size_t other = place_in_b(begin), other_end = place_in_b(end);
        counts[own + 1] = combine(a + begin, a + end, b + other, b + other_end, counter{}).count;
#pragma omp barrier
        std::size_t before = 0;
        for (std::size_t k = 1; k <= own; ++k) before += counts[k];
        combine(a + begin, a + end, b + other, b + other_end, to + before);
        if (own + 1 == threads) all = before + counts[own + 1];
    }
    return all;
}

}  // namespace

void merge(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to, std::size_t n) {
#pragma omp parallel
    on_share_of_output(a, b, n, [=](std::size_t i, std::size_t i_end, std::size_t j, std::size_t j_end) {
        std::merge(a + i, a + i_end, b + j, b + j_end, to + i + j);
    });
}

void merge_by_key(const std::uint32_t* a, const float* x, const std::uint32_t* b, const float* y,
                  std::uint32_t* to, float* z, std::size_t n) {
#pragma omp parallel
    on_share_of_output(a, b, n, [=](std::size_t i, std::size_t i_end, std::size_t j, std::size_t j_end) {
        for (std::size_t place = i + j; i < i_end || j < j_end; ++place) {
            const bool is_second = i == i_end || (j < j_end && b[j] < a[i]);
            to[place] = is_second ? b[j] : a[i];
            z[place] = is_second ? y[j] : x[i];
            (is_second ? j : i) += 1;
        }
    });
}

std::size_t set_union(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to, std::size_t n) {
    return in_two_passes(a, b, to, n, [](auto... each) { return std::set_union(each...); });
}
std::size_t set_intersection(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* to,
                             std::size_t n) {
    return in_two_passes(a, b, to, n, [](auto... each) { return std::set_intersection(each...); });
}

void top_k(const float* x, std::size_t n, std::size_t k, float* values) {
    std::vector<float> found(static_cast<std::size_t>(omp_get_max_threads()) * k);
#pragma omp parallel
    {
        const auto threads = static_cast<std::size_t>(omp_get_num_threads()),
                   own = static_cast<std::size_t>(omp_get_thread_num());
        std::partial_sort_copy(x + n * own / threads, x + n * (own + 1) / threads, found.data() + own * k,
                               found.data() + (own + 1) * k, std::greater<>());
    }
    std::partial_sort_copy(found.begin(), found.end(), values, values + k, std::greater<>());
}

}  // namespace peer::openmp

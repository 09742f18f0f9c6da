#include <omp.h>

#include <algorithm>
#include <vector>

#include "peer_spline.hpp"

namespace peer::openmp {

namespace {

template <class T>
struct located {
    std::size_t first;
    T along_x[4], along_y[4];
};

template <class T>
void basis(T t, T* to) {
    const T s = 1 - t, s2 = s * s, t2 = t * t;
    to[0] = s2 * s * T(1.0 / 6);
    to[1] = T(2.0 / 3) - t2 * (1 - T(0.5) * t);
    to[2] = T(2.0 / 3) - s2 * (1 - T(0.5) * s);
    to[3] = t2 * t * T(1.0 / 6);
}

template <class T>
located<T> locate(T x, T y, std::size_t cells) {
    const T u = x * static_cast<T>(cells), v = y * static_cast<T>(cells);
    const int last = static_cast<int>(cells) - 1;
    const int i = std::min(static_cast<int>(u), last), j = std::min(static_cast<int>(v), last);
    located<T> found;
    found.first = static_cast<std::size_t>(i) * (cells + 3) + static_cast<std::size_t>(j);
    basis(u - static_cast<T>(i), found.along_x);
    basis(v - static_cast<T>(j), found.along_y);
    return found;
}

template <class T>
T value_at(const T* lattice, T x, T y, std::size_t cells) {
    const located<T> at = locate(x, y, cells);
    T sum = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        const T* const row = lattice + at.first + k * (cells + 3);
        sum += at.along_x[k] * (at.along_y[0] * row[0] + at.along_y[1] * row[1] + at.along_y[2] * row[2] +
                                at.along_y[3] * row[3]);
    }
    return sum;
}

template <class T>
std::vector<T> refined(const std::vector<T>& coarse, std::size_t cells) {
    const std::size_t extent = cells + 3, coarse_extent = cells / 2 + 3;
    const auto weights = [](std::size_t i, T* w) {
        w[0] = i % 2 == 0 ? T(0.5) : T(0.125);
        w[1] = i % 2 == 0 ? T(0.5) : T(0.75);
        w[2] = i % 2 == 0 ? T(0) : T(0.125);
    };
    std::vector<T> fine(extent * extent);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < extent; ++i)
        for (std::size_t j = 0; j < extent; ++j) {
            T a[3], b[3], sum = 0;
            weights(i, a);
            weights(j, b);
            for (std::size_t k = 0; k < (i % 2 == 0 ? 2u : 3u); ++k)
                for (std::size_t l = 0; l < (j % 2 == 0 ? 2u : 3u); ++l)
                    sum += a[k] * b[l] * coarse[(i / 2 + k) * coarse_extent + j / 2 + l];
            fine[i * extent + j] = sum;
        }
    return fine;
}

}  // namespace

template <class T>
void evaluate_spline(T* to, const T* lattice, std::size_t cells, std::size_t n, const T* x, const T* y) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) to[i] = value_at(lattice, x[i], y[i], cells);
}

template <class T>
void fit_spline(T* lattice, int levels, std::size_t n, const T* x, const T* y, const T* values) {
    std::vector<T> control(16), left(values, values + n);
    for (int level = 0; level < levels; ++level) {
        const std::size_t cells = std::size_t{1} << level, extent = cells + 3, size = extent * extent;
        if (level > 0) control = refined(control, cells);
        const auto threads = static_cast<std::size_t>(omp_get_max_threads());
        std::vector<T> sums(threads * size), squares(threads * size);
#pragma omp parallel
        {
            const std::size_t own = static_cast<std::size_t>(omp_get_thread_num()) * size;
            T* const sum = sums.data() + own;
            T* const square = squares.data() + own;
#pragma omp for schedule(static)
            for (std::size_t p = 0; p < n; ++p) {
                const located<T> at = locate(x[p], y[p], cells);
                T all_x = 0, all_y = 0;
                for (std::size_t k = 0; k < 4; ++k) {
                    all_x += at.along_x[k] * at.along_x[k];
                    all_y += at.along_y[k] * at.along_y[k];
                }
                const T share = left[p] / (all_x * all_y);
                for (std::size_t k = 0; k < 4; ++k)
                    for (std::size_t l = 0; l < 4; ++l) {
                        const T w = at.along_x[k] * at.along_y[l], w2 = w * w;
                        const std::size_t c = at.first + k * extent + l;
                        sum[c] += w2 * w * share;
                        square[c] += w2;
                    }
            }
#pragma omp for schedule(static)
            for (std::size_t c = 0; c < size; ++c) {
                T all = 0, all_squares = 0;
                for (std::size_t t = 0; t < threads; ++t) {
                    all += sums[t * size + c];
                    all_squares += squares[t * size + c];
                }
                if (all_squares > 0) control[c] += all / all_squares;
            }
#pragma omp for schedule(static)
            for (std::size_t p = 0; p < n; ++p)
                left[p] = values[p] - value_at(control.data(), x[p], y[p], cells);
        }
    }
    std::copy(control.begin(), control.end(), lattice);
}

template void evaluate_spline(float*, const float*, std::size_t, std::size_t, const float*, const float*);
template void evaluate_spline(double*, const double*, std::size_t, std::size_t, const double*, const double*);
template void fit_spline(float*, int, std::size_t, const float*, const float*, const float*);
template void fit_spline(double*, int, std::size_t, const double*, const double*, const double*);

}  // namespace peer::openmp

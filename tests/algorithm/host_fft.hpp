#pragma once
// Fourier transforms on the host in long double, and what is compared with them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace balm::test {

using wide = std::complex<long double>;
using wide_list = std::vector<wide>;

/// By the definition for prime factors, by Cooley and Tukey otherwise.
inline wide_list transformed_on_host(const wide_list& x) {
    const std::size_t n = x.size();
    std::size_t p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (p * p > n) p = n;
    if (n <= 1) return x;
    const std::size_t m = n / p;
    wide_list made(n);
    std::vector<wide_list> parts;
    for (std::size_t i = 0; i < p; ++i) {
        wide_list part;
        for (std::size_t j = 0; j < m; ++j) part.push_back(x[j * p + i]);
        parts.push_back(m > 1 ? transformed_on_host(part) : part);
    }
    constexpr long double two_pi = 6.283185307179586476925286766559005768L;
    wide_list roots;
    for (std::size_t k = 0; k < n; ++k)
        roots.push_back(
            std::polar(1.0L, -two_pi * static_cast<long double>(k) / static_cast<long double>(n)));
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < p; ++i) made[k] += parts[i][k % m] * roots[i * k % n];
    return made;
}
/// Along one dimension of an array.
inline void transform_lines_on_host(wide_list& x, std::size_t n, std::size_t inner) {
    for (std::size_t first = 0; first < x.size(); ++first) {
        if (first / inner % n != 0) continue;
        wide_list line(n);
        for (std::size_t k = 0; k < n; ++k) line[k] = x[first + k * inner];
        line = transformed_on_host(line);
        for (std::size_t k = 0; k < n; ++k) x[first + k * inner] = line[k];
    }
}

template <class T>
std::vector<std::complex<T>> random_numbers(std::mt19937_64& random, std::size_t n) {
    std::uniform_real_distribution<T> draw(-1, 1);
    std::vector<std::complex<T>> made(n);
    for (auto& each : made) each = {draw(random), draw(random)};
    return made;
}
template <class T>
std::vector<T> random_reals(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made;
    for (const auto& each : random_numbers<T>(random, n)) made.push_back(each.real());
    return made;
}
template <class T>
wide_list widened(const T& x) {
    wide_list made;
    for (const auto& each : x) made.push_back(wide(each));
    return made;
}

/// The L2 error in terms of the result, over the type's epsilon and the square root of the levels.
template <class T, class R>
long double error_of(const R& got, const wide_list& wanted) {
    long double error = 0, size = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        error += std::norm(wide(got[k]) - wanted[k]);
        size += std::norm(wanted[k]);
    }
    const auto levels = std::log2(static_cast<long double>(std::max<std::size_t>(wanted.size(), 2)));
    return std::sqrt(error / size / levels) / std::numeric_limits<T>::epsilon();
}
constexpr long double most_error = 0.6L;
constexpr long double most_error_of_convolution = 1.5L;
template <class T, class R>
void expect_near(const R& got, const wide_list& wanted, long double most) {
    ASSERT_EQ(got.size(), wanted.size());
    EXPECT_LT((error_of<T>(got, wanted)), most);
}

}  // namespace balm::test

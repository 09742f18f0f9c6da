// Fourier transforms against the host's in long double.

#include "balm/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/fft/roots.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using wide = std::complex<long double>;
using wide_list = std::vector<wide>;

/// By the definition for prime factors, by Cooley and Tukey otherwise.
wide_list transformed_on_host(const wide_list& x) {
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

template <class T>
std::vector<std::complex<T>> random_numbers(std::mt19937_64& random, std::size_t n) {
    std::uniform_real_distribution<T> draw(-1, 1);
    std::vector<std::complex<T>> made(n);
    for (auto& each : made) each = {draw(random), draw(random)};
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

template <class T>
void transforms(const context& ctx, std::mt19937_64& random, std::size_t n, long double most = most_error) {
    SCOPED_TRACE("a transform of " + std::to_string(n));
    const auto x = random_numbers<T>(random, n);
    const vector<std::complex<T>> v(ctx, x);
    vector<std::complex<T>> y = fft(v);
    const wide_list wanted = transformed_on_host(widened(x));
    expect_near<T>(y.to_host(), wanted, most);
    y = ifft(y);
    expect_near<T>(y.to_host(), widened(x), 2 * most);
}

TEST(V13_fft, of_sizes_that_one_pass_does) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (const std::size_t n : {1u, 2u, 16u, 60u, 1001u}) transforms<float>(ctx, random, n);
        for (const std::size_t n : {8u, 143u, 4096u}) transforms<double>(ctx, random, n);
    });
}

struct forced_transforms {
    explicit forced_transforms(array::forced_fft asked) : how(asked) { array::force_ffts(&how); }
    forced_transforms(const forced_transforms&) = delete;
    forced_transforms& operator=(const forced_transforms&) = delete;
    ~forced_transforms() { array::force_ffts(nullptr); }
    const array::forced_fft how;
};

TEST(V13_fft, of_sizes_that_one_pass_of_a_gpu_does) {
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    auto random = seeded_random();
    const context ctx{filter::cpu};
    const forced_transforms held({array::fft_shape::tile_a_group, {}});
    for (const std::size_t n : {1u, 2u, 16u, 60u, 1001u}) transforms<float>(ctx, random, n);
    for (const std::size_t n : {8u, 143u, 4096u}) transforms<double>(ctx, random, n);
}

TEST(V13_fft, of_sizes_of_several_passes) {
    auto random = seeded_random();
    const auto run = [&](const context& ctx) {
        for (const std::size_t n : {64u, 96u, 1331u, 512u}) transforms<float>(ctx, random, n);
        for (const std::size_t n : {17u, 101u}) transforms<double>(ctx, random, n, most_error_of_convolution);
    };
    const array::fft_limits small{16, 16, 16};
    on_all_contexts([&](const context& ctx) {
        const forced_transforms held({array::fft_shape::lines_an_item, small});
        run(ctx);
    });
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    const forced_transforms held({array::fft_shape::tile_a_group, small});
    run(ctx);
}

}  // namespace

}  // namespace balm::test

// Fourier transforms against the host's in long double.

#include "balm/fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/fft/roots.hpp"
#include "algorithm/host_fft.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

template <class T>
void transforms(const context& ctx, std::mt19937_64& random, std::size_t n, long double most = most_error) {
    SCOPED_TRACE("a transform of " + std::to_string(n));
    const auto x = random_numbers<T>(random, n);
    const vector<std::complex<T>> v(ctx, x);
    vector<std::complex<T>> y = fft(v);
    expect_near<T>(y.to_host(), transformed_on_host(widened(x)), most);
}
template <class T>
void transforms_back(const context& ctx, std::mt19937_64& random, std::size_t n) {
    SCOPED_TRACE("there and back, of " + std::to_string(n));
    const auto x = random_numbers<T>(random, n);
    vector<std::complex<T>> y(ctx, x);
    y = fft(y);
    y = ifft(y);
    expect_near<T>(y.to_host(), widened(x), 2 * most_error);
}
/// Sizes with a larger prime factor are convolutions, whose errors are larger.
long double most_error_of(std::size_t n) {
    for (const std::size_t p : {2u, 3u, 5u, 7u, 11u, 13u})
        while (n % p == 0) n /= p;
    return n == 1 ? most_error : most_error_of_convolution;
}

struct forced_transforms {
    explicit forced_transforms(array::forced_fft asked) : how(asked) { array::force_ffts(&how); }
    forced_transforms(const forced_transforms&) = delete;
    forced_transforms& operator=(const forced_transforms&) = delete;
    ~forced_transforms() { array::force_ffts(nullptr); }
    const array::forced_fft how;
};
/// So few numbers a pass that small sizes take several.
constexpr array::fft_limits small_passes{16, 16, 16};
/// Runs the body on every context, and on a CPU as GPUs do it.
template <class Body>
void in_all_fft_shapes(const array::fft_limits& limits, Body&& body) {
    const array::fft_shape shapes[] = {array::fft_shape::lines_an_item, array::fft_shape::tile_a_group};
    on_all_contexts([&](const context& ctx) {
        const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
        for (const array::fft_shape each : shapes) {
            if (!on_cpu && each == array::fft_shape::lines_an_item) continue;
            SCOPED_TRACE(each == array::fft_shape::lines_an_item ? "lines an item" : "a tile a group");
            const forced_transforms held({each, limits});
            body(ctx);
        }
    });
}

TEST(V13_fft, roots_are_exact_in_all_octants) {
    EXPECT_EQ(array::root_of_unity(0, 12).re, 1);
    EXPECT_EQ(array::root_of_unity(0, 12).im, 0);
    for (const std::uint64_t n : {8u, 12u, 1000u, 4096u, 1000003u})
        for (std::uint64_t k = 0; k < n; k += 1 + n / 97) {
            const array::wide_complex at = array::root_of_unity(k, n);
            const auto one = std::polar(1.0L, -6.283185307179586476925286766559005768L *
                                                  static_cast<long double>(k) / static_cast<long double>(n));
            EXPECT_NEAR(static_cast<double>(at.re - one.real()), 0, 1e-18);
            EXPECT_NEAR(static_cast<double>(at.im - one.imag()), 0, 1e-18);
            const array::wide_complex other = array::root_of_unity(n - k, n);
            EXPECT_EQ(at.re, other.re);
            EXPECT_EQ(at.im, -other.im);
        }
    const array::wide_complex quarter = array::root_of_unity(3, 12), diagonal = array::root_of_unity(1, 8);
    EXPECT_EQ(quarter.re, 0);
    EXPECT_EQ(quarter.im, -1);
    EXPECT_EQ(diagonal.re, -diagonal.im);
}

TEST(V13_fft, sizes_are_divided_into_few_passes) {
    using lengths = std::vector<std::size_t>;
    const array::fft_limits usual;
    EXPECT_EQ(array::pass_lengths(4096, usual), lengths{4096});
    EXPECT_EQ(array::pass_lengths(1 << 20, usual), (lengths{1024, 1024}));
    EXPECT_EQ(array::pass_lengths(1000000, usual), (lengths{1000, 1000}));
    EXPECT_EQ(array::pass_lengths(1 << 24, usual), (lengths{256, 256, 256}));
    EXPECT_EQ(array::pass_lengths(17, usual), lengths{});
    EXPECT_EQ(array::radices_of(1024, 16), (std::vector<int>{16, 8, 8}));
    EXPECT_EQ(array::radices_of(1, 16), (std::vector<int>{1}));
    for (std::size_t n = 1; n < 3000; ++n) {
        const std::size_t length = array::convolution_length(n, usual);
        EXPECT_GE(length, 2 * n - 1);
        EXPECT_FALSE(array::pass_lengths(length, usual).empty());
        std::size_t product = 1;
        for (const std::size_t each : array::pass_lengths(n, usual)) product *= each;
        EXPECT_TRUE(product == n || array::pass_lengths(n, usual).empty()) << n;
    }
}

TEST(V13_fft, of_any_small_size) {
    auto random = seeded_random();
    in_all_fft_shapes({}, [&](const context& ctx) {
        for (const std::size_t n : {1u, 60u}) transforms<float>(ctx, random, n);
        transforms<double>(ctx, random, 143);
    });
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1 + below(random, 300);
        transforms<float>(ctx, random, n, most_error_of(n));
    });
}

TEST(V13_fft, of_several_passes_and_by_convolution) {
    auto random = seeded_random();
    in_all_fft_shapes(small_passes, [&](const context& ctx) {
        constexpr std::size_t n = 17, columns = 3;
        const auto x = random_numbers<double>(random, n * columns);
        vector<std::complex<double>> y(ctx, x);
        y = fft(view(y, {n, columns}), along(0));
        wide_list wanted = widened(x);
        transform_lines_on_host(wanted, n, columns);
        expect_near<double>(y.to_host(), wanted, most_error_of_convolution);
    });
    on_all_contexts([&](const context& ctx) {
        const forced_transforms held({array::fft_shape::lines_an_item, small_passes});
        transforms_back<float>(ctx, random, 64);
    });
    if (!has_cpu()) return;
    const forced_transforms held({array::fft_shape::tile_a_group, small_passes});
    transforms<float>(context{filter::cpu}, random, 1331);
}

// CPUs transform many rows with one kernel, whose work-items compute both passes of a row.
TEST(V13_fft, of_many_rows_in_two_passes) {
    auto random = seeded_random();
    const auto transforms_rows = [&]<class T>(const context& ctx, std::size_t n, T) {
        const device_info& on = ctx.device(0).info();
        const std::size_t rows = (on.type == device_type::cpu ? 4 * on.compute_units : 8) + below(random, 5);
        SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(n));
        const auto x = random_numbers<T>(random, rows * n);
        wide_list wanted = widened(x);
        transform_lines_on_host(wanted, n, 1);
        const long double most = most_error_of(n);
        const vector<std::complex<T>> from(ctx, x);
        vector<std::complex<T>> y(ctx, x);
        y = fft(view(y, {rows, n}), along(1));
        expect_near<T>(y.to_host(), wanted, most);
        y = fft(view(from, {rows, n}), along(1));
        expect_near<T>(y.to_host(), wanted, most);
        y = T(0.5) * ifft(view(2 * y, {rows, n}), along(1));
        expect_near<T>(y.to_host(), widened(x), 2 * most);
    };
    // Rows of the target are replaced before others are read.
    const auto transforms_columns_into_rows = [&](const context& ctx) {
        constexpr std::size_t n = 96;
        const auto x = random_numbers<double>(random, n * n);
        const wide_list from = widened(x);
        wide_list wanted(n * n);
        for (std::size_t k = 0; k < n * n; ++k) wanted[k] = from[k % n * n + k / n];
        transform_lines_on_host(wanted, n, 1);
        vector<std::complex<double>> y(ctx, x);
        y = fft(view(y, {n, n}).transpose(), along(1));
        expect_near<double>(y.to_host(), wanted, most_error);
    };
    on_all_contexts([&](const context& ctx) {
        const bool is_cpu = ctx.device(0).info().type == device_type::cpu;
        if (is_cpu) {
            const forced_transforms held({array::fft_shape::lines_an_item, small_passes});
            constexpr std::size_t lengths[] = {17, 32, 60, 91, 143, 169, 240, 256};
            transforms_columns_into_rows(ctx);
            for (int turn = 0; turn < 3; ++turn) {
                transforms_rows(ctx, lengths[below(random, std::size(lengths))], float{});
                transforms_rows(ctx, lengths[below(random, std::size(lengths))], double{});
            }
        }
        transforms_rows(ctx, 512, float{});
        transforms_rows(ctx, 1000, double{});
        if (!is_cpu) return;
        const std::size_t rows = 4 * ctx.device(0).info().compute_units;
        const vector<std::complex<float>> x(ctx, rows * 512);
        EXPECT_THAT(describe_fft(view(x, {rows, 512}), along(1)), HasSubstr("one kernel for both passes"));
    });
}

TEST(V13_fft, of_large_sizes) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        transforms<double>(ctx, random, 1 << 16);
        // A prime: of some waves, each of which is one peak.
        constexpr std::size_t n = 10007;
        std::vector<std::complex<float>> x(n);
        wide_list wanted(n);
        for (int wave = 0; wave < 3; ++wave) {
            const std::size_t k = below(random, n);
            wanted[k] += static_cast<long double>(n);
            for (std::size_t j = 0; j < n; ++j) {
                const array::wide_complex root = array::root_of_unity(n - j * k % n, n);
                x[j] += std::complex<float>(static_cast<float>(root.re), static_cast<float>(root.im));
            }
        }
        vector<std::complex<float>> y(ctx, x);
        y = fft(y);
        expect_near<float>(y.to_host(), wanted, most_error_of_convolution);
    });
}

TEST(V13_fft, of_expressions_in_place_and_of_numbers_elsewhere) {
    auto random = seeded_random();
    constexpr std::size_t n = 64;
    const auto run = [&](const context& ctx) {
        const auto x = random_numbers<float>(random, n), k = random_numbers<float>(random, n);
        std::vector<float> real(n);
        for (std::size_t i = 0; i < n; ++i) real[i] = x[i].real();
        const vector<float> f(ctx, real);
        const vector<std::complex<float>> factors(ctx, k);
        vector<std::complex<float>> u(ctx, n);
        u = ifft(factors * fft(f));
        wide_list wanted = transformed_on_host(widened(real));
        for (std::size_t i = 0; i < n; ++i) wanted[i] = std::conj(wanted[i] * wide(k[i]));
        wanted = transformed_on_host(wanted);
        for (wide& each : wanted) each = std::conj(each) / static_cast<long double>(n);
        expect_near<float>(u.to_host(), wanted, 2 * most_error);

        vector<std::complex<float>> y(ctx, x);
        y = fft(y[n - 1 - element_index(0, n)]);
        expect_near<float>(y.to_host(), transformed_on_host(widened(decltype(x)(x.rbegin(), x.rend()))),
                           most_error);
        const vector<std::complex<float>> v(ctx, x);
        const vector<std::complex<float>> sum = fft(v) + fft(factors), of_sum = fft(v + factors);
        expect_near<float>(sum.to_host(), widened(of_sum.to_host()), 2 * most_error);
    };
    on_all_contexts(run);
}

TEST(V13_fft, in_place_copies_nothing_where_a_dimension_has_one_element) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        const context ctx({on});
        const auto x = random_numbers<float>(random, 8 * 16);
        vector<std::complex<float>> y(ctx, x), z(ctx, x);
        z = fft(view(z, {8, 16}));
        y = fft(view(y, {1, 8, 16}), along(1, 2));  // makes tables
        y = x;
        const profiler observed(on);
        y = fft(view(y, {1, 8, 16}), along(1, 2));
        on.finish();
        for (const profiled_command& each : observed.commands())
            EXPECT_THAT(each.name, testing::StartsWith("fft")) << each.count;
        EXPECT_EQ(y.to_host(), z.to_host());
    });
}

TEST(V13_fft, along_dimensions) {
    auto random = seeded_random();
    constexpr std::size_t planes = 3, rows = 12, columns = 20;
    in_all_fft_shapes({}, [&](const context& ctx) {
        const auto x = random_numbers<float>(random, planes * rows * columns);
        vector<std::complex<float>> v(ctx, x), y(ctx, x.size());
        const auto box = view(v, {planes, rows, columns});
        wide_list wanted = widened(x);
        transform_lines_on_host(wanted, columns, 1);
        y = fft(box, along(2));
        expect_near<float>(y.to_host(), wanted, most_error);
        transform_lines_on_host(wanted, rows, columns);
        y = fft(box, along(1, 2));
        expect_near<float>(y.to_host(), wanted, most_error);
        transform_lines_on_host(wanted, planes, rows * columns);
        y = fft(box);
        expect_near<float>(y.to_host(), wanted, most_error);
        y = ifft(view(y, {planes, rows, columns}));
        expect_near<float>(y.to_host(), widened(x), 2 * most_error);
    });
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t n = 8, m = 3;
        const auto x = random_numbers<float>(random, n * m);
        const vector<std::complex<float>> v(ctx, x);
        const vector<std::complex<float>> y = fft(view(v, {n, m}).transpose(), along(1));
        wide_list wanted = widened(x), turned(n * m);
        transform_lines_on_host(wanted, n, m);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < m; ++k) turned[k * n + i] = wanted[i * m + k];
        expect_near<float>(y.to_host(), turned, most_error);
    });
}

/// Of rows of n, along both dimensions or columns alone.
void transforms_reals(const context& ctx, std::mt19937_64& random, std::size_t rows, std::size_t n,
                      bool of_columns) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(n) + (of_columns ? ", columns" : ""));
    const auto x = random_reals<double>(random, rows * n);
    const vector<double> v(ctx, x);
    const array::dimension_list over = of_columns ? along(0) : array::dimension_list{};
    const vector<std::complex<double>> y = rfft(view(v, {rows, n}), over);
    wide_list all = widened(x), wanted;
    if (!of_columns) transform_lines_on_host(all, n, 1);
    transform_lines_on_host(all, rows, n);
    for (std::size_t k = 0; k < all.size(); ++k)
        if (of_columns ? k / n <= rows / 2 : k % n <= n / 2) wanted.push_back(all[k]);
    expect_near<double>(y.to_host(), wanted, most_error);
    const shape stored = of_columns ? shape(rows / 2 + 1, n) : shape(rows, n / 2 + 1);
    const vector<double> back = irfft(view(y, stored), of_columns ? rows : n, over);
    expect_near<double>(back.to_host(), widened(x), 2 * most_error);
}

TEST(V13_fft, of_real_numbers) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        transforms_reals(ctx, random, 6, 30, false);
        transforms_reals(ctx, random, 1, 15, false);
        transforms_reals(ctx, random, 6, 2, true);
        const vector<double> v(ctx, {1, 2, 3, 4});
        const vector<std::complex<double>> y = rfft(2 * v);
        EXPECT_NEAR(y[0].real(), 20, 1e-14);
        EXPECT_NEAR(y[1].imag(), 4, 1e-14);
        EXPECT_NEAR(y[2].real(), -4, 1e-14);
    });
}

TEST(V13_fft, shifts_and_frequencies) {
    on_all_contexts([](const context& ctx) {
        vector<int> y(ctx, 5);
        const vector<int> x(ctx, {0, 1, 2, 3, 4});
        y = fftshift(x);
        EXPECT_THAT(y.to_host(), testing::ElementsAre(3, 4, 0, 1, 2));
        y = ifftshift(x);
        EXPECT_THAT(y.to_host(), testing::ElementsAre(2, 3, 4, 0, 1));
        const vector<int> z(ctx, {0, 1, 2, 3, 4, 5});
        vector<int> w = fftshift(view(z, {2, 3}));
        EXPECT_THAT(w.to_host(), testing::ElementsAre(5, 3, 4, 2, 0, 1));
        w = fftshift(view(z, {2, 3}), along(1));
        EXPECT_THAT(w.to_host(), testing::ElementsAre(2, 0, 1, 5, 3, 4));
        vector<double> f(ctx, 5), g(ctx, 4);
        f = fftfreq(5, 0.5);
        EXPECT_THAT(f.to_host(), testing::ElementsAre(0, 0.4, 0.8, -0.8, -0.4));
        g = rfftfreq(6);
        EXPECT_THAT(g.to_host(), testing::ElementsAre(0, 1 / 6.0, 2 / 6.0, 3 / 6.0));
    });
}

TEST(V13_fft, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<std::complex<float>> x(ctx, 12), none(ctx, 0);
        const auto M = view(x, {3, 4});
        EXPECT_THAT(
            message_of<usage_error>([&] { static_cast<void>(fft(M, along(2))); }),
            HasSubstr("a transform cannot run along dimension 2 of 3 x 4, whose dimensions are 0 to 1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(fft(M, along(1, 1))); }),
                    HasSubstr("runs twice along dimension 1; name each one once"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(irfft(x, 12)); }),
                    HasSubstr("n / 2 + 1"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(irfft(none, 0)); }),
                    HasSubstr("0 real numbers"));
        const vector<std::complex<float>> y = fft(none);
        EXPECT_EQ(y.size(), 0u);
        EXPECT_THAT(message_of<usage_error>([&] {
                        vector<std::complex<float>> z(ctx, 11);
                        z = fft(x);
                    }),
                    HasSubstr("12"));
        EXPECT_THAT(describe_fft(x), HasSubstr("a pass of 1 transforms of 12 (radices "));
    });
}

TEST(V13_fft_of_three_devices, does_the_same) {
    run_on_three_devices("test_algorithm", "V13_fft.shifts*:V13_fft.of_expressions*");
}

}  // namespace

}  // namespace balm::test

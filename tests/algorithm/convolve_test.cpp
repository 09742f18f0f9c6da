// Convolutions and correlations of two arrays against sums in long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "algorithm/fft/fft_convolution.hpp"
#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/host_fft.hpp"
#include "balm/error.hpp"
#include "balm/spectral.hpp"
#include "balm/vector.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;
using enum convolution_mode;

struct forced_convolutions {
    explicit forced_convolutions(array::convolution_way way) { array::force_convolutions(way); }
    forced_convolutions(const forced_convolutions&) = delete;
    forced_convolutions& operator=(const forced_convolutions&) = delete;
    ~forced_convolutions() { array::force_convolutions(array::convolution_way::cheapest); }
};

template <class E>
std::vector<E> random_list(std::mt19937_64& random, std::size_t n) {
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<E> made(n);
    for (E& each : made) {
        if constexpr (std::is_floating_point_v<E>)
            each = static_cast<E>(draw(random));
        else
            each = E(static_cast<typename E::value_type>(draw(random)),
                     static_cast<typename E::value_type>(draw(random)));
    }
    return made;
}

/// A box of three dimensions on the host.
struct convolved_box {
    std::size_t planes, rows, columns;
    std::size_t at(std::size_t i, std::size_t j, std::size_t k) const { return (i * rows + j) * columns + k; }
    std::size_t count() const { return planes * rows * columns; }
};
/// The full convolution along all dimensions, or of each plane.
template <class E, class F>
wide_list full_on_host(const std::vector<E>& a, const convolved_box& of_a, const std::vector<F>& b,
                       const convolved_box& of_b, convolved_box& whole, bool is_of_planes) {
    whole = {is_of_planes ? of_a.planes : of_a.planes + of_b.planes - 1, of_a.rows + of_b.rows - 1,
             of_a.columns + of_b.columns - 1};
    wide_list made(whole.count());
    for (std::size_t p = 0; p < of_a.planes; ++p)
        for (std::size_t r = 0; r < of_a.rows; ++r)
            for (std::size_t c = 0; c < of_a.columns; ++c)
                for (std::size_t q = is_of_planes ? p : 0; q < (is_of_planes ? p + 1 : of_b.planes); ++q)
                    for (std::size_t s = 0; s < of_b.rows; ++s)
                        for (std::size_t d = 0; d < of_b.columns; ++d)
                            made[whole.at(is_of_planes ? p : p + q, r + s, c + d)] +=
                                wide(a[of_a.at(p, r, c)]) * wide(b[of_b.at(q, s, d)]);
    return made;
}
/// The range of the full convolution that a mode has, along one dimension.
std::pair<std::size_t, std::size_t> range_of(convolution_mode mode, std::size_t n, std::size_t m) {
    if (mode == full) return {0, n + m - 1};
    if (mode == same) return {(m - 1) / 2, (m - 1) / 2 + n};
    return {std::min(n, m) - 1, std::max(n, m)};
}

/// Within so many units of rounding of the largest that there could be.
template <class T, class R>
void expect_within_rounding(const R& got, const wide_list& wanted, long double largest) {
    ASSERT_EQ(got.size(), wanted.size());
    const long double bound = 4 * std::numeric_limits<T>::epsilon() * largest;
    for (std::size_t k = 0; k < wanted.size(); ++k)
        ASSERT_LT(std::abs(wide(got[k]) - wanted[k]), bound) << "element " << k;
}
template <class T>
long double size_of(const std::vector<T>& x) {
    long double made = 0;
    for (const T& each : x) made += std::norm(wide(each));
    return std::sqrt(made);
}

template <class T, class E, class F>
void convolves_lists(const context& ctx, std::mt19937_64& random, std::size_t n, std::size_t m,
                     const std::vector<convolution_mode>& modes = {full, same, valid}) {
    SCOPED_TRACE(std::to_string(n) + " with " + std::to_string(m));
    const auto a = random_list<E>(random, n);
    const auto b = random_list<F>(random, m);
    const vector<E> x(ctx, a);
    const vector<F> h(ctx, b);
    convolved_box whole{};
    const wide_list all = full_on_host(a, {1, 1, n}, b, {1, 1, m}, whole, false);
    std::vector<F> turned(b.rbegin(), b.rend());
    if constexpr (!std::is_floating_point_v<F>)
        for (F& each : turned) each = std::conj(each);
    const wide_list correlated = full_on_host(a, {1, 1, n}, turned, {1, 1, m}, whole, false);
    const long double largest = size_of(a) * size_of(b);
    for (const convolution_mode mode : modes) {
        SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode)));
        const auto [first, last] = range_of(mode, n, m);
        const auto part = [&, from = first, to = last](const wide_list& of) {
            return wide_list(of.begin() + static_cast<std::ptrdiff_t>(from),
                             of.begin() + static_cast<std::ptrdiff_t>(to));
        };
        using R = std::conditional_t<std::is_floating_point_v<E>, F, E>;
        const vector<R> y = convolve(x, h, mode);
        expect_within_rounding<T>(y.to_host(), part(all), largest);
        const vector<R> c = correlate(x, h, mode);
        expect_within_rounding<T>(c.to_host(), part(correlated), largest);
    }
}

using complex_double = std::complex<double>;

TEST(V13_convolve, lists_by_transforms_in_all_modes) {
    auto random = seeded_random();
    const forced_convolutions held(array::convolution_way::by_transforms);
    on_all_contexts([&](const context& ctx) {
        // All of these are padded to 16, and share kernels.
        for (const std::size_t n : {std::size_t{5}, 3 + random() % 11})
            convolves_lists<float, float, float>(ctx, random, n, 17 - n - random() % 2);
        convolves_lists<float, float, float>(ctx, random, 1, 1, {full});
        convolves_lists<double, double, complex_double>(ctx, random, 7, 9 + random() % 2, {same});
    });
}

TEST(V13_convolve, lists_by_sums_in_all_modes) {
    auto random = seeded_random();
    const forced_convolutions held(array::convolution_way::by_sums);
    on_all_contexts([&](const context& ctx) {
        convolves_lists<float, float, float>(ctx, random, 40 + random() % 20, 1 + random() % 9);
        convolves_lists<float, float, float>(ctx, random, 3, 10 + random() % 9, {full});
        convolves_lists<double, complex_double, double>(ctx, random, 11, 4, {same});
    });
}

TEST(V13_convolve, of_views_along_all_or_some_dimensions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        constexpr convolved_box of_a{2, 5, 6}, of_b{2, 4, 3};
        const auto a = random_list<float>(random, of_a.count()), b = random_list<float>(random, of_b.count());
        const vector<float> x(ctx, a), h(ctx, b);
        const auto X = view(x, {2, 5, 6}), H = view(h, {2, 4, 3});
        const long double largest = size_of(a) * size_of(b);
        convolved_box whole{};
        const wide_list planes = full_on_host(a, of_a, b, of_b, whole, true);
        EXPECT_EQ(array::box_of(convolve(X, H, full, along(1, 2)).tape()), shape(2, 8, 8));
        const vector<float> each = convolve(X, H, full, along(1, 2));
        expect_within_rounding<float>(each.to_host(), planes, largest);
        wide_list middle, inside;
        for (std::size_t p = 0; p < 2; ++p) {
            for (std::size_t r = 0; r < 5; ++r)
                for (std::size_t c = 0; c < 6; ++c) middle.push_back(planes[whole.at(p, r + 1, c + 1)]);
            for (std::size_t r = 3; r < 5; ++r)
                for (std::size_t c = 2; c < 6; ++c) inside.push_back(planes[whole.at(p, r, c)]);
        }
        const vector<float> near = convolve(X, H, same, along(1, 2)),
                            few = convolve(X, H, valid, along(1, 2));
        expect_within_rounding<float>(near.to_host(), middle, largest);
        expect_within_rounding<float>(few.to_host(), inside, largest);
        // Columns: those of transposed views.
        const vector<float> columns =
            convolve(view(x, {12, 5}).transpose(), view(h, {12, 2}).transpose(), full, along(0));
        wide_list wanted(72);
        for (std::size_t c = 0; c < 12; ++c)
            for (std::size_t r = 0; r < 5; ++r)
                for (std::size_t q = 0; q < 2; ++q)
                    wanted[(r + q) * 12 + c] += wide(a[c * 5 + r]) * wide(b[c * 2 + q]);
        expect_within_rounding<float>(columns.to_host(), wanted, largest);
    });
}

TEST(V13_convolve, of_expressions_and_in_expressions) {
    auto random = seeded_random();
    const forced_convolutions held(array::convolution_way::by_transforms);
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t n = 10, m = 7;
        const auto a = random_list<double>(random, n), b = random_list<double>(random, m);
        vector<double> x(ctx, a);
        const vector<double> h(ctx, b);
        std::vector<double> scaled(a);
        for (double& each : scaled) each = 2 * each + 1;
        convolved_box whole{};
        wide_list wanted = full_on_host(scaled, {1, 1, n}, b, {1, 1, m}, whole, false);
        wanted.erase(wanted.begin(), wanted.begin() + (m - 1) / 2);
        wanted.resize(n);
        const long double largest = size_of(scaled) * size_of(b);
        x = 0.5 * convolve(2 * x + 1, h, same) + convolve(2 * x + 1, h, same) * 0.5;
        expect_within_rounding<double>(x.to_host(), wanted, largest);
        x = vector<double>(ctx, scaled);
        x = convolve(x, h, same);
        expect_within_rounding<double>(x.to_host(), wanted, largest);
    });
}

TEST(V13_convolve, finds_where_a_pattern_lies) {
    auto random = seeded_random();
    const forced_convolutions held(array::convolution_way::by_transforms);
    on_all_contexts([&](const context& ctx) {
        constexpr std::size_t n = 100, m = 20;
        const std::size_t where = random() % (n - m + 1);
        auto noise = random_list<float>(random, n);
        const std::vector<float> pattern(noise.begin() + static_cast<std::ptrdiff_t>(where),
                                         noise.begin() + static_cast<std::ptrdiff_t>(where + m));
        const vector<float> x(ctx, noise), p(ctx, pattern);
        const vector<float> score = correlate(x, p, valid);
        const auto got = score.to_host();
        ASSERT_EQ(got.size(), n - m + 1);
        EXPECT_EQ(static_cast<std::size_t>(std::max_element(got.begin(), got.end()) - got.begin()), where);
    });
}

TEST(V13_convolve, chooses_a_way_by_sizes) {
    on_all_contexts([](const context& ctx) {
        const vector<float> x(ctx, 100000), few(ctx, 5), many(ctx, 5000);
        EXPECT_THAT(describe_convolution(x, few), HasSubstr("sums of 5 products each"));
        EXPECT_THAT(describe_convolution(x, many), HasSubstr("104999 elements are padded to "));
        EXPECT_THAT(describe_convolution(view(few, {1, 5}), view(few, {5, 1})),
                    HasSubstr("two transforms, and one back"));
    });
    for (std::size_t least = 1; least < 3000; least += 7) {
        const std::size_t length = array::quick_length(least, {});
        EXPECT_GE(length, least);
        EXPECT_LE(length, std::max<std::size_t>(2, least + least * 3 / 8 + 1));
        EXPECT_FALSE(array::pass_lengths(length, {}).empty());
    }
}

TEST(V13_convolve, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<double> x(ctx, 12), y(ctx, 6), none(ctx, 0);
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(convolve(x, none)); }),
                    HasSubstr("cannot convolve 12 elements with 0: both operands must have elements"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(convolve(view(x, {3, 4}), y));
                    }),
                    HasSubstr("cannot convolve 3 x 4 with 6: the numbers of dimensions differ"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(convolve(view(x, {3, 4}), view(y, {2, 3}), full, along(1)));
                    }),
                    HasSubstr("does not run along dimension 0, whose extents differ"));
        EXPECT_THAT(
            message_of<usage_error>([&] {
                static_cast<void>(convolve(view(x, {2, 6}), view(y, {3, 2}), valid));
            }),
            HasSubstr("a valid convolution of 2 x 6 with 3 x 2 needs an operand that is at least as long"));
        EXPECT_THAT(message_of<usage_error>([&] { static_cast<void>(convolve(x, y, full, along(1))); }),
                    HasSubstr("along dimension 1 of 12"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        vector<double> z(ctx, 12);
                        z = convolve(x, y);
                    }),
                    HasSubstr("17"));
    });
}

TEST(V13_convolve, of_three_devices) {
    run_on_three_devices("test_algorithm", "V13_convolve.of_expressions*");
}

}  // namespace

}  // namespace balm::test

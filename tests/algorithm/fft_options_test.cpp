// Factors of transforms, and lengths that cut arrays or continue them with zeros, against the host's
// transforms in long double of arrays that the host has cut and padded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "algorithm/fft/fft_strategy.hpp"
#include "algorithm/host_fft.hpp"
#include "balm/balm.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

std::size_t inner_of(const shape& box, int d) {
    std::size_t inner = 1;
    for (int k = d + 1; k < box.dimensions(); ++k) inner *= box[k];
    return inner;
}
/// Cut, or continued with zeros, along one dimension.
wide_list resized_on_host(const wide_list& x, const shape& box, int d, std::size_t length) {
    const std::size_t inner = inner_of(box, d), rows = x.size() / std::max<std::size_t>(box[d] * inner, 1);
    wide_list made(rows * length * inner);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < std::min(length, box[d]); ++k)
            for (std::size_t c = 0; c < inner; ++c)
                made[(r * length + k) * inner + c] = x[(r * box[d] + k) * inner + c];
    return made;
}
shape with_size(const shape& box, int d, std::size_t size) {
    std::vector<std::size_t> sizes;
    for (int k = 0; k < box.dimensions(); ++k) sizes.push_back(k == d ? size : box[k]);
    return shape(sizes);
}
wide_list conjugated(wide_list x) {
    for (wide& each : x) each = std::conj(each);
    return x;
}
/// The whole spectrum along the last dimension, of n real numbers, from n / 2 + 1 elements.
wide_list mirrored_on_host(const wide_list& x, std::size_t n, std::size_t inner) {
    const std::size_t stored = n / 2 + 1, rows = x.size() / (stored * inner);
    wide_list made(rows * n * inner);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t c = 0; c < inner; ++c) {
                const bool is_far = k >= stored;
                wide value = x[(r * stored + (is_far ? n - k : k)) * inner + c];
                if (is_far) value = std::conj(value);
                if (k == 0 || 2 * k == n) value = value.real();
                made[(r * n + k) * inner + c] = value;
            }
    return made;
}

enum class fft_kind { complex, inverse, real, inverse_real };

/// A transform that is drawn, and what the host makes of it.
struct drawn_transform {
    fft_kind kind;
    shape box = shape(1);
    std::vector<int> dimensions;
    std::vector<std::size_t> lengths;  // of the dimensions; of the extents if the options have none
    bool has_lengths;
    fft_norm norm;

    int last() const { return *std::max_element(dimensions.begin(), dimensions.end()); }
    array::dimension_list over() const {
        array::dimension_list made;
        for (const int d : dimensions) made.each[static_cast<std::size_t>(made.count++)] = d;
        return made;
    }
    fft_options options() const { return {norm, has_lengths ? lengths : std::vector<std::size_t>()}; }
    long double factor() const {
        long double n = 1;
        for (const std::size_t each : lengths) n *= static_cast<long double>(each);
        const bool is_back = kind == fft_kind::inverse || kind == fft_kind::inverse_real;
        if (norm == fft_norm::ortho) return 1 / std::sqrt(n);
        return is_back == (norm == fft_norm::backward) ? 1 / n : 1;
    }
    /// What the transform of x is; `result` becomes its extents.
    wide_list on_host(wide_list x, shape& result) const {
        shape now = box;
        const bool is_back = kind == fft_kind::inverse || kind == fft_kind::inverse_real;
        for (std::size_t k = 0; k < dimensions.size(); ++k) {
            const int d = dimensions[k];
            const bool is_half = kind == fft_kind::inverse_real && d == last();
            const std::size_t length = is_half ? lengths[k] / 2 + 1 : lengths[k];
            x = resized_on_host(x, now, d, length);
            now = with_size(now, d, length);
        }
        // The others first: along the last dimension the spectrum is then that of real numbers.
        std::vector<int> order = dimensions;
        std::sort(order.begin(), order.end());
        if (is_back) x = conjugated(x);
        for (const int d : order) {
            if (kind == fft_kind::inverse_real && d == last()) {
                const std::size_t n = length_of(d);
                x = conjugated(mirrored_on_host(conjugated(x), n, inner_of(now, d)));
                now = with_size(now, d, n);
            }
            transform_lines_on_host(x, now[d], inner_of(now, d));
        }
        if (is_back) x = conjugated(x);
        if (kind == fft_kind::real) {
            const int d = last();
            const std::size_t stored = now[d] / 2 + 1;
            x = resized_on_host(x, now, d, stored);
            now = with_size(now, d, stored);
        }
        for (wide& each : x) each *= factor();
        if (kind == fft_kind::inverse_real)
            for (wide& each : x) each = each.real();
        result = now;
        return x;
    }
    std::size_t length_of(int d) const {
        return lengths[static_cast<std::size_t>(std::find(dimensions.begin(), dimensions.end(), d) -
                                                dimensions.begin())];
    }
    std::string words() const {
        return std::string(kind == fft_kind::complex   ? "fft"
                           : kind == fft_kind::inverse ? "ifft"
                           : kind == fft_kind::real    ? "rfft"
                                                       : "irfft") +
               " of " + to_string(box) + " along " + testing::PrintToString(dimensions) + " with lengths " +
               (has_lengths ? testing::PrintToString(lengths) : "of its own") + " and norm " +
               std::to_string(static_cast<int>(norm));
    }
};

drawn_transform draw_transform(std::mt19937_64& random) {
    constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17};
    const auto size = [&] { return sizes[random() % std::size(sizes)]; };
    drawn_transform made;
    made.kind = static_cast<fft_kind>(random() % 4);
    made.norm = static_cast<fft_norm>(random() % 3);
    made.has_lengths = random() % 4 != 0;
    std::vector<std::size_t> extents(1 + random() % 3);
    for (auto& each : extents) each = size();
    for (int d = 0; d < static_cast<int>(extents.size()); ++d) made.dimensions.push_back(d);
    std::shuffle(made.dimensions.begin(), made.dimensions.end(), random);
    made.dimensions.resize(1 + random() % made.dimensions.size());
    for (const int d : made.dimensions) {
        std::size_t& extent = extents[static_cast<std::size_t>(d)];
        made.lengths.push_back(made.has_lengths ? size() : extent);
        if (made.kind != fft_kind::inverse_real || d != made.last()) continue;
        if (!made.has_lengths) extent = made.lengths.back() / 2 + 1;
    }
    made.box = shape(extents);
    return made;
}

template <class T>
wide wide_of(const T& x) {
    if constexpr (std::floating_point<T>)
        return wide(x);
    else
        return {x.real(), x.imag()};
}
template <class T, class R>
void expect_result(const R& got, const wide_list& wanted, const shape& extents) {
    EXPECT_EQ(got.shape(), extents);
    ASSERT_EQ(got.size(), wanted.size());
    long double error = 0, size = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        error += std::norm(wide_of(got[k]) - wanted[k]);
        size += std::norm(wanted[k]);
    }
    EXPECT_LE(std::sqrt(error), 8 * std::numeric_limits<T>::epsilon() * std::sqrt(size));
}

/// Of the elements of a vector, or of an expression.
template <class T>
void transforms_as_on_host(const context& ctx, std::mt19937_64& random, const drawn_transform& drawn,
                           bool is_expression) {
    SCOPED_TRACE(drawn.words() + (is_expression ? ", of an expression" : ""));
    const auto over = drawn.over();
    const fft_options options = drawn.options();
    const auto check = [&](const auto& x, const auto& transform) {
        const vector<typename std::remove_cvref_t<decltype(x)>::value_type> v(ctx, x);
        shape extents(1);
        const wide_list wanted = drawn.on_host(widened(x), extents);
        if (is_expression)
            expect_result<T>(transform(T(0.5) * (view(v, drawn.box) + view(v, drawn.box))), wanted, extents);
        else
            expect_result<T>(transform(view(v, drawn.box)), wanted, extents);
    };
    const std::size_t count = drawn.box.count();
    const auto reals = random_reals<T>(random, count);
    const auto numbers = random_numbers<T>(random, count);
    switch (drawn.kind) {
        case fft_kind::complex:
            return check(numbers, [&](const auto& x) { return fft(x, over, options).to_host(); });
        case fft_kind::inverse:
            return check(numbers, [&](const auto& x) { return ifft(x, over, options).to_host(); });
        case fft_kind::real:
            return check(reals, [&](const auto& x) { return rfft(x, over, options).to_host(); });
        case fft_kind::inverse_real:
            return check(numbers, [&](const auto& x) {
                return irfft(x, drawn.length_of(drawn.last()), over, options).to_host();
            });
    }
}

}  // namespace

TEST(V13_fft_options, random_transforms_are_those_of_the_host) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for_each_case(case_count(24), [&](std::size_t k) {
            transforms_as_on_host<float>(ctx, random, draw_transform(random), k % 2 == 0);
        });
        if (!ctx.device(0).info().has_double) return;
        for_each_case(case_count(6), [&](std::size_t k) {
            transforms_as_on_host<double>(ctx, random, draw_transform(random), k % 2 == 0);
        });
    });
}

TEST(V13_fft_options, of_several_devices) {
    if (!devices_are_together() || present_devices().size() < 3) GTEST_SKIP() << "of_three_devices runs it";
    auto random = seeded_random();
    const context ctx =
        context({present_devices().begin(), present_devices().begin() + 3}).weighted({0, 2, 3});
    for (const std::size_t least : {std::size_t{0}, std::size_t{1}}) {  // 1: devices exchange parts
        array::force_least_exchanged(least);
        for_each_case(case_count(8), [&](std::size_t k) {
            transforms_as_on_host<float>(ctx, random, draw_transform(random), k % 2 == 0);
        });
    }
    array::force_least_exchanged(0);
}
TEST(V13_fft_options, of_three_devices) {
    run_on_three_devices("test_algorithm", "V13_fft_options.of_several_devices");
}

TEST(V13_fft_options, large_transforms_of_several_passes_too) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        // Of 2^14 numbers: two passes; of 4099, a prime: a convolution.
        for (const std::size_t length : {std::size_t{1} << 14, std::size_t{4099}})
            for (const fft_norm norm : {fft_norm::ortho, fft_norm::forward}) {
                drawn_transform drawn;
                drawn.kind = fft_kind::complex;
                drawn.box = shape(10000);
                drawn.dimensions = {0};
                drawn.lengths = {length};
                drawn.has_lengths = true;
                drawn.norm = norm;
                transforms_as_on_host<float>(ctx, random, drawn, false);
            }
    });
}

TEST(V13_fft_options, a_length_alone_is_that_of_one_dimension) {
    on_all_contexts([](const context& ctx) {
        const vector<float> x(ctx, {1, 2, 3});
        const auto near = [](const auto& got, const std::vector<std::complex<float>>& wanted) {
            ASSERT_EQ(got.size(), wanted.size());
            for (std::size_t k = 0; k < wanted.size(); ++k)
                EXPECT_LT(std::abs(wide_of(got[k]) - wide(wanted[k])), 1e-6L) << k;
        };
        near(fft(x, 4).to_host(), {{6, 0}, {-2, -2}, {2, 0}, {-2, 2}});  // as NumPy's fft(x, 4)
        near(rfft(x, 4).to_host(), {{6, 0}, {-2, -2}, {2, 0}});
        near(fft(x, 2, fft_norm::forward).to_host(), {{1.5, 0}, {-0.5, 0}});
        near(ifft(x, 4, fft_norm::ortho).to_host(), {{3, 0}, {-1, 1}, {1, 0}, {-1, -1}});
    });
}

TEST(V13_fft_options, faults_are_told) {
    on_all_contexts([](const context& ctx) {
        const vector<std::complex<float>> x(ctx, 12), none(ctx, 0);
        const auto M = view(x, {3, 4});
        EXPECT_THAT(usage_message_of([&] { static_cast<void>(fft(M, 8)); }),
                    HasSubstr("a Fourier transform runs along 2 dimensions of 3 x 4, but has lengths for 1; "
                              "give one for each"));
        EXPECT_THAT(usage_message_of([&] { static_cast<void>(fft(x, 0)); }),
                    HasSubstr("a Fourier transform has a length of 0; it must be at least 1"));
        EXPECT_THAT(usage_message_of([&] { static_cast<void>(irfft(M, 8, along(1), {.lengths = {6}})); }),
                    HasSubstr("irfft returns 8 real numbers along dimension 1, but its length is 6"));
        EXPECT_THAT(usage_message_of([&] { static_cast<void>(fft(none, 4)); }),
                    HasSubstr("cannot continue 0 elements with zeros to 4"));
        EXPECT_EQ(fft(view(none, {0, 4}), along(1), {.lengths = {8}}).to_host().shape(), shape(0, 8));
    });
}

}  // namespace balm::test

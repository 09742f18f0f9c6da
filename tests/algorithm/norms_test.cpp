// Norms of short vectors and multivectors, and norms and statistics along dimensions, of numbers whose
// squares overflow or underflow, against long double.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using wide_parts = std::vector<long double>;

/// The real numbers that an element consists of.
template <class E>
wide_parts real_parts_of(const E& e) {
    if constexpr (std::floating_point<E>) {
        return {e};
    } else if constexpr (complex_type<E>) {
        return {e.real(), e.imag()};
    } else {
        wide_parts parts(static_cast<std::size_t>(E::size()));
        for (int k = 0; k < E::size(); ++k) parts[static_cast<std::size_t>(k)] = e[k];
        return parts;
    }
}
template <class E>
struct real_of {
    using type = E;
};
template <class T>
struct real_of<std::complex<T>> {
    using type = T;
};
template <class T, int N>
struct real_of<vec<T, N>> {
    using type = T;
};

/// Numbers of about this power of two, and smaller ones.
template <class E>
E draw_element(std::mt19937_64& random, int magnitude) {
    using T = typename real_of<E>::type;
    const auto draw = [&] {
        const auto digits = static_cast<T>(static_cast<double>(random() % 2000) / 1000 - 1);
        return std::ldexp(digits, magnitude - (random() % 2 == 0 ? 0 : static_cast<int>(random() % 60)));
    };
    E made{};
    if constexpr (std::floating_point<E>) {
        made = draw();
    } else if constexpr (complex_type<E>) {
        const T re = draw();
        made = {re, draw()};
    } else {
        for (int k = 0; k < E::size(); ++k) made[k] = draw();
    }
    return made;
}
template <class T>
int draw_magnitude(std::mt19937_64& random) {
    using limits = std::numeric_limits<T>;
    constexpr int least = limits::min_exponent - limits::digits, most = limits::max_exponent - 8;
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least));
}

template <class E>
long double norm_of(const std::vector<E>& all) {
    long double squares = 0;
    for (const E& e : all)
        for (const long double part : real_parts_of(e)) squares += part * part;
    return std::sqrt(squares);
}
template <class T>
void expect_close(long double got, long double wanted, long double magnitude, const char* what) {
    using limits = std::numeric_limits<T>;
    if (wanted > static_cast<long double>(limits::max()))
        EXPECT_EQ(got, limits::infinity()) << what;
    else
        EXPECT_LE(std::fabs(got - wanted), 200 * limits::epsilon() * magnitude + 2 * limits::denorm_min())
            << what << " is " << got << ", not " << wanted;
}

template <class E>
class V10_norms_of : public testing::Test {};
using normed_types = testing::Types<float, double, std::complex<double>, float3>;
TYPED_TEST_SUITE(V10_norms_of, normed_types);

TYPED_TEST(V10_norms_of, overflow_and_underflow_only_with_their_results) {
    using E = TypeParam;
    using T = typename real_of<E>::type;
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int run = 0; run < 6; ++run) {
            const std::size_t rows = 1 + random() % 20, columns = 1 + random() % 300;
            std::vector<E> x;
            for (std::size_t r = 0; r < rows; ++r) {
                const int magnitude = draw_magnitude<T>(random);
                for (std::size_t c = 0; c < columns; ++c) x.push_back(draw_element<E>(random, magnitude));
            }
            const vector<E> X(ctx, x);
            expect_close<T>(norm2(X), norm_of(x), norm_of(x), "the norm");
            const auto M = view(X, {rows, columns});
            const auto norms = vector<T>(norm2(M, along(1))).to_host();
            const auto means = vector<E>(mean(M, along(1))).to_host();
            using R = std::conditional_t<complex_type<E>, T, E>;
            const auto variances = vector<R>(variance(M, along(1))).to_host();
            const auto deviations = vector<R>(stddev(M, along(1))).to_host();
            for (std::size_t r = 0; r < rows; ++r) {
                const std::vector<E> row(x.begin() + static_cast<std::ptrdiff_t>(r * columns),
                                         x.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns));
                const long double size = norm_of(row), n = static_cast<long double>(columns);
                expect_close<T>(norms[r], size, size, "the norm of a row");
                const std::size_t parts = real_parts_of(row[0]).size();
                wide_parts centre(parts), spread(parts);
                for (const E& e : row)
                    for (std::size_t k = 0; k < parts; ++k) centre[k] += real_parts_of(e)[k] / n;
                for (const E& e : row)
                    for (std::size_t k = 0; k < parts; ++k) {
                        const long double distance = real_parts_of(e)[k] - centre[k];
                        spread[complex_type<E> ? 0 : k] += distance * distance / n;
                    }
                const auto least = std::numeric_limits<T>::denorm_min();
                for (std::size_t k = 0; k < parts; ++k)
                    if (n * size < std::numeric_limits<T>::max()) {  // the sum does not overflow
                        EXPECT_LE(std::fabs(real_parts_of(E(means[r]))[k] - centre[k]),
                                  100 * std::numeric_limits<T>::epsilon() * size + least);
                    }
                for (std::size_t k = 0; k < real_parts_of(variances[r]).size(); ++k) {
                    expect_close<T>(real_parts_of(variances[r])[k], spread[k], spread[k],
                                    "the variance of a row");
                    expect_close<T>(real_parts_of(deviations[r])[k], std::sqrt(spread[k]),
                                    std::sqrt(spread[k]), "the deviation of a row");
                }
            }
        }
    });
}

TEST(V10_norms, of_components_and_of_special_numbers) {
    auto random = seeded_random();
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1 + random() % 3000;
        std::array<std::vector<double>, 3> x;
        std::array<vector<double>, 3> parts;
        for (std::size_t k = 0; k < 3; ++k) {
            const int magnitude = draw_magnitude<double>(random);
            for (std::size_t i = 0; i < n; ++i) x[k].push_back(draw_element<double>(random, magnitude));
            parts[k] = vector<double>(ctx, x[k]);
        }
        const std::array<double, 3> norms = norm2(multivector<double, 3>(parts));
        const std::array<double, 3> halves = norm2(multivector<double, 3>(parts) * 0.5);
        for (std::size_t k = 0; k < 3; ++k) {
            expect_close<double>(norms[k], norm_of(x[k]), norm_of(x[k]), "the norm of a component");
            expect_close<double>(halves[k], norm_of(x[k]) / 2, norm_of(x[k]) / 2, "the norm of half of it");
        }
        EXPECT_EQ(norm2(vector<uchar2>(ctx, {{3, 0}, {0, 4}})), 5);
        EXPECT_EQ(norm2(vector<double3>(ctx, {{3, 0, 0}, {0, -inf, 0}})), inf);
        EXPECT_TRUE(std::isnan(norm2(vector<float2>(ctx, {{3, std::nanf("")}, {0, 1e30f}}))));
        const vector<double> special(ctx, {1, inf, 1, nan, 0, 0, nan, nan});
        const auto rows = vector<double>(norm2(view(special, {4, 2}), along(1))).to_host();
        EXPECT_EQ(rows[0], inf);
        EXPECT_TRUE(std::isnan(rows[1]));
        EXPECT_EQ(rows[2], 0);
        EXPECT_TRUE(std::isnan(rows[3]));
        const vector<double> none(ctx, 0);
        EXPECT_THAT(vector<double>(norm2(view(none, {2, 0}), along(1))).to_host(),
                    testing::ElementsAre(0, 0));
    });
}

}  // namespace

}  // namespace balm::test

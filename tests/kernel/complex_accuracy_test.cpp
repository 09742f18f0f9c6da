// The error of each part of functions of complex numbers, in units of its last place, against MPFR: beside
// branch points and on cuts, where parts cancel, and to both ends of the range.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernel/run.hpp"
#include "support/exact_complex.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using wide_complex = std::complex<long double>;

/// Places of either part that a function may be wrong by: those of the device's real functions (OpenCL 1.2,
/// section 7.4) and a few of the operations around them.
constexpr double places_of(complex_row row) {
    switch (row) {
        using enum complex_row;
        case exp:
        case log:
        case log10:
        case sqrt: return 12;
        default: return 16;
    }
}

/// How far apart `got` and `wanted` are, in units of T's last place there; 0 if both are beyond its range.
template <class T>
double places_apart(T got, long double wanted) {
    using limits = std::numeric_limits<T>;
    if (std::isnan(got) || std::isnan(wanted))
        return std::isnan(got) == std::isnan(wanted) ? 0 : limits::infinity();
    constexpr long double most = limits::max();
    if (std::fabs(wanted) > most) wanted = std::copysign(most, wanted);
    const long double is =
        std::isinf(got) ? std::copysign(most, static_cast<long double>(got)) : static_cast<long double>(got);
    const int exponent =
        std::max(wanted == 0 ? limits::min_exponent : std::ilogb(wanted) + 1, limits::min_exponent);
    return static_cast<double>(std::fabs(is - wanted) / std::ldexp(1.0L, exponent - limits::digits));
}

/// Numbers of any size, beside 1 and i, on the axes and on the unit circle.
template <class T>
class point_draw {
public:
    explicit point_draw(std::mt19937_64& random) : random_(random) {}

    std::complex<T> operator()() {
        T x = any(), y = any();
        switch (random_() % 8) {
            case 0: return {part(-limits::min_exponent + limits::digits), part(limits::max_exponent)};
            case 1: x = T(1) + part(2) * T(0.5); [[fallthrough]];  // beside 1, down to its neighbours
            case 2: y = part(limits::digits + 4); break;
            case 3: y = part(-limits::min_exponent + limits::digits); break;
            case 4: {  // on the circle, as near as may be
                const long double angle = std::uniform_real_distribution<long double>(0, 7)(random_);
                x = static_cast<T>(std::cos(angle));
                y = static_cast<T>(std::sin(angle));
                break;
            }
            case 5: y = 0; break;
            case 6: {
                x = std::nextafter(T(1), static_cast<T>(random_() % 3));
                y = random_() % 2 == 0 ? part(-limits::min_exponent + limits::digits) : part(4);
                break;
            }
            default: break;
        }
        if (random_() % 2 == 0) std::swap(x, y);
        return {signed_part(x), signed_part(y)};
    }

private:
    using limits = std::numeric_limits<T>;

    T any() { return std::uniform_real_distribution<T>(-4, 4)(random_); }
    T signed_part(T x) { return random_() % 2 == 0 ? x : -x; }
    /// Of 2 to any power from -reach to reach, as far as T has them.
    T part(int reach) {
        const int exponent = static_cast<int>(random_() % static_cast<unsigned>(2 * reach)) - reach;
        return std::ldexp(std::uniform_real_distribution<T>(T(0.5), T(1))(random_),
                          std::min(exponent, limits::max_exponent));
    }

    std::mt19937_64& random_;
};

template <class T>
class C10_complex_accuracy : public testing::Test {};
using complex_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(C10_complex_accuracy, complex_precisions);

TYPED_TEST(C10_complex_accuracy, each_part_is_right_to_a_few_places) {
    using T = TypeParam;
    using C = std::complex<T>;
    constexpr std::size_t n = 1500, rows = complex_rows;
    const auto kernel = balm::kernel<1>("all_complex_functions", [](In<C> a, Out<C> out) {
        const Index i = global_id(0);
        const Complex<T> z = a[i];
        const Complex<T> results[] = {exp(z),  log(z),   log10(z), sqrt(z), sin(z),  cos(z),
                                      tan(z),  sinh(z),  cosh(z),  tanh(z), asin(z), acos(z),
                                      atan(z), asinh(z), acosh(z), atanh(z)};
        for (int k = 0; k < complex_rows; ++k) out[i * complex_rows + k] = results[k];
    });
    auto random = seeded_random();
    point_draw<T> draw(random);
    host_array<C> a(n);
    std::generate(a.begin(), a.end(), draw);
    std::vector<wide_complex> wanted(n * rows);
    for (std::size_t i = 0; i < n * rows; ++i)
        wanted[i] = exact(static_cast<complex_row>(i % rows), wide_complex(a[i / rows]));
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(n * rows);
        on.execute(kernel(in(on, a), out), {n});
        const auto got = out.read();
        std::array<double, rows> worst{};
        std::array<int, rows> failures{};
        for (std::size_t i = 0; i < n * rows; ++i) {
            const auto row = static_cast<complex_row>(i % rows);
            const double places = std::max(places_apart<T>(got[i].real(), wanted[i].real()),
                                           places_apart<T>(got[i].imag(), wanted[i].imag()));
            worst[i % rows] = std::max(worst[i % rows], places);
            if (places <= places_of(row) || ++failures[i % rows] > 3) continue;
            ADD_FAILURE() << std::hexfloat << name_of(row) << " of " << a[i / rows] << " is " << got[i]
                          << ", not " << wanted[i] << ": " << std::defaultfloat << places << " places";
        }
        for (std::size_t k = 0; k < rows; ++k)
            testing::Test::RecordProperty(name_of(static_cast<complex_row>(k)), std::to_string(worst[k]));
    });
}

}  // namespace

}  // namespace balm::test

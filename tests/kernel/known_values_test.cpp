// Functions of numbers that a compiler knows give what they give of the same numbers met at run time: what
// it computes itself, and what it may conclude from undefined conversions inside a function, is no other.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// A compiler may use an elementary function of its own, as good as the device's.
template <class T>
constexpr T tolerance = 16 * std::numeric_limits<T>::epsilon();

/// All of the functions at x, in order.
template <class T, class Each>
void for_each_function(const Var<T>& x, const Each& each) {
    for (const Var<T>& result : {rint(x), trunc(x), floor(x), ceil(x), round(x),  sqrt(x),  cbrt(x), exp(x),
                                 exp2(x), exp10(x), expm1(x), log(x),  log2(x),   log1p(x), sin(x),  cos(x),
                                 tan(x),  sinh(x),  cosh(x),  tanh(x), tgamma(x), erf(x)})
        each(result);
}
constexpr std::size_t functions = 22;

/// What the kernel gives that takes the functions at each corner: as the kernel's own constants, or as
/// elements.
template <class T>
host_array<T> values(const device& on, const std::vector<T>& corners, bool knows, bool hides_from_balm) {
    const auto corner_kernel = balm::kernel<1>("corners", [&](In<T> x, Int n, Out<T> out) {
        int at = 0;
        for (std::size_t c = 0; c < corners.size(); ++c) {
            Var<T> number = x[static_cast<int>(c)];
            if (knows) number = corners[c];
            if (knows && hides_from_balm) {
                IF (n > 0) {
                    number = corners[c];
                }
            }
            for_each_function<T>(number, [&](const Var<T>& result) { out[at++] = result; });
        }
    });
    auto x = on.in_buffer<T>(corners.size());
    x.write(std::span<const T>(corners));
    auto out = on.out_buffer<T>(corners.size() * functions);
    on.execute(corner_kernel(x, 1, out), {1});
    return out.read();
}

template <class T>
void expect_same_of(const std::vector<T>& corners, bool hides_from_balm) {
    on_all_devices([&](const device& on) {
        if (std::same_as<T, double> && !on.info().has_double) return;
        const host_array<T> met = values(on, corners, false, false);
        const host_array<T> known = values(on, corners, true, hides_from_balm);
        for (std::size_t k = 0; k < met.size(); ++k)
            EXPECT_TRUE(is_same(known[k], met[k]) ||
                        std::abs(known[k] - met[k]) <= tolerance<T> * std::abs(met[k]))
                << "function " << k % functions << " of " << corners[k / functions] << " is " << known[k]
                << " where it is known, " << met[k] << " where it is met";
    });
}

template <class T>
const std::vector<T> large = {T(3e9),
                              T(-3e9),
                              T(3e14),
                              T(-3e14),
                              std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity()};
template <class T>
const std::vector<T> nan = {std::numeric_limits<T>::quiet_NaN()};

}  // namespace

TEST(C10_known_values, of_large_floats) { expect_same_of(large<float>, true); }
TEST(C10_known_values, of_large_doubles) { expect_same_of(large<double>, true); }
TEST(C10_known_values, of_float_nan) { expect_same_of(nan<float>, false); }
TEST(C10_known_values, of_double_nan) { expect_same_of(nan<double>, false); }

}  // namespace balm::test

// Complex numbers on the device against std::complex<long double>. Errors are measured as |got - wanted| over
// |wanted|, in units of the type's epsilon.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using wide = std::complex<long double>;

constexpr std::size_t results = 19;
/// The error allowed to each result, in epsilons: a few roundings for arithmetic; for functions what the
/// device's real functions are allowed (OpenCL 1.2, section 7.4), which pow multiplies by its exponent.
constexpr double tolerances[results] = {2,   2,  4,  8,  4,  8,  16, 16, 8,  200,
                                        400, 24, 24, 32, 24, 24, 32, 16, 200};

/// All functions of two numbers z, w: what kernels and the host compute alike. Generic code, on both sides.
template <class Complex_, class Real, class Store>
void compute_all(const Complex_& z, const Complex_& w, const Real& x, Store&& store) {
    using std::polar;
    store(0, z + w - x);
    store(1, -(z - w) + x);
    store(2, z * w);
    store(3, z / w);
    store(4, (x * z) * x);
    store(5, x / z);
    store(6, exp(z));
    store(7, log(z));
    store(8, sqrt(z));
    store(9, pow(z, w));
    store(10, pow(z, x));
    store(11, sin(z));
    store(12, cos(z));
    store(13, tan(z));
    store(14, sinh(z));
    store(15, cosh(z));
    store(16, tanh(z));
    store(17, polar(abs(z), arg(w)));
    store(18, pow(x, z));
}

template <class T>
class C10_complex : public testing::Test {};
using precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(C10_complex, precisions);

std::vector<wide> special_numbers() {
    std::vector<wide> list;
    for (long double x : {0.L, 1.L, -1.L, 0.5L, -2.L, 10.L})
        for (long double y : {0.L, 1.L, -1.L, 0.25L, 3.L})
            if (x != 0 || y != 0) list.emplace_back(x, y);
    list.emplace_back(0.6L, 0.8L);  // of distance 1, where the logarithm vanishes
    list.emplace_back(-0.28L, 0.96L);
    return list;
}

TYPED_TEST(C10_complex, agree_with_long_double) {
    using T = TypeParam;
    using C = std::complex<T>;
    constexpr std::size_t n = 1000;
    const auto kernel = balm::kernel<1>("all_functions", [](In<C> a, In<C> b, In<T> reals, Out<C> out) {
        Index i = global_id(0);
        Complex<T> z = a[i], w = b[i];
        compute_all(z, w, reals[i],
                    [&](std::size_t k, const Complex<T>& value) { out[results * i + k] = value; });
    });
    auto random = seeded_random();
    host_array<C> a(n), b(n);
    host_array<T> reals(n);
    const auto special = special_numbers();
    std::uniform_real_distribution<T> any(-4, 4);
    for (std::size_t i = 0; i < n; ++i) {
        const wide& s = special[i % special.size()];
        a[i] = i < 400 ? C(static_cast<T>(s.real()), static_cast<T>(s.imag())) : C(any(random), any(random));
        b[i] = C(any(random), any(random));
        reals[i] = any(random);
    }
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(results * n);
        on.execute(kernel(in(on, a), in(on, b), in(on, reals), out), {n});
        const auto got = out.read();
        std::vector<double> worst(results, 0);
        for (std::size_t i = 0; i < n; ++i) {
            const long double x = reals[i];
            compute_all(wide(a[i]), wide(b[i]), x, [&](std::size_t k, const wide& wanted) {
                const long double size = std::abs(wanted);
                if (k == 18 && x < 0) return;  // on the cut, where the sign of an imaginary zero decides
                if (!(size < std::numeric_limits<T>::max() / 4) || size < std::numeric_limits<T>::min())
                    return;
                // What cancels in sums is lost relative to the operands.
                const long double scale =
                    k < 2 ? size + std::abs(wide(a[i])) + std::abs(wide(b[i])) + std::abs(x) : size;
                const auto error = static_cast<double>(std::abs(wide(got[results * i + k]) - wanted) / scale /
                                                       std::numeric_limits<T>::epsilon());
                worst[k] = std::max(worst[k], error);
                EXPECT_LE(error, tolerances[k])
                    << "function " << k << " of " << a[i] << ", " << b[i] << ", " << reals[i] << " is "
                    << got[results * i + k] << ", not " << wanted;
            });
        }
        for (std::size_t k = 0; k < results; ++k)
            testing::Test::RecordProperty("worst_" + std::to_string(k), std::to_string(worst[k]));
    });
}

/// The functions whose values at zeros, infinities and NaN Annex G lists.
enum listed {
    f_exp,
    f_log,
    f_sqrt,
    f_sinh,
    f_cosh,
    f_tanh,
    f_sin,
    f_cos,
    f_tan,
    f_asin,
    f_acos,
    f_atan,
    f_asinh,
    f_acosh,
    f_atanh,
    f_log10,
    f_proj,
    f_polar_form,
    listed_count
};
constexpr const char* listed_names[] = {"exp",   "log",   "sqrt",  "sinh",  "cosh", "tanh",
                                        "sin",   "cos",   "tan",   "asin",  "acos", "atan",
                                        "asinh", "acosh", "atanh", "log10", "proj", "abs and arg"};
template <class Complex_, class Store>
void compute_listed(const Complex_& z, Store&& store) {
    store(f_exp, exp(z));
    store(f_log, log(z));
    store(f_sqrt, sqrt(z));
    store(f_sinh, sinh(z));
    store(f_cosh, cosh(z));
    store(f_tanh, tanh(z));
    store(f_sin, sin(z));
    store(f_cos, cos(z));
    store(f_tan, tan(z));
    store(f_asin, asin(z));
    store(f_acos, acos(z));
    store(f_atan, atan(z));
    store(f_asinh, asinh(z));
    store(f_acosh, acosh(z));
    store(f_atanh, atanh(z));
    store(f_log10, log10(z));
    store(f_proj, proj(z));
    store(f_polar_form, Complex_(abs(z), arg(z)));
}

template <class T>
std::vector<T> special_parts() {
    using limits = std::numeric_limits<T>;
    std::vector<T> list{limits::quiet_NaN()};
    const T root = std::sqrt(limits::max());
    for (const T x : {T(0), limits::infinity(), limits::max(), limits::min(), limits::denorm_min(),
                      limits::min() / 3, root * T(1000), T(1) / root, T(1), T(0.75), T(2), T(3.5), T(40),
                      T(std::log(limits::max())), T(limits::digits)}) {
        list.push_back(x);
        list.push_back(-x);
    }
    return list;
}
/// A number with zeros, infinities, NaN, huge and tiny parts among others.
template <class T>
std::complex<T> drawn_special(std::mt19937_64& random) {
    static const std::vector<T> specials = special_parts<T>();
    const auto part = [&] {
        if (random() % 2 == 0) return specials[random() % specials.size()];
        const int reach = std::numeric_limits<T>::max_exponent - 2;
        const auto exponent = static_cast<int>(random() % static_cast<unsigned>(2 * reach)) - reach;
        const T size = std::ldexp(std::uniform_real_distribution<T>(1, 2)(random), exponent);
        return random() % 2 == 0 ? size : -size;
    };
    const T real = part();
    return {real, part()};
}

/// Whether a result's part is the wanted one: both NaN, the same infinity, the same zero, or close. `scale`
/// is the distance of the whole result from 0.
template <class T>
bool is_part(T got, long double wanted, long double scale, double tolerance, bool any_sign) {
    using limits = std::numeric_limits<T>;
    constexpr long double most = limits::max();
    if (std::isnan(wanted)) return std::isnan(got);
    if (std::isnan(got)) return false;
    if (any_sign) return is_part<T>(std::fabs(got), std::fabs(wanted), scale, tolerance, false);
    // Beside the end of the range, rounding decides.
    if (std::fabs(wanted) > most / 2 && std::fabs(wanted) < most * 2)
        return std::signbit(got) == std::signbit(wanted) && std::fabs(got) > limits::max() / 4;
    if (std::fabs(wanted) >= most * 2) return std::isinf(got) && std::signbit(got) == std::signbit(wanted);
    if (wanted == 0 && got == 0) return std::signbit(got) == std::signbit(wanted);
    const long double unit = std::fmax(scale, static_cast<long double>(limits::min()));
    return std::fabs(got - wanted) <= unit * tolerance * limits::epsilon();
}

TYPED_TEST(C10_complex, have_the_special_values_of_annex_g) {
    using T = TypeParam;
    using C = std::complex<T>;
    const auto kernel = balm::kernel<1>("listed_functions", [](In<C> a, Out<C> out) {
        Index i = global_id(0);
        compute_listed(Complex<T>(a[i]), [&](int k, const Complex<T>& value) {
            out[static_cast<int>(listed_count) * i + k] = value;
        });
    });
    auto random = seeded_random();
    std::vector<C> numbers;
    for (const T x : special_parts<T>())
        for (const T y : special_parts<T>()) numbers.emplace_back(x, y);
    for (int k = 0; k < 2000; ++k) numbers.push_back(drawn_special<T>(random));
    const std::size_t n = numbers.size();
    host_array<C> a(n);
    std::copy(numbers.begin(), numbers.end(), a.begin());
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(listed_count * n);
        on.execute(kernel(in(on, a), out), {n});
        const auto got = out.read();
        std::vector<int> failures(listed_count);
        for (std::size_t i = 0; i < n; ++i) {
            const C z = a[i];
            compute_listed(wide(z), [&](int k, wide wanted) {
                const C is = got[listed_count * i + static_cast<std::size_t>(k)];
                const bool is_turned = k == f_sin || k == f_cos || k == f_tan;
                const T angle = is_turned ? z.real() : z.imag(), size = is_turned ? z.imag() : z.real();
                // Annex G leaves signs of zeros and infinities unspecified where the angle is undefined.
                const bool has_no_angle = !std::isfinite(angle) || std::isnan(size);
                const bool is_nan = std::isnan(z.real()) || std::isnan(z.imag());
                const bool is_periodic = k == f_exp || (k >= f_sinh && k <= f_tan);
                const bool is_inverse = k >= f_asin && k <= f_atanh;
                const bool any_sign = (is_periodic && has_no_angle) || (is_inverse && is_nan);
                // sqrt(-inf + NaN i) = NaN ± inf i
                const bool any_sign_of_imaginary =
                    any_sign || ((k == f_sqrt || k == f_proj) && std::isnan(z.imag()));
                // tanh(0 + inf i): the imaginary part is NaN; C99 wanted the real part to be, too.
                if ((k == f_tanh || k == f_tan) && size == 0 && !std::isfinite(angle)) {
                    EXPECT_TRUE(std::isnan(is_turned ? is.real() : is.imag())) << z << " " << is;
                    return;
                }
                const long double scale = k == f_polar_form ? 0 : std::abs(wanted);
                const double tolerance = k == f_polar_form ? 8 : 32;
                const auto part_scale = [&](long double part) {
                    return std::isfinite(scale) ? std::fmax(scale, std::fabs(part)) : std::fabs(part);
                };
                const bool is_right =
                    is_part<T>(is.real(), wanted.real(), part_scale(wanted.real()), tolerance, any_sign) &&
                    is_part<T>(is.imag(), wanted.imag(), part_scale(wanted.imag()), tolerance,
                               any_sign_of_imaginary);
                if (is_right || ++failures[static_cast<std::size_t>(k)] > 5) return;
                ADD_FAILURE() << listed_names[k] << " of " << z << " is " << is << ", not " << wanted;
            });
        }
    });
}

/// What is left of a result where signs and angles are undefined: Annex G.3 calls a number infinite if one
/// part is, whatever the other.
enum class kind_of_result { zero, finite, infinite, undefined };
template <class T>
kind_of_result kind_of_number(const std::complex<T>& z) {
    if (std::isinf(z.real()) || std::isinf(z.imag())) return kind_of_result::infinite;
    if (std::isnan(z.real()) || std::isnan(z.imag())) return kind_of_result::undefined;
    return z == std::complex<T>() ? kind_of_result::zero : kind_of_result::finite;
}

TYPED_TEST(C10_complex, divide_and_raise_special_numbers) {
    using T = TypeParam;
    using C = std::complex<T>;
    using limits = std::numeric_limits<T>;
    constexpr std::size_t functions = 4;
    const auto kernel = balm::kernel<1>("special_pairs", [](In<C> a, In<C> b, Out<C> out) {
        Index i = global_id(0);
        const Complex<T> z = a[i], w = b[i];
        out[4 * i] = z / w;
        out[4 * i + 1] = pow(z, w);
        out[4 * i + 2] = pow(z, w.real());
        out[4 * i + 3] = pow(z.real(), w);
    });
    auto random = seeded_random();
    const std::size_t n = 20000;
    host_array<C> a(n), b(n);
    const T inf = limits::infinity();
    const C few[] = {C(0, 0),   C(1, 0),    C(-1, 0),    C(0, 1), C(2, 0),
                     C(inf, 0), C(0, -inf), C(inf, inf), C(3, -2)};
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = random() % 4 == 0 ? few[random() % std::size(few)] : drawn_special<T>(random);
        b[i] = random() % 2 == 0 ? few[random() % std::size(few)] : drawn_special<T>(random);
    }
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(functions * n);
        on.execute(kernel(in(on, a), in(on, b), out), {n});
        const auto got = out.read();
        std::vector<int> failures(functions);
        const auto expect = [&](std::size_t i, std::size_t k, const C& z, const C& w, const wide& wanted,
                                kind_of_result kind, double tolerance) {
            const C is = got[functions * i + k];
            const long double size = std::abs(wanted);
            bool is_right = kind_of_number(is) == kind;
            if (kind == kind_of_result::finite) {
                if (size > limits::max() / 4) return;  // beside the end of the range rounding decides
                is_right =
                    kind_of_number(is) <= kind_of_result::finite &&
                    std::abs(wide(is) - wanted) <= std::fmax(size, static_cast<long double>(limits::min())) *
                                                       tolerance * limits::epsilon();
            }
            if (is_right || ++failures[k] > 5) return;
            ADD_FAILURE() << (k == 0 ? "quotient of " : "power of ") << z << ", " << w << " is " << is
                          << ", not " << wanted << (k > 1 ? ", one of them real" : "");
        };
        for (std::size_t i = 0; i < n; ++i) {
            // Annex G.5.1: of a number with an infinity and NaN, the infinity counts.
            const auto kind_of_quotient = [](const C& z, const C& w) {
                using kind = kind_of_result;
                const kind p = kind_of_number(z), q = kind_of_number(w);
                const auto is_some = [](T part) { return std::isfinite(part) && part != 0; };
                if (p == kind::undefined || q == kind::undefined)
                    return q == kind::zero && (is_some(z.real()) || is_some(z.imag())) ? kind::infinite
                                                                                       : kind::undefined;
                if (p == q && p != kind::finite) return kind::undefined;
                if (p == kind::infinite || q == kind::zero) return kind::infinite;
                if (p == kind::zero || q == kind::infinite) return kind::zero;
                return kind::finite;
            };
            expect(i, 0, a[i], b[i], wide(a[i]) / wide(b[i]), kind_of_quotient(a[i], b[i]), 8);
            const auto expect_power = [&](std::size_t k, const C& z, const C& w) {
                const wide logarithm = std::log(wide(z));
                const kind_of_result p = kind_of_number(z), q = kind_of_number(w);
                const long double x = w.real();
                if (q == kind_of_result::zero) return expect(i, k, z, w, 1, kind_of_result::finite, 0);
                if (q == kind_of_result::infinite || p == kind_of_result::undefined ||
                    q == kind_of_result::undefined)
                    return;  // whatever comes of exp(w log z)
                const bool has_nan = std::isnan(z.real()) || std::isnan(z.imag());
                if (w.imag() != 0 && (has_nan || std::fabs(w.imag()) > limits::max() / 8)) return;
                if (p == kind_of_result::zero || p == kind_of_result::infinite) {
                    const bool grows = (p == kind_of_result::infinite) == (x > 0);
                    const kind_of_result kind = x == 0  ? kind_of_result::undefined
                                                : grows ? kind_of_result::infinite
                                                        : kind_of_result::zero;
                    return expect(i, k, z, w, p == kind_of_result::zero ? 0 : 1, kind, 0);
                }
                const long double y = w.imag();
                const wide exponent(x * logarithm.real() - y * logarithm.imag(),
                                    x * logarithm.imag() + y * logarithm.real());
                // The result has as many right digits as the exponent has behind the point.
                const long double lost = std::abs(x * logarithm) + std::abs(y * logarithm);
                const long double most = std::log(static_cast<long double>(limits::max()));
                if (exponent.real() > most * 1.1L && lost < 1e6L)
                    return expect(i, k, z, w, 0, kind_of_result::infinite, 0);
                if (exponent.real() < -most * 1.2L && lost < 1e6L)
                    return expect(i, k, z, w, 0, kind_of_result::finite, 4);
                if (lost > 1e4L) return;
                const wide wanted = std::exp(exponent);
                const kind_of_result kind =
                    std::abs(wanted) > limits::max() ? kind_of_result::infinite : kind_of_result::finite;
                if (std::abs(exponent.real()) < most * 0.99L)
                    expect(i, k, z, w, wanted, kind, static_cast<double>(32 + 4 * lost));
            };
            expect_power(1, a[i], b[i]);
            expect_power(2, a[i], C(b[i].real(), 0));
            expect_power(3, C(a[i].real(), 0), b[i]);
        }
    });
}

TYPED_TEST(C10_complex, parts_comparisons_and_memory) {
    using T = TypeParam;
    using C = std::complex<T>;
    constexpr std::size_t n = 64;
    const auto twice = balm::function("twice", [](Complex<T> z) { return z + z; });
    const auto kernel = balm::kernel<1>(
        "memory_of_complex",
        [&](Complex<T> by, In<C> a, Mixed<C> both, Out<T> parts, Out<std::int32_t> same, Local<C> shared) {
            Index i = global_id(0), lid = local_id(0);
            shared[lid] = a[i];
            local_barrier();
            Complex<T> z = shared[local_size(0) - 1 - lid];
            Array<C, 2> own;
            own[1] = z;
            own[1] *= by;
            both[i] += conj(own[1]) - own[0];
            both[i] -= C(1, 2);
            z = twice(z);
            z /= T(4);
            IF (lid == 0) {
                z = 5;
            }
            Complex<T> chosen = select(real(z) < T(0), -z, z);
            parts[6 * i] = real(chosen);
            parts[6 * i + 1] = imag(both[i]);
            parts[6 * i + 2] = abs(a[i]);
            parts[6 * i + 3] = arg(z);
            parts[6 * i + 4] = norm(z);
            parts[6 * i + 5] = Complex<T>(T(1), z.real()).imag();
            same[i] = select(z == 5, 1, 0) + select(z != z * T(1), 2, 0) + select(a[i] == C(1, 2), 4, 0);
        });
    auto random = seeded_random();
    host_array<C> a(n), before(n);
    std::uniform_real_distribution<T> any(-4, 4);
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = C(any(random), any(random));
        before[i] = C(any(random), any(random));
    }
    a[17] = C(1, 2);
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto both = on.mixed_buffer<C>(n);
        both.write(std::span<const C>(before));
        auto parts = on.out_buffer<T>(6 * n);
        auto same = on.out_buffer<std::int32_t>(n);
        const C by(T(0.5), T(-1.5));
        on.execute(kernel(by, in(on, a), both, parts, same, balm::local<C>(16)), {n}, {16});
        const auto got_both = both.read();
        const auto got = parts.read();
        const auto got_same = same.read();
        const double tolerance = 64 * std::numeric_limits<T>::epsilon();
        for (std::size_t i = 0; i < n; ++i) {
            const C given = a[i / 16 * 16 + 15 - i % 16];
            const wide sum = wide(before[i]) + std::conj(wide(given) * wide(by)) - wide(1, 2);
            EXPECT_LE(std::abs(wide(got_both[i]) - sum), tolerance) << i;
            const C z = i % 16 == 0 ? C(5) : given / T(2);
            EXPECT_EQ(got[6 * i], z.real() < 0 ? -z.real() : z.real()) << i;
            EXPECT_EQ(got[6 * i + 1], got_both[i].imag()) << i;
            EXPECT_NEAR(got[6 * i + 2], std::abs(a[i]), tolerance) << i;
            EXPECT_NEAR(got[6 * i + 3], std::arg(z), tolerance) << i;
            EXPECT_NEAR(got[6 * i + 4], std::norm(z), tolerance) << i;
            EXPECT_EQ(got[6 * i + 5], z.real()) << i;
            EXPECT_EQ(got_same[i], (i % 16 == 0) + 4 * (i == 17)) << i;
        }
    });
}

/// C99, Annex G: nothing overflows or vanishes between operands and a result that do not.
TYPED_TEST(C10_complex, are_scaled_at_the_ends_of_the_range) {
    using T = TypeParam;
    using C = std::complex<T>;
    using limits = std::numeric_limits<T>;
    const T big = limits::max() / 2, small = limits::min() * 4;
    const std::vector<C> numbers{C(big, big),
                                 C(big, -small),
                                 C(small, small),
                                 C(-small, big),
                                 C(0, big),
                                 C(small, 0),
                                 C(-big, -big),
                                 C(T(0.3), -small),
                                 C(-limits::max() / 4 * 3, 1),
                                 C(1, limits::max() / 4 * 3),
                                 C(limits::denorm_min(), 0)};
    const auto kernel = balm::kernel<1>("extremes", [](In<C> a, In<C> b, Out<C> out) {
        Index i = global_id(0);
        out[4 * i] = a[i] / b[i];
        out[4 * i + 1] = Complex<T>(abs(a[i]), 0);
        out[4 * i + 2] = sqrt(a[i]);
        out[4 * i + 3] = log(a[i]);
    });
    const std::size_t n = numbers.size() * numbers.size();
    host_array<C> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = numbers[i / numbers.size()];
        b[i] = numbers[i % numbers.size()];
    }
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(4 * n);
        on.execute(kernel(in(on, a), in(on, b), out), {n});
        const auto got = out.read();
        for (std::size_t i = 0; i < n; ++i) {
            const wide z(a[i]), w(b[i]);
            const wide wanted[] = {z / w, std::abs(z), std::sqrt(z), std::log(z)};
            for (std::size_t k = 0; k < 4; ++k) {
                const long double size = std::abs(wanted[k]);
                if (!(size <= limits::max()) || size < limits::min()) continue;
                const auto error = static_cast<double>(std::abs(wide(got[4 * i + k]) - wanted[k]) / size /
                                                       limits::epsilon());
                EXPECT_LE(error, 16) << "function " << k << " of " << a[i] << ", " << b[i] << " is "
                                     << got[4 * i + k] << ", not " << wanted[k];
            }
        }
    });
}

TYPED_TEST(C10_complex, keep_infinities_and_zeros) {
    using T = TypeParam;
    using C = std::complex<T>;
    const T inf = std::numeric_limits<T>::infinity();
    const auto kernel = balm::kernel<1>("infinities", [](In<C> a, In<C> b, Out<C> out) {
        Index i = global_id(0);
        out[6 * i] = a[i] / b[i];
        out[6 * i + 1] = exp(a[i]);
        out[6 * i + 2] = sqrt(a[i]);
        out[6 * i + 3] = tanh(a[i]);
        out[6 * i + 4] = pow(b[i], Complex<T>(0));
        out[6 * i + 5] = Complex<T>(abs(a[i]), arg(b[i]));
    });
    const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    const host_array<C> a{C(1, 1), C(inf, 1), C(1, 2), C(-inf, 0), C(0, 0), C(-inf, -9), C(most, most)};
    const host_array<C> b{C(0, 0),        C(1, 1),        C(inf, -inf), C(0, 0),
                          C(-1, T(-0.0)), C(least, most), C(inf, -inf)};
    on_all_devices([&](const device& on) {
        if (sizeof(T) == 8 && !on.info().has_double) return;
        auto out = on.out_buffer<C>(6 * a.size());
        on.execute(kernel(in(on, a), in(on, b), out), {a.size()});
        const auto got = out.read();
        const auto is_infinite = [](const C& z) { return std::isinf(z.real()) || std::isinf(z.imag()); };
        EXPECT_TRUE(is_infinite(got[0]));
        EXPECT_TRUE(is_infinite(got[6]));
        EXPECT_EQ(got[12], C(0, 0));
        EXPECT_EQ(got[18 + 1], C(0, 0));
        EXPECT_EQ(got[24 + 1], C(1, 0));
        EXPECT_EQ(got[30], C(-inf, inf));  // scaled, the small part of the divisor is 0
        EXPECT_EQ(got[36], C(0, 0));       // whose parts' sum overflows
        EXPECT_EQ(got[6 + 2].real(), inf);
        EXPECT_EQ(got[18 + 2], C(0, inf));
        EXPECT_EQ(got[24 + 2], C(0, 0));
        EXPECT_EQ(got[6 + 3].real(), 1);
        EXPECT_EQ(got[18 + 3].real(), -1);
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(got[6 * i + 4], C(1, 0)) << i;
        EXPECT_EQ(got[6 + 5].real(), inf);
        EXPECT_NEAR(got[24 + 5].imag(), -std::acos(T(-1)), 1e-6);
    });
}

}  // namespace

}  // namespace balm::test

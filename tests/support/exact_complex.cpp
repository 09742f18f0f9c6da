#include "support/exact_complex.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace balm::test {

namespace {

using wide = std::complex<long double>;

/// The precision of what follows in this thread.
thread_local mpfr_prec_t bits = 160;

class precise {
public:
    precise(long double value = 0) {  // NOLINT(google-explicit-constructor)
        mpfr_init2(value_, bits);
        mpfr_set_ld(value_, value, MPFR_RNDN);
    }
    precise(const precise& other) : precise() { mpfr_set(value_, other.value_, MPFR_RNDN); }
    precise(precise&& other) noexcept : precise() { mpfr_swap(value_, other.value_); }
    precise& operator=(precise other) noexcept {
        mpfr_swap(value_, other.value_);
        return *this;
    }
    ~precise() { mpfr_clear(value_); }

    explicit operator long double() const { return mpfr_get_ld(value_, MPFR_RNDN); }
    mpfr_srcptr get() const { return value_; }
    mpfr_ptr get() { return value_; }

private:
    mpfr_t value_;
};

#define BALM_BINARY(name, of)                          \
    precise name(const precise& a, const precise& b) { \
        precise result;                                \
        of(result.get(), a.get(), b.get(), MPFR_RNDN); \
        return result;                                 \
    }
BALM_BINARY(operator+, mpfr_add)
BALM_BINARY(operator-, mpfr_sub)
BALM_BINARY(operator*, mpfr_mul)
BALM_BINARY(operator/, mpfr_div)
BALM_BINARY(angle_of, mpfr_atan2)  // (y, x)
BALM_BINARY(hypotenuse, mpfr_hypot)
#undef BALM_BINARY
#define BALM_UNARY(name, of)                  \
    precise name(const precise& a) {          \
        precise result;                       \
        of(result.get(), a.get(), MPFR_RNDN); \
        return result;                        \
    }
BALM_UNARY(size_of, mpfr_abs)
BALM_UNARY(negated, mpfr_neg)
BALM_UNARY(root, mpfr_sqrt)
BALM_UNARY(sine, mpfr_sin)
BALM_UNARY(cosine, mpfr_cos)
BALM_UNARY(hyperbolic_sine, mpfr_sinh)
BALM_UNARY(hyperbolic_cosine, mpfr_cosh)
BALM_UNARY(exponential, mpfr_exp)
BALM_UNARY(logarithm, mpfr_log)
#undef BALM_UNARY

precise pi() {
    precise result;
    mpfr_const_pi(result.get(), MPFR_RNDN);
    return result;
}
bool is_negative(const precise& a) { return mpfr_sgn(a.get()) < 0; }

struct pair {
    precise re, im;
};
/// The root with re >= 0, of the number with |im|; the caller knows the sign of im.
pair root_of(const precise& re, const precise& im) {
    const precise size = hypotenuse(re, im);
    if (mpfr_zero_p(size.get()) != 0) return {0, 0};
    const precise larger = root((size_of(re) + size) / 2), smaller = size_of(im) / (larger * 2);
    return is_negative(re) ? pair{smaller, larger} : pair{larger, smaller};
}

// The functions of x + i y for x, y >= 0, as the right and the upper side of a cut have it.

/// -i log(i z + sqrt(1 - z²)), where the root is below the real axis.
pair arcsine(const precise& x, const precise& y) {
    const pair r = root_of(precise(1) - x * x + y * y, x * y * 2);
    const precise re = r.re - y, im = x - r.im;
    return {angle_of(im, re), negated(logarithm(hypotenuse(re, im)))};
}
/// log(z + sqrt(z² + 1))
pair area_sine(const precise& x, const precise& y) {
    const pair r = root_of(precise(1) + x * x - y * y, x * y * 2);
    const precise re = x + r.re, im = y + r.im;
    return {logarithm(hypotenuse(re, im)), angle_of(im, re)};
}
/// (log(1 + z) - log(1 - z)) / 2
pair area_tangent(const precise& x, const precise& y) {
    const precise more = precise(1) + x, less = precise(1) - x;
    return {(logarithm(hypotenuse(more, y)) - logarithm(hypotenuse(less, y))) / 2,
            (angle_of(y, more) + angle_of(y, less)) / 2};
}
/// i (log(1 - i z) - log(1 + i z)) / 2
pair arctangent(const precise& x, const precise& y) {
    const precise more = precise(1) + y, less = precise(1) - y;
    return {(angle_of(x, more) + angle_of(x, less)) / 2,
            (logarithm(hypotenuse(more, x)) - logarithm(hypotenuse(less, x))) / 2};
}
/// (sinh 2x + i sin 2y) / (cosh 2x + cos 2y), for any x and y
pair hyperbolic_tangent(const precise& x, const precise& y) {
    const precise below = hyperbolic_cosine(x * 2) + cosine(y * 2);
    return {hyperbolic_sine(x * 2) / below, sine(y * 2) / below};
}

wide rounded(const pair& p) { return {static_cast<long double>(p.re), static_cast<long double>(p.im)}; }
/// The odd function with conjugate symmetry that has this value at (|x|, |y|).
wide odd(wide first_quadrant, wide z) {
    return {std::copysign(first_quadrant.real(), z.real()), std::copysign(first_quadrant.imag(), z.imag())};
}
wide arccosine(wide z) {
    pair p = arcsine(std::fabs(z.real()), std::fabs(z.imag()));
    const precise right = pi() / 2;
    p.re = std::signbit(z.real()) ? right + p.re : right - p.re;
    const wide result = rounded(p);
    return {result.real(), std::copysign(result.imag(), -z.imag())};
}

/// How many bits tell the powers of two between 1 and the parts apart, in products of up to four of them.
mpfr_prec_t bits_for(wide z) {
    int least = 0, most = 0;
    for (const long double part : {z.real(), z.imag()})
        if (part != 0) {
            least = std::min(least, std::ilogb(part));
            most = std::max(most, std::ilogb(part));
        }
    return 200 + 4 * (most - least);
}

}  // namespace

const char* name_of(complex_row row) {
    constexpr const char* names[] = {"exp",  "log",  "log10", "sqrt", "sin",  "cos",   "tan",   "sinh",
                                     "cosh", "tanh", "asin",  "acos", "atan", "asinh", "acosh", "atanh"};
    return names[static_cast<int>(row)];
}

wide exact(complex_row row, wide z) {
    bits = bits_for(z);
    const precise x = z.real(), y = z.imag();
    const long double a = std::fabs(z.real()), b = std::fabs(z.imag());
    // What overflows beyond is infinite and what vanishes 0, of every sum of exponentials.
    const long double end = 30000;
    const precise near_x = std::clamp(z.real(), -end, end), near_y = std::clamp(z.imag(), -end, end);
    switch (row) {
        using enum complex_row;
        case exp: return rounded({exponential(near_x) * cosine(y), exponential(near_x) * sine(y)});
        case log: return rounded({logarithm(hypotenuse(x, y)), angle_of(y, x)});
        case log10: {
            const precise ten = logarithm(10);
            return rounded({logarithm(hypotenuse(x, y)) / ten, angle_of(y, x) / ten});
        }
        case sqrt: {
            const wide result = rounded(root_of(x, y));
            return {result.real(), std::copysign(result.imag(), z.imag())};
        }
        case sin: return rounded({sine(x) * hyperbolic_cosine(near_y), cosine(x) * hyperbolic_sine(near_y)});
        case cos:
            return rounded(
                {cosine(x) * hyperbolic_cosine(near_y), negated(sine(x) * hyperbolic_sine(near_y))});
        case sinh: return rounded({hyperbolic_sine(near_x) * cosine(y), hyperbolic_cosine(near_x) * sine(y)});
        case cosh: return rounded({hyperbolic_cosine(near_x) * cosine(y), hyperbolic_sine(near_x) * sine(y)});
        case tanh: return rounded(hyperbolic_tangent(near_x, y));
        case tan: {
            pair p = hyperbolic_tangent(near_y, x);
            std::swap(p.re, p.im);
            return rounded(p);
        }
        case asin: return odd(rounded(arcsine(a, b)), z);
        case acos: return arccosine(z);
        case atan: return odd(rounded(arctangent(a, b)), z);
        case asinh: return odd(rounded(area_sine(a, b)), z);
        case acosh: {
            const wide turned = arccosine(z);
            return {std::fabs(turned.imag()), std::copysign(turned.real(), z.imag())};
        }
        default: return odd(rounded(area_tangent(a, b)), z);
    }
}

wide by_host(complex_row row, wide z) {
    switch (row) {
        using enum complex_row;
        case exp: return std::exp(z);
        case log: return std::log(z);
        case log10: return std::log10(z);
        case sqrt: return std::sqrt(z);
        case sin: return std::sin(z);
        case cos: return std::cos(z);
        case tan: return std::tan(z);
        case sinh: return std::sinh(z);
        case cosh: return std::cosh(z);
        case tanh: return std::tanh(z);
        case asin: return std::asin(z);
        case acos: return std::acos(z);
        case atan: return std::atan(z);
        case asinh: return std::asinh(z);
        case acosh: return std::acosh(z);
        default: return std::atanh(z);
    }
}

}  // namespace balm::test
